// Drawing zones on the felt as it is seen from straight above: drag, snap, mirror, check, save.

import { ask, el, svg } from "./dom.js";
import { addCorner, distance, fresh, fromFile, middle, move, removeCorner, snap, toFile, toggleLine, turn } from "./shapes.js";

const KINDS = ["bet", "stack", "tray", "board", "pot"];
const UNDO = 50;
const kept = { drawing: null, options: {}, picked: -1, corner: -1, undo: [], said: "", bad: false };

/** The editor of the zones step; `begin(name, given)` runs it. */
export function editor(step, begin) {
  const root = el("div", { class: "editor" });
  const state = { step, begin, root, window: null, felt: false };
  load(state).catch((error) => say(state, error.message, true));
  return root;
}

async function load(state) {
  const now = await ask("zones/now");
  state.window = now.window;
  state.felt = now.felt;
  if (!kept.drawing) kept.drawing = now.zones ? fromFile(now.zones) : fromFile((await ask("zones/draft", kept.options)).zones);
  draw(state);
}

function say(state, text, bad = false) {
  kept.said = text;
  kept.bad = bad;
  draw(state);
}

function remember() {
  kept.undo.push(JSON.stringify(kept.drawing));
  if (kept.undo.length > UNDO) kept.undo.shift();
}

const picked = () => kept.drawing?.shapes[kept.picked];

function draw(state) {
  state.root.replaceChildren(...[layoutBar(state), zoneBar(state),
    kept.said ? el("p", { class: kept.bad ? "problem" : "good", role: "status" }, kept.said) : null,
    state.window && kept.drawing ? canvas(state) : null,
    el("p", { class: "small" }, "Drag a zone or its corners (they snap to 5 mm and to each other's corners). Drag a faint dot to add a corner, " +
      "Delete takes one away. Shift-click a corner to put it on the betting line (red) or off it. Arrow keys move by 1 mm, with Shift by 10.")].filter(Boolean));
}

function layoutBar(state) {
  const o = kept.options;
  const number = (name, label) => el("label", {}, `${label} `, el("input", {
    type: "number", value: o[name] ?? defaultOf(state, name), name, onchange: (e) => { o[name] = e.target.value; } }));
  return el("details", {}, el("summary", {}, "Default layout in my table's size"), el("div", { class: "row" },
    el("label", {}, "shape ", el("select", { name: "shape", onchange: (e) => { o.shape = e.target.value; } },
      ...["oval", "d"].map((s) => el("option", { value: s, selected: (o.shape ?? "oval") === s }, s)))),
    number("length-mm", "length"), number("width-mm", "width"), number("seats", "seats"), number("line-mm", "line from edge"),
    number("depth-mm", "depth"), number("middle-x-mm", "middle x"), number("middle-y-mm", "y"),
    el("button", { class: "plain", onclick: () => guarded(state, async () => {
      const made = fromFile((await ask("zones/draft", o)).zones);
      remember();
      Object.assign(kept, { drawing: made, picked: -1, said: "" });
    }) }, "Lay it out")));
}

const defaultOf = (state, name) => state.step.options.find((x) => x.name === name)?.default ?? "";

