import { Marks, asked } from "./marks.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const BY = ["player", "dealer", "unsure"];
const CHIP_PX = 14;
const LANES = 10;

let about, marks, frame = 0, seat = "1", by = "player", value = 0, chosen = null, timer = null;

function svg(kind, attributes, parent) {
  const node = document.createElementNS(SVG, kind);
  for (const [name, given] of Object.entries(attributes)) node.setAttribute(name, given);
  parent.append(node);
  return node;
}

function show(index) {
  frame = Math.max(0, Math.min(about.frames - 1, index));
  $("frame").src = `frame/${frame}.jpg`;
  history.replaceState(null, "", `#${frame}`);
  $("seek").value = frame;
  draw();
}

function step(count) { stop(); show(frame + count); }

function play() {
  if (timer !== null) return stop();
  $("play").textContent = "pause";
  const next = () => {
    if (frame >= about.frames - 1) return stop();
    const wait = about.stamps_ms[frame + 1] - about.stamps_ms[frame];
    timer = setTimeout(() => { show(frame + 1); $("frame").decode().catch(() => {}).then(() => timer !== null && next()); }, Math.min(wait, 1000));
  };
  next();
}

function stop() {
  clearTimeout(timer);
  timer = null;
  $("play").textContent = "play";
}

// -- marking ------------------------------------------------------------------------------------

const openVisit = () => marks.now.visits.filter((v) => v.seat === seat && v.leave === null && v.enter <= frame).at(-1);

function enter() {
  const mark = { seat, enter: frame, leave: null, by };
  marks.change((now) => now.visits.push(mark));
  choose(["visits", mark]);
}

function leave() {
  const visit = openVisit();
  if (!visit) return say("first mark with E where this seat's hand comes over the line");
  if (visit.enter >= frame) return say("a visit lasts a frame at least: go on to the first frame without the hand");
  marks.change(() => { visit.leave = frame; });
  choose(["visits", visit]);
}

function land(event) {
  const img = $("frame"), box = img.getBoundingClientRect();
  const scale = Math.min(box.width / img.naturalWidth, box.height / img.naturalHeight);
  const x = Math.round((event.clientX - box.left - (box.width - img.naturalWidth * scale) / 2) / scale);
  const y = Math.round((event.clientY - box.top - (box.height - img.naturalHeight * scale) / 2) / scale);
  if (x < 0 || y < 0 || x >= img.naturalWidth || y >= img.naturalHeight) return;
  const mark = { seat: seatAt(x, y) || seat, frame, x_px: x, y_px: y, denomination: value };
  marks.change((now) => now.landings.push(mark));
  choose(["landings", mark]);
}

function seatAt(x, y) {
  const hit = about.zones.find((z) => z.kind === "bet" && inside(z.outline, x, y));
  return hit && hit.seat;
}

