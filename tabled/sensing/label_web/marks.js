// The labels of one recording: changed here at once, on the disk as soon as the server says so.
// What the server does not have yet stays in this browser's storage, over a reload too.

const RETRY_MS = 2000;
const MAX_UNDO = 200;

export class Marks {
  constructor(name, onChange) {
    this.key = `tabled-label:${name}`;
    this.onChange = onChange;
    this.now = { visits: [], landings: [], revision: 0 };
    this.undone = [];
    this.problem = "";
    this.saving = false;
    this.dirty = false;
  }

  async load() {
    this.now = await asked("labels.json");
    const left = this.waiting();
    if (left && left.revision === this.now.revision) {
      this.now = left; // marked before a reload, and never answered
      this.dirty = true;
      this.save();
    } else if (left) {
      // The answer to it was lost, or another window went on: both are worth seeing, nothing is thrown away.
      if (same(left, this.now)) localStorage.removeItem(this.key);
      else this.problem = "marks of this window were never saved, and the file has gone on; they are merged";
      this.merge(left);
    }
    this.onChange();
  }

  waiting() {
    try { return JSON.parse(localStorage.getItem(this.key) || "null"); } catch { return null; }
  }

  merge(other) {
    for (const kind of ["visits", "landings"]) {
      const have = new Set(this.now[kind].map((one) => JSON.stringify(one)));
      const more = (other[kind] || []).filter((one) => !have.has(JSON.stringify(one)));
      if (more.length) { this.now[kind] = [...this.now[kind], ...more]; this.dirty = true; }
    }
    if (this.dirty) this.save();
  }

  change(make) {
    this.undone.push(JSON.stringify([this.now.visits, this.now.landings]));
    if (this.undone.length > MAX_UNDO) this.undone.shift();
    make(this.now);
    this.touched();
  }

  undo() {
    const before = this.undone.pop();
    if (before === undefined) return;
    [this.now.visits, this.now.landings] = JSON.parse(before);
    this.touched();
  }

  touched() {
    this.now.visits.sort((a, b) => a.enter - b.enter || cmp(a.seat, b.seat));
    this.now.landings.sort((a, b) => a.frame - b.frame || cmp(a.seat, b.seat));
    this.dirty = true;
    localStorage.setItem(this.key, JSON.stringify(this.now));
    this.onChange();
    this.save();
  }

  async save() {
    if (this.saving) return;
    this.saving = true;
    while (this.dirty) {
      this.dirty = false;
      const sent = JSON.stringify(this.now);
      try {
        const answer = await fetch("labels.json", { method: "PUT", body: sent, headers: { "Content-Type": "application/json" } });
        const told = await answer.json();
        if (answer.status === 409) {
          this.problem = "another window has saved meanwhile; its marks are merged with these";
          this.now.revision = told.labels.revision;
          this.merge(told.labels);
          this.dirty = true;
        } else if (!answer.ok) {
          throw new Error(told.problem || `the server says ${answer.status}`);
        } else {
          this.now.revision = told.revision;
          if (!this.dirty) { localStorage.removeItem(this.key); this.problem = ""; }
          else localStorage.setItem(this.key, JSON.stringify(this.now));
        }
      } catch (error) {
        this.problem = `not saved: ${error.message}; kept in this browser, tried again`;
        this.dirty = true;
        this.onChange();
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
      this.onChange();
    }
    this.saving = false;
    this.onChange();
  }
}

export async function asked(path) {
  const answer = await fetch(path);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.problem || `the server says ${answer.status}`);
  return told;
}

const cmp = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const same = (a, b) => JSON.stringify([a.visits, a.landings]) === JSON.stringify([b.visits, b.landings]);