function zoneBar(state) {
  const shape = picked();
  const button = (label, work, more = {}) => el("button", { class: "plain", type: "button", onclick: work, ...more }, label);
  const change = (work) => () => { remember(); work(); kept.said = ""; draw(state); };
  return el("div", { class: "row" },
    button("New zone", change(() => {
      const w = state.window;
      kept.drawing.shapes.push(fresh("pot", "", [(w.left + w.right) / 2, (w.low + w.high) / 2 + 150]));
      kept.picked = kept.drawing.shapes.length - 1;
    })),
    shape ? el("select", { "aria-label": "kind", onchange: (e) => change(() => { shape.kind = e.target.value; if (shape.kind !== "bet") shape.line = []; })() },
      ...KINDS.map((k) => el("option", { value: k, selected: k === shape.kind }, k))) : null,
    shape ? el("input", { type: "text", "aria-label": "seat", placeholder: "seat", value: shape.seat, onchange: (e) => change(() => { shape.seat = e.target.value.trim(); })() }) : null,
    shape ? button("⟲", change(() => turn(shape, 2)), { title: "turn left by 2°" }) : null,
    shape ? button("⟳", change(() => turn(shape, -2)), { title: "turn right by 2°" }) : null,
    shape ? button("Delete zone", change(() => { kept.drawing.shapes.splice(kept.picked, 1); kept.picked = -1; })) : null,
    button("Mirror left → right", () => mirror(state, true)),
    button("Mirror right → left", () => mirror(state, false)),
    button("Undo", () => { if (kept.undo.length) { kept.drawing = JSON.parse(kept.undo.pop()); kept.picked = -1; kept.said = ""; draw(state); } }, { disabled: !kept.undo.length }),
    button("Check", () => check(state)),
    el("button", { class: "go", type: "button", onclick: () => save(state) }, "Save the zones"));
}

async function guarded(state, work) {
  try { await work(); draw(state); } catch (error) { say(state, error.message, true); }
}

function mirror(state, right) {
  return guarded(state, async () => {
    const seats = kept.drawing.shapes.filter((s) => s.kind === "bet").map((s) => s.seat);
    const order = { zones: toFile(kept.drawing), seats, axis_mm: kept.drawing.dealer[0], to_right: right };
    const made = fromFile((await ask("zones/mirror", order)).zones);
    remember();
    Object.assign(kept, { drawing: made, picked: -1, said: "", bad: false });
  });
}

function check(state) {
  return guarded(state, async () => {
    const found = await ask("zones/check", { zones: toFile(kept.drawing) });
    remember();
    kept.drawing = fromFile(found.zones);
    kept.said = found.changes.length ? `${found.changes.join(". ")}.` : "Nothing overlaps.";
    kept.bad = false;
    kept.picked = -1;
  });
}

async function save(state) {
  try {
    const found = await ask("zones/check", { zones: toFile(kept.drawing) });
    kept.drawing = fromFile(found.zones);
    kept.said = found.changes.join(". ");
    state.begin("zones", { draft: JSON.stringify(toFile(kept.drawing)) });
  } catch (error) {
    say(state, error.message, true);
  }
}

// -- the drawing ---------------------------------------------------------------------------------------

function canvas(state) {
  const w = state.window;
  const view = svg("svg", { viewBox: `${w.left} ${-w.high} ${w.right - w.left} ${w.high - w.low}`, tabindex: "0", "aria-label": "zones on the felt" });
  if (state.felt) view.append(svg("image", { href: "zones/felt.jpg", x: w.left, y: -w.high, width: w.right - w.left, height: w.high - w.low, preserveAspectRatio: "none" }));
  kept.drawing.shapes.forEach((shape, i) => view.append(...zone(state, view, shape, i)));
  view.append(dealer(state, view));
  if (picked()) view.append(...handles(state, view, picked()));
  view.addEventListener("pointerdown", (e) => { if (e.target === view || e.target.tagName === "image") { kept.picked = -1; draw(state); } });
  view.addEventListener("keydown", (e) => key(state, e));
  return view;
}

const points = (corners) => corners.map(([x, y]) => `${x},${-y}`).join(" ");

function zone(state, view, shape, i) {
  const [mx, my] = middle(shape.corners);
  const area = svg("polygon", { points: points(shape.corners), class: `${shape.kind}${i === kept.picked ? " picked" : ""}`, "data-zone": `${shape.kind}:${shape.seat}` });
  area.addEventListener("pointerdown", (e) => {
    kept.picked = i;
    kept.corner = -1;
    drag(state, view, e, (from, to, start) => {
      shape.corners = start.shapes[i].corners.map(([x, y]) => [x + Math.round(to[0] - from[0]), y + Math.round(to[1] - from[1])]);
    });
  });
  const parts = [area];
  if (shape.line.length) parts.push(svg("polyline", { class: "line", points: points(shape.line.map((k) => shape.corners[k])) }));
  parts.push(svg("text", { class: "name", x: mx, y: -my + 10 }, shape.seat ? `${shape.kind} ${shape.seat}` : shape.kind));
  return parts;
}

