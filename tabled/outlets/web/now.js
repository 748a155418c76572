// What is true now: the newest ruling held against the state. Pure: no DOM, no clock.
//
// The state is the daemon's own picture; a ruling is what was said at one moment. Where the state is as new as the
// ruling, the state decides whether the ruling still holds and who is to act.

const UNDECIDED = ["pending", "call_or_fold", "held_out_of_turn", "floor"];

/**
 * {ruling, last, past, acting, toAct, chip, line}:
 * `ruling` holds now, or is null; then `last` is the one that no longer does. `past`: it holds, but its street is over.
 * `acting` is the seat whose act may still change, `toAct` the one whose turn it is, `chip` a total that the state
 * does not have yet: {seat, to, open}, `open` while it may change.
 * `line` says what comes: {kind, ...}, see `turn` and `lineOf`.
 */
export function picture(m) {
  const { state: s, ruling: r } = m;
  const toAct = s ? s.to_act : null;
  const none = { ruling: null, last: r, past: false, acting: null, toAct, chip: null, line: s && lineOf(s, null) };
  if (!r) return none;
  const ahead = !s || r.position > s.position; // the state follows in a moment
  if (!ahead && !holds(r, s)) return none;
  const law = r.data.ruling ?? null; // absent when the entry was too long to send
  const past = !ahead && law !== null && (s.phase === "over" || r.data.street < s.street);
  const acting = s && law && !past && isActing(r, s) ? law.seat : null;
  const made = { ruling: r, last: null, past, acting, toAct, chip: null, line: next(r, s, { ahead, past, acting }) };
  if (acting) made.chip = chipOf(law, true);
  else if (ahead && s && law && sameStreet(r, s) && r.data.status === "final" && !UNDECIDED.includes(law.action)) {
    Object.assign(made, { toAct: law.next_seat ?? null, chip: chipOf(law, false) });
  }
  return made;
}

const sameStreet = ({ data }, s) => data.hand_id === s.hand_id && data.street === s.street;

function holds(r, s) {
  return s.phase !== "idle" && (r.data.hand_id === undefined || r.data.hand_id === s.hand_id);
}

function isActing({ data }, s) {
  const open = data.status === "provisional" || data.ruling.action === "floor";
  return open && sameStreet({ data }, s) && data.ruling.seat === s.to_act;
}

function chipOf(law, open) {
  return ["fold", "check"].includes(law.action) ? null : { seat: law.seat, to: law.to ?? 0, open };
}

function next(r, s, { ahead, past, acting }) {
  const law = r.data.ruling;
  if (!law) return ahead ? null : lineOf(s, null);
  if (past) return lineOf(s, null);
  if (law.action === "floor") return null; // nobody acts
  const provisional = r.data.status === "provisional";
  if (UNDECIDED.includes(law.action)) return again(r, s, ahead);
  if (ahead || acting) return after(law, s, provisional);
  return lineOf(s, law);
}

/** Nothing has moved: the seat to act faces what it faced before, and only the state knows what that is. */
function again(r, s, ahead) {
  const law = r.data.ruling;
  if (s && sameStreet(r, s) && s.to_act && (!ahead || s.to_act === law.next_seat)) return turn(s, law, "toAct");
  return law.next_seat ? { kind: "toAct", seat: law.next_seat, call: null, low: null } : null;
}

/** What the state says: whose turn it is, or what the dealer does now. `law` is the ruling of this street, if any. */
function lineOf(s, law) {
  if (s.phase === "betting" && s.to_act) return turn(s, law, "next");
  if (s.phase === "over") return over(s);
  return { kind: s.phase };
}

function over(s) {
  const left = s.seats.filter((seat) => seat.status === "in" || seat.status === "all_in").length;
  if (left < 2) return { kind: "over" };
  return { kind: s.street < 3 ? "deal" : "showdown" };
}

/**
 * A seat's turn as the state has it: {kind, seat, street, check, call, low, high, opening, structure, complete}.
 * Amounts are totals on the street; null: not allowed or not known.
 */
function turn(s, law, kind) {
  const seat = s.seats.find((one) => one.seat === s.to_act);
  const owes = (seat?.bet ?? 0) < s.bet_to;
  const made = {
    kind,
    seat: s.to_act,
    street: s.street,
    check: !owes,
    call: owes ? s.bet_to : null,
    low: seat?.may_raise === false ? null : s.min_raise_to || null,
    high: null,
    complete: null,
    opening: s.bet_to === 0,
    structure: s.structure,
  };
  const own = law && law.next_seat === s.to_act && law.call_to === s.bet_to ? optionOf(law) : null;
  if (own) {
    // the ruling knows more: pot limit's largest raise, a completion, a raise that nobody could answer
    Object.assign(made, { low: own.raise_min_to, high: own.raise_max_to, complete: own.complete_to });
  }
  if (law?.action === "call_or_fold" && law.seat === s.to_act && !law.may_raise?.includes(law.seat)) made.low = null;
  return made;
}

const optionOf = (law) => (law.options ?? []).find((option) => option.seat === law.next_seat);

/** What comes after the ruling by its own word; conditional while it may still change. */
function after(law, s, conditional) {
  if (!law.next_seat) return law.round_over ? { kind: conditional ? "thenOver" : "roundOver" } : null;
  const option = optionOf(law);
  const opening = law.call_to == null;
  return {
    kind: conditional ? "then" : "next",
    seat: law.next_seat,
    check: option ? option.check : opening,
    call: law.call_to ?? null,
    // with no bet there is no raise to name; the smallest bet is still the one that the state has
    low: opening ? (s && s.bet_to === 0 && s.min_raise_to) || null : option ? option.raise_min_to : (law.min_raise_to ?? null),
    high: option?.raise_max_to ?? null,
    complete: option?.complete_to ?? null,
    opening,
    structure: s?.structure,
  };
}
