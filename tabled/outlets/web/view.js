// From the model to the DOM: the frame around ring and card, the question, the fault bars.

import { drawCard, verdict } from "/card.js";
import { $, el, fill, fit, icon } from "/dom.js";
import { trouble } from "/model.js";
import { picture } from "/now.js";
import { drawRing } from "/ring.js";
import { LANGUAGES, WORDS } from "/words.js";

const MAX_BARS = 3; // the worst and oldest; how many more there are is said

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

export function draw(m, boot, lang, ms, answer) {
  const w = WORDS[lang];
  const why = trouble(m, ms);
  const now = picture(m);
  document.documentElement.lang = lang;
  document.body.classList.toggle("stale", why !== "");
  document.title = `tabled ${boot.table}`;
  $("table").textContent = w.table(boot.table);
  $("phase").textContent = phase(m, now, w);
  $("link").textContent = why === "" ? w.linked : why === "connecting" ? w.connecting : w.unlinked;
  const banner = $("banner");
  banner.hidden = why === "" || why === "connecting";
  fill(banner, `${why}/${lang}`, () => (banner.hidden ? [] : [icon("alert"), el("span", "", w.banner[why])]));
  drawRing(m.state, now, w, lang);
  drawQuestion(m, w, lang, answer);
  drawCard(m, now, w, lang, ms, why);
  drawBars(m, w, lang);
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

function phase(m, now, w) {
  const s = m.state;
  if (!s) return "";
  const street = s.hand_id === null ? "" : w.streetName(s.street);
  const doing = s.phase === "over" && now.line?.kind !== "over" ? w.noMoreBetting : w.phases[s.phase];
  return [street, doing].filter(Boolean).join(" · ");
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

// ---- faults ----------------------------------------------------------------------------------

function drawBars(m, w, lang) {
  const box = $("alerts");
  box.hidden = m.bars.length === 0;
  fill(box, JSON.stringify([m.bars.map((bar) => [bar.key, bar.severity]), lang]), () => {
    const made = m.bars
      .slice(0, MAX_BARS)
      .map((bar) => el("li", bar.severity, icon("alert"), el("b", "", w.severity[bar.severity]), el("span", "", bar.texts?.[lang] ?? bar.code)));
    const more = m.bars.length - made.length;
    if (more > 0) made.at(-1).append(el("span", "more", w.more(more)));
    return made;
  });
}
