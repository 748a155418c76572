// What the page knows, and how fresh it is. No DOM, no clock of its own: `now` (ms, monotonic) is an argument.

export const STALE_MS = 1700; // the daemon beats once a second; with the 100 ms tick a pause shows within 2 s
const MISSED_AFTER_MS = 1500; // state overtakes rulings on their way; only what stays away is missed
const MAX_SEEN = 512;
const MAX_MISSED = 8;
const NOTE_MS = 30_000; // nothing clears a note; after this it has been read

export function newModel() {
  return {
    epoch: null,
    linked: false,
    everLinked: false,
    refused: false,
    noAddress: false, // the broker cannot be reached from a browser
    beatAt: null, // last live heartbeat
    startedAt: null, // since when we wait for the first one
    health: null,
    state: null,
    stateAt: null,
    ruling: null, // {position, data, at} newest by position
    question: null,
    alerts: new Map(), // subject -> {position, data, at}
    bars: [], // what is wrong, each once: {key, code, severity, texts, since}
    seen: new Set(), // positions of rulings that arrived
    baseline: null, // the first position that this page has shown; what came before it was never missed
    missed: [],
    answer: null, // {request, question, key, at, status: sent|refused|silent, why}
  };
}

const positionOf = (event) => Number(event.id.slice(event.id.lastIndexOf("/") + 1));
const epochOf = (event) => event.id.slice(0, event.id.indexOf("/"));

/** Take one message. `retained`: it was the broker's memory, not a live one. `wall` is Date.now(). */
export function take(m, leaf, event, { retained, now, wall }) {
  if (leaf === "health") return takeHealth(m, event, retained, now);
  if (leaf === "ack") return takeAck(m, event.data);
  if (leaf === "recent") {
    for (const item of event.data.messages ?? []) {
      if (item.leaf !== "recent") take(m, item.leaf, item.event, { retained: true, now, wall });
    }
    return;
  }
  useEpoch(m, epochOf(event));
  if (leaf === "state") {
    if (m.state && m.state.position > event.data.position) return;
    m.baseline ??= event.data.position;
    m.state = event.data;
    m.stateAt = now;
    const open = m.question;
    if (open && event.data.question === null && event.data.position > open.position) m.question = null;
    return;
  }
  const position = positionOf(event);
  if (leaf === "ruling") takeRuling(m, position, event, { retained, now, wall });
  else if (leaf === "question" && !(m.question && m.question.position >= position) && !m.seen.has(-position)) {
    m.question = { position, data: event.data };
    m.answer = null;
  } else if (leaf === "question_closed") {
    note(m, -event.data.question); // a repeated message must not open it again
    if (m.question && m.question.position === event.data.question) m.question = null;
  } else if (leaf === "alert") {
    const known = m.alerts.get(event.data.subject);
    if (known && known.position >= position) return;
    m.alerts.set(event.data.subject, { position, data: event.data, at: now - ageOf(event, retained, wall) });
    if (m.alerts.size > 32) m.alerts.delete(m.alerts.keys().next().value);
  }
}

/** Milliseconds since a message was made; a live one has just been. */
function ageOf(event, retained, wall) {
  return retained ? Math.max(0, wall - Date.parse(event.time)) : 0;
}

function takeRuling(m, position, event, { retained, now, wall }) {
  if (m.seen.has(position)) return;
  note(m, position);
  m.baseline ??= position;
  if (m.ruling && m.ruling.position > position) return; // overtaken: never shown as new
  m.ruling = { position, data: event.data, at: now - ageOf(event, retained, wall) };
}

function takeHealth(m, event, retained, now) {
  m.health = event.data;
  if (!retained && event.data.status !== "offline") m.beatAt = now;
  if (event.data.status === "offline") m.beatAt = null;
}

function takeAck(m, data) {
  const mine = m.answer;
  if (!mine || mine.request !== data.request) return;
  if (data.ok) m.answer = null;
  else m.answer = { ...mine, status: "refused", why: data.reason };
}

function useEpoch(m, epoch) {
  if (m.epoch === epoch) return;
  if (m.epoch !== null) {
    Object.assign(m, { state: null, ruling: null, question: null, alerts: new Map(), bars: [] });
    Object.assign(m, { seen: new Set(), baseline: null, missed: [] });
  }
  m.epoch = epoch;
}

function note(m, position) {
  m.seen.add(position);
  if (m.seen.size > MAX_SEEN) m.seen.delete(m.seen.values().next().value);
}

/** Called on every tick: what has been missed, and whether a sent answer stays without reply. */
export function tick(m, now) {
  m.startedAt ??= now;
  if (m.state && now - m.stateAt > MISSED_AFTER_MS) {
    m.missed = (m.state.recent ?? []).filter((p) => p > m.baseline && !m.seen.has(p)).slice(-MAX_MISSED);
  }
  m.bars = bars(m, now);
  if (m.answer && m.answer.status === "sent" && now - m.answer.at > 3000) m.answer.status = "silent";
}

const RANK = { fault: 0, warning: 1, info: 2 };

/**
 * What is wrong, once each, the worst first and then the longest-standing. The same fault comes as an alert and in
 * every heartbeat; it is one by its code and parameters. A heartbeat gives no severity: the alert's is taken, and
 * without one it is a fault.
 */
function bars(m, now) {
  const before = new Map(m.bars.map((bar) => [bar.key, bar.since]));
  const found = new Map();
  const put = ({ code, params = {} }, severity, texts, at) => {
    const key = JSON.stringify([code, Object.entries(params).sort()]);
    const had = found.get(key);
    if (!had) found.set(key, { key, code, severity, texts, since: Math.min(at, before.get(key) ?? at) });
    else {
      had.since = Math.min(had.since, at);
      if (severity && RANK[severity] < RANK[had.severity]) had.severity = severity;
    }
  };
  for (const { data, at } of m.alerts.values()) {
    const over = data.cleared || (data.severity === "info" && now - at > NOTE_MS);
    if (!over) put(data.reason ?? {}, data.severity, data.texts, at);
  }
  for (const fault of m.health?.faults ?? []) put(fault, null, fault.texts, now);
  const all = [...found.values()];
  for (const bar of all) bar.severity ??= "fault";
  return all.sort((a, b) => RANK[a.severity] - RANK[b.severity] || a.since - b.since);
}

/** Why the picture cannot be relied on: a key of words.banner, "connecting", or "" when it is live. */
export function trouble(m, now) {
  if (m.noAddress) return "address";
  if (m.refused) return "refused";
  const patience = m.startedAt === null || now - m.startedAt < STALE_MS;
  if (!m.linked) return m.everLinked || !patience ? "link" : "connecting";
  if (m.health?.status === "offline") return "offline";
  if (m.beatAt === null) return patience ? "connecting" : "silent";
  if (now - m.beatAt > STALE_MS) return "silent";
  if (m.health?.status === "recovering" || m.state?.phase === "recovering") return "recovering";
  return "";
}

/** Chips by denomination, largest first: [[500, 2], [100, 1]]. */
export function byDenomination(chips) {
  const count = new Map();
  for (const chip of chips ?? []) count.set(chip, (count.get(chip) ?? 0) + 1);
  return [...count].sort((a, b) => b[0] - a[0]);
}
