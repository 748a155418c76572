// The steps: list at the left; the chosen one with its options, what it says while it runs, and what it found.

import { ask, el } from "./dom.js";
import { editor } from "./editor.js";

const MARKS = { done: "✓", again: "!", open: "○" };
const LIVE_MS = 250;
const MAX_LINES = 200;
const page = { steps: [], chosen: "", running: "", question: null, after: 0, given: {}, problem: "", says: [], progress: null };
const main = document.getElementById("main");
const image = el("img", { id: "picture", alt: "what the camera sees", hidden: true });
const PRINTS = { lens: [["board-a4.pdf", "Board on A4"], ["board-a3.pdf", "Board on A3"]], plane: [["markers.pdf", "Six markers of 90 mm"]] };

async function refresh() {
  const state = await ask("state");
  Object.assign(page, { steps: state.steps, running: state.running, question: state.question });
  document.getElementById("folder").textContent = state.folder;
  page.chosen ||= state.running || (state.steps.find((s) => s.state !== "done") ?? state.steps[0]).name;
  list();
  return state;
}

function list() {
  document.getElementById("steps").replaceChildren(...page.steps.map((step) => el("li", {},
    el("button", {
      class: step.state, "aria-current": step.name === page.chosen ? "step" : null, "data-step": step.name,
      onclick: () => { page.chosen = step.name; page.problem = ""; list(); show(); },
    },
    el("span", { class: "state", "aria-label": step.state }, page.running === step.name ? "…" : MARKS[step.state]),
    el("span", {}, step.title),
    el("span", { class: "sub" }, page.running === step.name ? "running" : step.text ? "do it again" :
      step.state === "done" ? step.outcome?.summary ?? "done" : `about ${step.minutes} min`)))));
}

function show() {
  const step = page.steps.find((s) => s.name === page.chosen);
  const running = page.running === step.name;
  const missing = step.needs.filter((n) => page.steps.find((s) => s.name === n)?.state !== "done");
  const parts = [el("h2", {}, step.title), el("p", { class: "about" }, step.about)];
  const prints = PRINTS[step.name] ?? [];
  if (prints.length && !running) parts.push(el("p", { class: "row" }, "To print: ", ...prints.map(([file, label]) => el("a", { href: file, target: "_blank" }, label))));
  if (missing.length) parts.push(el("p", { class: "look" }, `First do: ${missing.map(titled).join(", ")}.`));
  if (step.text && !running) parts.push(el("p", { class: "look" }, step.text));
  if (page.problem) parts.push(el("p", { class: "problem", role: "alert" }, page.problem));
  if (running) parts.push(live());
  else {
    if (step.name === "zones" && !missing.length) parts.push(editor(step, begin));
    else parts.push(form(step, missing.length > 0));
    if (step.outcome) parts.push(outcome(step));
  }
  main.replaceChildren(...parts);
}

const titled = (name) => page.steps.find((s) => s.name === name)?.title ?? name;

function form(step, closed) {
  const given = page.given[step.name] ??= {};
  const fields = step.options.flatMap((option) => {
    const id = `o-${option.name}`;
    const set = (value) => { given[option.name] = value; };
    const now = given[option.name] ?? option.default;
    return [el("label", { for: id }, option.label), field(option, id, now, set)];
  });
  return el("form", { onsubmit: (e) => { e.preventDefault(); begin(step.name, given); } }, ...fields, el("span"),
    el("button", { class: "go", disabled: closed || page.running !== "" }, step.state === "done" ? "Do it again" : "Start"));
}

function field(option, id, now, set) {
  if (option.kind === "choice") {
    return el("select", { id, name: option.name, onchange: (e) => set(e.target.value) },
      ...option.choices.map((c) => el("option", { value: c, selected: c === now }, c)));
  }
  if (option.kind === "flag") {
    return el("input", { id, name: option.name, type: "checkbox", checked: now === "yes", onchange: (e) => set(e.target.checked ? "yes" : "") });
  }
  const long = option.kind === "files" || option.name === "markers" || option.name === "points";
  const box = el(long ? "textarea" : "input", { id, name: option.name, spellcheck: "false", autocomplete: "off", oninput: (e) => set(e.target.value) });
  box.value = now;
  return box;
}