function handles(state, view, shape) {
  const radius = (state.window.right - state.window.left) / 190;
  const found = shape.corners.map((corner, k) => {
    const next = shape.corners[(k + 1) % shape.corners.length];
    const at = [(corner[0] + next[0]) / 2, (corner[1] + next[1]) / 2];
    if (distance(corner, next) < 5 * radius) return null;
    const dot = svg("circle", { class: "between", cx: at[0], cy: -at[1], r: radius * 0.8 });
    dot.addEventListener("pointerdown", (e) => {
      remember();
      kept.corner = addCorner(shape, k, at);
      dragCorner(state, view, e, shape, kept.corner, false);
    });
    return dot;
  }).filter(Boolean);
  shape.corners.forEach((corner, k) => {
    const dot = svg("circle", { class: `corner${shape.line.includes(k) ? " online" : ""}`, cx: corner[0], cy: -corner[1], r: radius, "data-corner": k });
    dot.addEventListener("pointerdown", (e) => {
      kept.corner = k;
      if (e.shiftKey && shape.kind === "bet") { remember(); toggleLine(shape, k); draw(state); return; }
      dragCorner(state, view, e, shape, k, true);
    });
    found.push(dot);
  });
  return found;
}

function dragCorner(state, view, event, shape, k, keep) {
  drag(state, view, event, (from, to, start, index) => {
    const was = start.shapes[index].corners[k];
    shape.corners[k] = snap(kept.drawing, shape, [was[0] + to[0] - from[0], was[1] + to[1] - from[1]]);
  }, keep);
}

function dealer(state, view) {
  const [x, y] = kept.drawing.dealer, w = state.window;
  const at = [Math.min(Math.max(x, w.left + 40), w.right - 40), Math.min(Math.max(y, w.low + 30), w.high - 30)];
  const mark = svg("text", { class: "name", x: at[0], y: -at[1], "data-zone": "dealer" }, "✕ dealer");
  mark.addEventListener("pointerdown", (e) => drag(state, view, e, (from, to, start) => {
    kept.drawing.dealer = [start.dealer[0] + to[0] - from[0], start.dealer[1] + to[1] - from[1]].map(Math.round);
  }));
  return mark;
}

/** Follow the pointer until it is let go; `work(from, to, the drawing at the start, index)` in mm. */
function drag(state, view, event, work, keep = true) {
  event.preventDefault();
  const place = (e) => { const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(view.getScreenCTM().inverse()); return [p.x, -p.y]; };
  const from = place(event), start = JSON.parse(JSON.stringify(kept.drawing)), index = kept.picked;
  let moved = false;
  const on = (e) => {
    if (!moved && keep) remember();
    moved = true;
    work(from, place(e), start, index);
    kept.said = "";
    redraw(state, view);
  };
  const off = () => { removeEventListener("pointermove", on); removeEventListener("pointerup", off); draw(state); };
  addEventListener("pointermove", on);
  addEventListener("pointerup", off);
  if (!moved) redraw(state, view);
}

/** While dragging: the same element stays, its children anew (its coordinate system must not go away). */
function redraw(state, view) {
  const fresh = canvas(state);
  view.replaceChildren(...fresh.childNodes);
}

function key(state, event) {
  const shape = picked();
  if (!shape) return;
  const step = event.shiftKey ? 10 : 1;
  const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
  if (way) { remember(); move(shape, ...way); }
  else if ((event.key === "Delete" || event.key === "Backspace") && kept.corner >= 0) { remember(); removeCorner(shape, kept.corner); kept.corner = -1; }
  else return;
  event.preventDefault();
  draw(state);
  state.root.querySelector("svg").focus();
}
