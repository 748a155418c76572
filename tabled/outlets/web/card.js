// The card: the ruling that holds now, or what is true where none does.

import { $, el, fill, icon } from "/dom.js";
import { byDenomination } from "/model.js";

/** `now` is `picture(m)`; `why` is "" while the page is live. */
export function drawCard(m, now, w, lang, ms, why) {
  const box = $("ruling");
  const r = now.ruling;
  const data = r?.data ?? {};
  const said = r ? (data.announce?.[lang] ?? data.advice ?? `#${r.position}`) : nowText(now, w);
  box.className = r ? [data.status, data.ruling?.floor ? "floor" : "", now.past ? "past" : ""].join(" ") : "now";
  const key = [r?.position, now.last?.position, now.past, now.acting, now.line, lang];
  fill(box, JSON.stringify(key), () => (r ? (data.ruling ? ruled(r, now, said, w, lang) : [say(said)]) : idle(now, said, w, lang)));
  const dated = r ?? now.last;
  const stamp = box.querySelector(".stamp");
  if (stamp && dated) {
    const age = Math.max(0, Math.floor((ms - dated.at) / 1000));
    stamp.textContent = `${why === "" || !r ? "" : `${w.notLive} · `}${w.ago(age)}`;
  }
  const spoken = $("spoken");
  if (spoken.textContent !== said) spoken.textContent = said;
}

const say = (said) => el("p", `say${said.length > 34 ? " long" : ""}`, said);

// ---- where no ruling holds -------------------------------------------------------------------

function nowText(now, w) {
  if (!now.line) return w.waiting;
  return now.line.kind === "next" ? w.noRuling : w.now[now.line.kind];
}

function idle(now, said, w, lang) {
  const parts = [el("p", now.line?.kind === "next" ? "say quiet soft" : "say quiet", said)];
  if (now.line?.kind === "next") parts.push(line(now.line, w, false));
  const last = now.last?.data;
  if (last?.ruling) {
    const told = `${w.lastRuling} #${now.last.position} · ${w.seat(last.ruling.seat)} · ${last.announce?.[lang] ?? ""}`;
    parts.push(el("p", "last", el("span", "", told), el("span", "stamp")));
  }
  return parts;
}

// ---- the ruling ------------------------------------------------------------------------------

function ruled(r, now, said, w, lang) {
  const { ruling, texts, street } = r.data;
  const parts = [status(r, now, w)];
  if (r.data.corrects != null) {
    const told = ruling.reason?.code === "undone" ? w.takenBack(r.data.corrects) : w.corrects(r.data.corrects);
    parts.push(el("p", "corrects", icon("back"), el("b", "", w.corrected), el("span", "", told)));
  }
  if (ruling.floor) parts.push(el("p", "floor-word", icon("alert"), w.floor));
  parts.push(say(said));
  if (!now.past) parts.push(...moves(ruling, w), ...held(ruling, w)); // chips of a street that is over lie in the pot
  if (ruling.candidates?.length) parts.push(...candidates(ruling, texts, w, lang));
  if (ruling.default_to != null) parts.push(el("p", "floor-may", w.untilFloor(ruling.default_to)));
  if (now.line) parts.push(line(now.line, w, now.line.street !== undefined && now.line.street !== street));
  if (!now.past && !ruling.round_over) parts.push(...locks(ruling, texts, w, lang));
  const told = texts?.reason?.[lang] ?? "";
  const reason = said.startsWith(told) ? "" : told; // the sentence often is the reason
  const cite = (ruling.cite ?? []).join(" · ");
  parts.push(el("p", "why", el("span", "", reason && `${reason} `, cite && el("cite", "", cite)), el("span", "number", `#${r.position}`)));
  return parts;
}