function inside(outline, x, y) {
  let odd = false;
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const [xi, yi] = outline[i], [xj, yj] = outline[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}

function choose(what) { chosen = what && JSON.stringify(what); draw(); }

function drop() {
  if (!chosen) return say("choose a mark in the list first");
  const [kind, mark] = JSON.parse(chosen), text = JSON.stringify(mark);
  marks.change((now) => {
    const at = now[kind].findIndex((one) => JSON.stringify(one) === text);
    if (at >= 0) now[kind].splice(at, 1);
  });
  choose(null);
}

function nextMark() {
  const times = [...marks.now.visits.flatMap((v) => (v.leave === null ? [v.enter] : [v.enter, v.leave])), ...marks.now.landings.map((x) => x.frame)];
  const after = times.filter((t) => t > frame).sort((a, b) => a - b)[0];
  if (after !== undefined) step(after - frame);
}

// -- drawing ------------------------------------------------------------------------------------

function say(text) { $("state").textContent = text; $("state").className = "bad"; }

function draw() {
  if (!about || !marks) return;
  $("where").textContent = `frame ${frame} of ${about.frames - 1} · ${(about.stamps_ms[frame] / 1000).toFixed(3)} s`;
  $("state").textContent = marks.problem || (marks.dirty || marks.saving ? "saving…" : `saved (${marks.now.revision})`);
  $("state").className = marks.problem ? "bad" : "";
  for (const [id, now] of [["seats", seat], ["by", by], ["values", String(value)]])
    for (const button of $(id).children) button.setAttribute("aria-checked", String(button.dataset.value === now));
  drawOver();
  drawLine();
  drawList();
}

function drawOver() {
  const over = $("over"), img = $("frame");
  over.replaceChildren();
  if (!img.naturalWidth) return;
  over.setAttribute("viewBox", `0 0 ${img.naturalWidth} ${img.naturalHeight}`);
  const busy = new Set(marks.now.visits.filter((v) => v.enter <= frame && (v.leave === null || frame < v.leave)).map((v) => v.seat));
  for (const zone of about.zones.filter((z) => z.kind === "bet")) {
    const points = zone.outline.map((p) => p.join(",")).join(" ");
    svg("polygon", { points, class: busy.has(zone.seat) ? "hand" : zone.seat === seat ? "zone chosen" : "zone" }, over);
    svg("polyline", { points: zone.line.map((p) => p.join(",")).join(" "), class: "edge" }, over);
    const [x, y] = zone.outline.reduce(([a, b], [c, d]) => [a + c / zone.outline.length, b + d / zone.outline.length], [0, 0]);
    svg("text", { x, y, "text-anchor": "middle" }, over).textContent = zone.seat;
  }
  if (!about.zones.length && busy.size) svg("text", { x: 16, y: 32 }, over).textContent = `over the line: ${[...busy].sort().join(", ")}`;
  for (const x of marks.now.landings.filter((one) => one.frame <= frame)) {
    svg("circle", { cx: x.x_px, cy: x.y_px, r: CHIP_PX, class: x.frame === frame ? "chip" : "chip past" }, over);
    if (x.frame === frame) svg("text", { x: x.x_px + CHIP_PX + 4, y: x.y_px + 6 }, over).textContent = x.denomination || "?";
  }
}

function drawLine() {
  const line = $("line"), last = Math.max(1, about.frames);
  line.replaceChildren();
  line.setAttribute("viewBox", `0 0 ${last} ${LANES * 10}`);
  const lane = (name) => Math.max(0, about.seats.indexOf(name)) % LANES;
  for (const v of marks.now.visits) {
    const to = v.leave === null ? Math.max(frame, v.enter + 1) : v.leave;
    svg("rect", { x: v.enter, y: lane(v.seat) * 10 + 2, width: Math.max(1, to - v.enter), height: 6, class: `visit ${v.by} ${v.leave === null ? "open" : ""}` }, line);
  }
  for (const x of marks.now.landings) svg("rect", { x: x.frame, y: lane(x.seat) * 10 + 1, width: last / 300, height: 8, class: "landing" }, line);
  svg("line", { x1: frame, x2: frame, y1: 0, y2: LANES * 10, class: "now" }, line);
}

function drawList() {
  const all = [...marks.now.visits.map((v) => ["visits", v, v.enter]), ...marks.now.landings.map((x) => ["landings", x, x.frame])];
  all.sort((a, b) => a[2] - b[2]);
  $("marks").replaceChildren(...all.map(([kind, mark, at]) => {
    const item = document.createElement("li"), key = JSON.stringify([kind, mark]);
    item.textContent = kind === "visits"
      ? `seat ${mark.seat} · ${mark.by} ${mark.enter} – ${mark.leave === null ? "…" : mark.leave}`
      : `seat ${mark.seat} · chip ${mark.denomination || "?"} at ${mark.frame}`;
    item.className = kind === "landings" ? "landing" : mark.leave === null ? "open" : "";
    item.setAttribute("aria-current", String(key === chosen));
    item.onclick = () => { stop(); show(at); choose([kind, mark]); };
    return item;
  }));
  const current = $("marks").querySelector('[aria-current="true"]');
  if (current) current.scrollIntoView({ block: "nearest" });
}

// -- set-up -------------------------------------------------------------------------------------

function choices(id, values, pick, text = (v) => v) {
  $(id).replaceChildren(...values.map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text(one);
    button.dataset.value = String(one);
    button.setAttribute("role", "radio");
    button.onclick = () => { pick(one); draw(); };
    return button;
  }));
}

const turn = (list, now) => list[(list.indexOf(now) + 1) % list.length];

const KEYS = {
  ArrowLeft: (e) => step(e.shiftKey ? -10 : -1),
  ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  Home: () => step(-frame),
  End: () => step(about.frames),
  " ": play,
  e: enter, l: leave, n: nextMark,
  u: () => { marks.undo(); choose(null); },
  p: () => { by = turn(BY, by); draw(); },
  c: () => { value = turn([...about.denominations, 0], value); draw(); },
  Delete: drop, Backspace: drop,
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const digit = "1234567890".indexOf(key);
  if (key.length === 1 && digit >= 0) {
    const wanted = String(digit + 1);
    if (about.seats.includes(wanted)) { seat = wanted; draw(); }
  } else if (KEYS[key]) KEYS[key](event);
  else return;
  event.preventDefault();
});

addEventListener("beforeunload", (event) => { if (marks && marks.dirty) event.preventDefault(); });

async function begin() {
  try {
    about = await asked("recording.json");
    document.title = `${about.name} · tabled label`;
    $("name").textContent = about.name;
    $("seek").max = Math.max(0, about.frames - 1);
    seat = about.seats[0];
    value = about.denominations[0] || 0;
    choices("seats", about.seats, (one) => { seat = one; });
    choices("by", BY, (one) => { by = one; });
    choices("values", [...about.denominations, 0], (one) => { value = one; }, (one) => one || "not known");
    marks = new Marks(about.name, draw);
    await marks.load();
    $("frame").onload = draw;
    $("over").onclick = land;
    $("enter").onclick = enter;
    $("leave").onclick = leave;
    $("play").onclick = play;
    $("back").onclick = () => step(-1);
    $("on").onclick = () => step(1);
    $("seek").oninput = () => { stop(); show(Number($("seek").value)); };
    $("line").onclick = (event) => step(Math.floor((event.offsetX / $("line").clientWidth) * about.frames) - frame);
    show(Number(location.hash.slice(1)) || 0);
  } catch (error) {
    say(error.message);
  }
}

begin();
