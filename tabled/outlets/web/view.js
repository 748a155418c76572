// From the model to the DOM. Text goes in as text, never as markup.

import { WORDS, LANGUAGES } from "/words.js";
import { byDenomination, trouble } from "/model.js";

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function el(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

function icon(name) {
  const shapes = {
    lock: "M7 10V7a5 5 0 0 1 10 0v3h2v12H5V10zm3 0h4V7a2 2 0 0 0-4 0z",
    check: "M9.5 20 2 12.5l3-3 4.5 4.5L19 4.5l3 3z",
    wait: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1.5 4v5.4l4 2.4-1.5 2.5-5.5-3.3V6z",
    alert: "M12 2 1 22h22zm-1.5 7h3v6h-3zm0 8h3v3h-3z",
  };
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}

/** Put children into a box only when what they say has changed (a live region must not repeat itself). */
const shown = new WeakMap();
function fill(box, key, make) {
  if (shown.get(box) === key) return;
  shown.set(box, key);
  box.replaceChildren(...make());
}

/** Let the card's text be as large as the card allows, and never larger. */
const SCALES = [1.35, 1.25, 1.15, 1.07, 1, 0.94, 0.88, 0.82, 0.76, 0.7];
const fitted = new WeakMap();
function fit(box) {
  const key = `${shown.get(box)}/${box.clientWidth}/${box.clientHeight}/${document.body.className}`;
  if (fitted.get(box) === key) return;
  const fits = (n) => {
    box.style.setProperty("--k", SCALES[n]);
    return box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth;
  };
  let [low, high] = [0, SCALES.length - 1]; // the last one is taken whether it fits or not
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  fits(low);
  fitted.set(box, `${shown.get(box)}/${box.clientWidth}/${box.clientHeight}/${document.body.className}`);
}

export function drawLanguages(lang, choose) {
  const box = $("languages");
  box.replaceChildren(
    ...Object.entries(LANGUAGES).map(([code, name]) => {
      const key = el("button", "", code.toUpperCase());
      key.type = "button";
      key.lang = code;
      key.setAttribute("aria-label", name);
      key.setAttribute("aria-pressed", String(code === lang));
      key.addEventListener("click", () => choose(code));
      return key;
    }),
  );
}

export function draw(m, boot, lang, now, answer) {
  const w = WORDS[lang];
  const why = trouble(m, now);
  document.documentElement.lang = lang;
  document.body.classList.toggle("stale", why !== "");
  document.title = `tabled ${boot.table}`;
  $("table").textContent = w.table(boot.table);
  $("phase").textContent = phase(m, w);
  $("link").textContent = why === "" ? w.linked : why === "connecting" ? w.connecting : w.unlinked;
  const banner = $("banner");
  banner.hidden = why === "" || why === "connecting";
  fill(banner, `${why}/${lang}`, () => (banner.hidden ? [] : [icon("alert"), el("span", "", w.banner[why])]));
  drawRing(m, w, lang);
  drawQuestion(m, w, lang, answer);
  drawRuling(m, w, lang, now, why);
  drawAlerts(m, w, lang);
  const missed = $("missed");
  missed.hidden = m.missed.length === 0;
  missed.textContent = missed.hidden ? "" : w.missed(m.missed.map((p) => `#${p}`).join(", "));
  fit($("ruling")); // last: what stands around it decides its room
}

export function drawPageLost(lang) {
  document.body.classList.add("stale");
  const banner = $("banner");
  banner.hidden = false;
  fill(banner, `page/${lang}`, () => [icon("alert"), el("span", "", WORDS[lang].banner.page)]);
}

function phase(m, w) {
  const s = m.state;
  if (!s) return "";
  const street = s.hand_id === null ? "" : (w.streets[s.street] ?? w.street(s.street + 1));
  return [street, w.phases[s.phase]].filter(Boolean).join(" · ");
}

// ---- the ring --------------------------------------------------------------------------------

function drawRing(m, w, lang) {
  const s = m.state;
  const box = $("ring");
  fill(box, JSON.stringify([s, lang]), () => {
    if (!s) return [];
    const felt = el("div", "felt");
    const parts = [felt, middle(s, w), at(el("div", "dealer", w.dealer), 50, 94)];
    s.seats.forEach((seat, n) => {
      const angle = ((n + 1) / (s.seats.length + 1)) * 2 * Math.PI; // clockwise from the dealer, who looks from below
      const place = (r) => [50 - Math.sin(angle) * r * 0.96, 50 + Math.cos(angle) * r];
      const box = seatBox(seat, s, w);
      box.classList.toggle("far", Math.cos(angle) < -0.3); // its label goes outward, clear of the bet
      parts.push(at(box, ...place(42)));
      if (seat.bet > 0) parts.push(at(el("div", "bet", String(seat.bet)), ...place(24)));
    });
    return parts;
  });
}

function at(node, x, y) {
  node.style.left = `${x}%`;
  node.style.top = `${y}%`;
  return node;
}

function middle(s, w) {
  const street = s.hand_id === null ? w.phases.idle : (w.streets[s.street] ?? w.street(s.street + 1));
  const bet = s.bet_to > 0 ? w.bet(s.bet_to) : null;
  return at(el("div", "middle", el("b", "", street), bet && el("span", "", bet)), 50, 50);
}

function seatBox(seat, s, w) {
  const next = seat.seat === s.to_act;
  const out = seat.status === "folded" || seat.status === "empty";
  const box = el("div", `seat ${seat.status}${next ? " next" : ""}`, el("b", "", seat.seat));
  const label = [w.seat(seat.seat)];
  const tell = (text) => {
    box.append(el("small", "", text));
    label.push(text);
  };
  if (next) tell(w.next);
  if (seat.status === "folded") tell(w.fold);
  if (seat.status === "all_in") tell(w.allIn);
  if (!out && !seat.may_raise && seat.status === "in") {
    const lock = el("i", "lock", icon("lock"));
    lock.title = w.noRaise(seat.seat);
    box.append(lock);
    label.push(w.noRaise(seat.seat));
  }
  if (seat.seat === s.button) {
    const button = el("i", "button", "D");
    button.title = w.button;
    box.append(button);
    label.push(w.button);
  }
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", label.join(", "));
  return box;
}

// ---- the ruling ------------------------------------------------------------------------------

function drawRuling(m, w, lang, now, why) {
  const box = $("ruling");
  const r = m.ruling;
  if (!r) {
    fill(box, `none/${lang}`, () => [el("p", "say quiet", w.waiting)]);
    return;
  }
  const said = r.data.announce?.[lang] ?? `#${r.position}`;
  box.className = [r.data.status, r.data.ruling?.floor ? "floor" : "", m.question ? "under" : ""].join(" ");
  fill(box, `${r.position}/${lang}`, () => (r.data.ruling ? cardOf(r, said, w, lang) : [el("p", "say", r.data.advice)]));
  const live = why === "";
  const age = Math.max(0, Math.floor((now - r.at) / 1000));
  const stamp = box.querySelector(".stamp");
  if (stamp) stamp.textContent = `${live ? "" : `${w.notLive} · `}${w.ago(age)}`;
  const spoken = $("spoken");
  if (spoken.textContent !== said) spoken.textContent = said;
}

function cardOf(r, said, w, lang) {
  const { ruling, status, texts } = r.data;
  const final = status === "final";
  const top = el(
    "p",
    "status",
    el("strong", "", icon(final ? "check" : "wait"), final ? w.final : w.provisional),
    el("span", "", w.seat(ruling.seat)),
    el("span", "stamp"),
  );
  const parts = [top];
  if (ruling.floor) parts.push(el("p", "floor-word", icon("alert"), w.floor));
  parts.push(el("p", `say${said.length > 34 ? " long" : ""}`, said));
  parts.push(...moves(ruling, w));
  if (ruling.candidates?.length) parts.push(...candidates(ruling, texts, w, lang));
  if (ruling.default_to != null) parts.push(el("p", "floor-may", w.untilFloor(ruling.default_to)));
  if (ruling.next_seat) parts.push(nextLine(ruling, w));
  else if (ruling.round_over) parts.push(el("p", "next-line", w.roundOver));
  const locked = ruling.round_over ? [] : (ruling.may_not_raise ?? []); // nobody asks when nobody is to act
  locked.forEach((lock, n) => {
    const reason = texts?.locks?.[n]?.[lang];
    parts.push(el("p", "lock-line", icon("lock"), el("span", "", el("b", "", w.noRaise(lock.seat)), reason && ` ${reason}`)));
  });
  const told = texts?.reason?.[lang] ?? "";
  const reason = said.startsWith(told) ? "" : told; // the sentence often is the reason
  const cite = (ruling.cite ?? []).join(" · ");
  parts.push(el("p", "why", el("span", "", reason && `${reason} `, cite && el("cite", "", cite)), el("span", "number", `#${r.position}`)));
  return parts;
}

function chip(value, count) {
  return el("span", "chip", el("span", "count", `${count} ×`), el("b", "", String(value)));
}

function moves(ruling, w) {
  const lines = [];
  if (ruling.add > 0) lines.push(el("p", "move add", el("b", "sign", "+"), w.adds(ruling.seat, ruling.add)));
  const back = byDenomination(ruling.back_chips);
  if (back.length || ruling.change || ruling.back > 0) {
    const line = el("p", "move back", el("b", "sign", "−"), el("span", "", `${w.back(ruling.seat)}:`));
    if (back.length) line.append(...back.map(([value, count]) => chip(value, count)));
    else if (!ruling.change) line.append(el("b", "", String(ruling.back)));
    if (ruling.change) line.append(el("span", "", w.change(ruling.change.amount, ruling.change.out_of)));
    lines.push(line);
  }
  for (const other of ruling.adjust ?? []) {
    const more = other.add > 0;
    const said = more ? w.adds(other.seat, other.add) : `${w.back(other.seat)}: ${-other.add}`;
    lines.push(el("p", `move ${more ? "add" : "back"}`, el("b", "sign", more ? "+" : "−"), said));
  }
  return lines;
}

function nextLine(ruling, w) {
  const facts = [];
  if (ruling.call_to != null) facts.push(w.call(ruling.call_to));
  const option = (ruling.options ?? []).find((o) => o.seat === ruling.next_seat);
  const low = option ? option.raise_min_to : ruling.min_raise_to;
  const high = option?.raise_max_to;
  if (low != null) facts.push(high != null ? w.raiseRange(low, high) : w.raiseFrom(low));
  return el("p", "next-line", el("b", "", w.nextSeat(ruling.next_seat)), facts.length ? ` ${facts.join(" · ")}` : null);
}

/** An outcome in two words: "Raise to 1000", "Call 500", "Fold". */
function verdict({ action, to }, w) {
  const verb = w.verdicts[action] ?? action;
  if (to === null || to === undefined) return verb;
  return action === "raise" || action === "complete" ? w.to(verb, to) : w.upTo(verb, to);
}

function candidates(ruling, texts, w, lang) {
  const list = el("ol", "candidates");
  ruling.candidates.forEach((c, n) => {
    const why = texts?.candidates?.[n]?.[lang] ?? "";
    list.append(el("li", "", el("b", "", verdict(c, w)), why === String(c.to) ? null : ` ${why}`));
  });
  return [el("p", "floor-may", w.floorMay), list];
}

// ---- the question ----------------------------------------------------------------------------

function drawQuestion(m, w, lang, answer) {
  const box = $("question");
  const q = m.question;
  box.hidden = !q;
  document.body.classList.toggle("asking", Boolean(q));
  const state = m.answer ? `${m.answer.status}/${m.answer.key}/${m.answer.why}` : "";
  fill(box, q ? `${q.position}/${lang}/${state}` : "", () => {
    if (!q) return [];
    const texts = q.data.texts ?? {};
    const letter = { key_a: "A", key_b: "B" };
    const busy = m.answer?.status === "sent";
    const keys = q.data.choices.map((choice) => {
      const key = el("button", "answer", el("b", "", letter[choice.key]), el("span", "", texts[choice.key]?.[lang] ?? "", el("em", "", verdict(choice, w))));
      key.type = "button";
      key.disabled = busy;
      key.setAttribute("aria-pressed", String(m.answer?.key === choice.key));
      key.addEventListener("click", () => answer(q.position, choice.key));
      return key;
    });
    const note = {
      sent: w.sending,
      refused: w.refused(m.answer?.why ?? ""),
      silent: w.noAnswer,
    }[m.answer?.status] ?? w.holds(letter[q.data.stands]);
    return [
      el("p", "status", el("strong", "", icon("alert"), w.question), el("span", "", w.seat(q.data.seat)), el("span", "note", note)),
      el("p", "ask", texts.question?.[lang] ?? ""),
      el("div", "keys", ...keys),
    ];
  });
}

// ---- alerts ----------------------------------------------------------------------------------

function drawAlerts(m, w, lang) {
  const open = [...m.alerts.values()].filter((a) => !a.data.cleared).map((a) => ({ ...a.data, key: a.position }));
  const faults = (m.health?.faults ?? []).map((f) => ({ severity: "fault", texts: f.texts, key: f.code }));
  const all = [...open, ...faults];
  const box = $("alerts");
  box.hidden = all.length === 0;
  fill(box, JSON.stringify([all.map((a) => a.key), lang]), () =>
    all.map((a) => el("li", a.severity, icon("alert"), el("b", "", w.severity[a.severity]), el("span", "", a.texts?.[lang] ?? ""))),
  );
}