async function begin(name, given) {
  page.problem = "";
  Object.assign(page, { says: [], progress: null, question: null, after: 0 });
  try {
    const before = await ask("state");
    page.after = before.last;
    await ask("run", { step: name, given });
    page.running = name;
  } catch (error) {
    page.problem = error.message;
  }
  list();
  show();
}

function live() {
  const bar = page.progress;
  return el("div", {},
    page.question ? question(page.question) : null,
    el("div", { class: "live" },
      el("div", {}, image),
      el("div", {},
        el("p", { id: "how" }, bar ? `${bar.done} of ${bar.of}  ${bar.text}` : "working…"),
        el("progress", bar ? { max: Math.max(bar.of, 1), value: Math.min(bar.done, bar.of) } : {}),
        el("p", { class: "row" }, el("button", { class: "plain stop", onclick: () => ask("stop", {}).catch(fail) }, "Stop")),
        el("ul", { class: "log" }, ...page.says.slice(-MAX_LINES).reverse().map((line) => el("li", {}, line))))));
}

function question(asked) {
  const send = (text) => ask("answer", { n: asked.n, text }).catch(fail);
  if (asked.choices.length) {
    return el("div", { class: "question" }, el("p", {}, asked.text), el("div", { class: "row" },
      ...asked.choices.map((c) => el("button", { class: "go", onclick: () => send(c) }, c))));
  }
  const box = el("input", { value: asked.default, "aria-label": asked.text });
  return el("form", { class: "question", onsubmit: (e) => { e.preventDefault(); send(box.value); } },
    el("p", {}, asked.text), el("div", { class: "row" }, box, el("button", { class: "go" }, "OK")));
}

function outcome(step) {
  const found = step.outcome;
  return el("section", {},
    el("p", { class: "good" }, found.summary),
    ...found.warnings.map((w) => el("p", { class: "look" }, w)),
    el("table", {}, ...found.figures.map((f) => el("tr", {}, el("td", {}, f.label), el("td", {}, f.value),
      el("td", { class: f.good === false ? "bad" : "ok" }, f.good == null ? "" : f.good ? "good" : "look at this")))),
    el("div", { class: "plots" }, ...found.pictures.map((p) => el("figure", {},
      el("img", { src: `plots/${p.file}?${page.stamp ?? 0}`, alt: p.caption, loading: "lazy" }), el("figcaption", {}, p.caption)))));
}

function fail(error) {
  page.problem = error.message;
  show();
}

function take(event) {
  page.after = Math.max(page.after, event.n);
  if (event.kind === "say" || event.kind === "ask") page.says.push(event.text);
  if (event.kind === "progress") {
    page.progress = event;
    if (event.text && page.says.at(-1) !== event.text) page.says.push(event.text);
  }
  if (event.kind === "error") page.problem = event.text;
  if (event.kind === "done") page.problem = "";
  return event.kind === "error" || event.kind === "done";
}

let shown = 0;
function picture() {
  if (Date.now() - shown < LIVE_MS) return;
  shown = Date.now();
  image.hidden = false;
  image.src = `look?${page.after}`;
}

async function follow() {
  for (;;) {
    try {
      const told = await ask(`events?after=${page.after}`);
      const ended = told.events.map(take).includes(true);
      page.question = told.question;
      if (page.running !== told.running || ended) {
        page.running = told.running;
        page.stamp = page.after;
        image.hidden = true;
        await refresh();
        show();
      } else if (told.events.length && page.running === page.chosen) show();
      if (told.events.some((e) => e.kind === "look")) picture();
    } catch (error) {
      fail(error);
      await new Promise((next) => setTimeout(next, 2000));
    }
  }
}

try {
  const state = await refresh();
  page.after = state.running ? 0 : state.last;
  show();
} catch (error) {
  main.replaceChildren(el("p", { class: "problem" }, error.message));
}
follow();