function status(r, now, w) {
  const final = r.data.status === "final";
  const seat = w.seat(r.data.ruling.seat);
  return el(
    "p",
    "status",
    el("strong", "", icon(final ? "check" : "wait"), final ? w.final : w.provisional),
    el("span", "", now.past ? `${seat} · ${w.streetName(r.data.street)}` : seat),
    el("span", "stamp"),
  );
}

/** Why a seat may not raise, where a dealer would be asked: other locks are plain, and the ring shows every lock. */
const TELLING = ["lock_short", "lock_short_half", "lock_separate", "lock_capped"];

function locks(ruling, texts, w, lang) {
  return (ruling.may_not_raise ?? []).flatMap((lock, n) => {
    if (!TELLING.includes(lock.reason.code)) return [];
    const reason = texts?.locks?.[n]?.[lang];
    return [el("p", "lock-line", icon("lock"), el("span", "", el("b", "", w.noRaise(lock.seat)), reason && ` ${reason}`))];
  });
}

function chip(value, count) {
  return el("span", "chip", el("span", "count", `${count} ×`), el("b", "", String(value)));
}

const chips = (values) => byDenomination(values).map(([value, count]) => chip(value, count));

function moves(ruling, w) {
  const lines = [];
  if (ruling.add > 0) lines.push(el("p", "move add", el("b", "sign", "+"), w.adds(ruling.seat, ruling.add)));
  const back = chips(ruling.back_chips);
  if (back.length || ruling.change || ruling.back > 0) {
    const made = el("p", "move back", el("b", "sign", "−"), el("span", "", `${w.back(ruling.seat)}:`));
    if (back.length) made.append(...back);
    else if (!ruling.change) made.append(el("b", "", String(ruling.back)));
    if (ruling.change) made.append(el("span", "", w.change(ruling.change.amount, ruling.change.out_of)));
    lines.push(made);
  }
  for (const other of ruling.adjust ?? []) {
    const more = other.add > 0;
    const said = more ? w.adds(other.seat, other.add) : `${w.back(other.seat)}: ${-other.add}`;
    lines.push(el("p", `move ${more ? "add" : "back"}`, el("b", "sign", more ? "+" : "−"), said));
  }
  return lines;
}

/** An act out of turn waits, and so do its chips. */
function held(ruling, w) {
  if (ruling.action !== "held_out_of_turn") return [];
  const lying = chips(ruling.hold);
  const said = lying.length ? w.chipsStay(ruling.seat) : w.wordWaits(ruling.seat);
  return [el("p", "move hold", el("b", "sign", "="), el("span", "told", said), ...lying)];
}

/** What comes: whose turn it is and what that seat may do, or what the dealer does. */
function line(l, w, elsewhere) {
  const kind = `next-line ${l.kind.startsWith("then") ? "then" : ""}`;
  if (!("seat" in l)) return el("p", kind, el("b", "", w.now[l.kind]));
  const who = { next: w.nextSeat, toAct: w.toAct, then: w.thenSeat }[l.kind](l.seat);
  const facts = options(l, w);
  return el("p", kind, elsewhere ? `${w.streetName(l.street)} · ` : null, el("b", "who", who), facts && ` ${facts}`);
}

function options(l, w) {
  const raise = l.low === null || l.low === undefined ? null : (l.opening ? w.bets : w.raises)(amount(l, w));
  const complete = l.complete == null ? null : w.completes(l.complete);
  if (l.check) return raise === null ? w.check : w.checkOr([complete, raise].filter(Boolean).join(" · "));
  return [l.call === null ? null : w.call(l.call), complete, raise].filter(Boolean).join(" · ");
}

function amount({ low, high, structure }, w) {
  if (high != null) return high === low ? String(low) : w.range(low, high);
  if (structure === "fixed-limit") return String(low);
  if (structure === "pot-limit") return w.upToPot(low);
  return structure === "spread-limit" ? w.upToLimit(low) : w.orMore(low);
}

/** An outcome in two words: "Raise to 1000", "Call 500", "Fold". */
export function verdict({ action, to }, w) {
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
