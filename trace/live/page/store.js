// What the page keeps: the latest spans, arrows and figures, in memory that does not grow. All times are in
// nanoseconds since the program began.

import { MOST, number, whole, list, text, words } from "./text.js";

export const SPANS = 1 << 16;
export const ARROWS = 1 << 13;
const POINTS = 600; // of the charts
const NAMES = 2000;
const WORKERS = 1 << 12; // no more lanes than that

// The figures of Stats that the page shows.
const FIGURES = ["Workers", "Busy", "Searching", "Blocked", "Extra", "Published", "Steals"];
const OF_TASKS = ["Done", "Queued", "Running", "Held", "Failed", "Panicked", "Stolen", "Oldest", "Waiting"];
const figures = (x, names) => Object.fromEntries(names.map((name) => [name, number(x?.[name])]));
const KINDS = ["stuck", "slow", "busy", "idle"];
const judged = (v) => ({ kind: KINDS.includes(v?.kind) ? v.kind : "idle", text: words(v?.text), reasons: list(v?.reasons, 40).map(words) });
const placed = (x) => list(x).map((t) => ({ task: words(t?.task), at: words(t?.at) }));
const looked = (x) => ({
  workers: list(x.workers).map((w) => ({ worker: number(w?.worker), task: words(w?.task), for: number(w?.for), doing: words(w?.doing), lent: w?.lent === true, at: words(w?.at), queued: number(w?.queued) })),
  inPlace: placed(x.inPlace), long: placed(x.long), held: list(x.held).map((h) => ({ task: words(h?.task), why: words(h?.why) })),
  waits: list(x.waits).map((w) => ({ by: words(w?.by), on: words(w?.on) })), circles: list(x.circles).map(words), more: number(x.more), moreHeld: number(x.moreHeld),
});

// A Ring has columns of numbers, of which the oldest go when it is full.
class Ring {
  constructor(size, columns) {
    this.size = size;
    this.begun = 0; // rows so far
    this.columns = Object.keys(columns);
    for (const [name, type] of Object.entries(columns)) this[name] = new type(size);
  }
  get length() { return Math.min(this.begun, this.size); }
  add(values) {
    const at = this.begun++ % this.size;
    for (let i = 0; i < values.length; i++) this[this.columns[i]][at] = values[i];
  }
  // row returns where the i-th row from the oldest is.
  row(i) { return (this.begun - this.length + i) % this.size; }
  rows() {
    const all = [];
    for (let i = 0; i < this.length; i++) {
      const at = this.row(i);
      for (const c of this.columns) all.push(this[c][at]);
    }
    return all;
  }
  fill(rows) {
    if (!Array.isArray(rows)) return;
    const n = this.columns.length;
    for (let i = 0; i + n <= rows.length; i += n) this.add(rows.slice(i, i + n).map((x) => number(x)));
  }
}

export class Store {
  constructor() { this.clear(); }

  clear() {
    const F = Float64Array, I = Int16Array, U = Uint8Array;
    this.spans = new Ring(SPANS, { begin: F, end: F, worker: I, name: Uint16Array, sort: U, depth: U, crashed: U });
    this.arrows = new Ring(ARROWS, { out: F, in: F, from: I, to: I, n: F });
    this.gaps = new Ring(ARROWS, { begin: F, end: F, worker: I });
    this.marks = new Ring(1024, { at: F, worker: I, name: Uint16Array });
    this.names = [];
    this.ids = new Map();
    this.open = []; // {sort, worker, begin, name, depth}
    this.queues = new Map(); // worker to tasks
    this.steals = new Map(); // thief * WORKERS + victim to how many
    this.stolen = 0;
    this.series = { t: [], done: [], forks: [], steals: [], queued: [], running: [], blocked: [], held: [] };
    this.stats = null;
    this.look = null;
    this.verdict = null; // {kind, text, reasons}
    this.running = []; // what a look says that runs, though its beginning was not seen: as open, with "since"
    this.noticed = new Map(); // when each of these was noticed first, and in how many looks
    this.sorts = this.sorts ?? [];
    this.pools = this.pools ?? [];
    this.pool = this.pool ?? 0;
    this.workers = 0;
    this.nobody = 0; // lanes of tasks that run on no worker: -1, -2 and so on
    this.t = 0;
    this.wall = 0;
    this.read = 0;
    this.lost = 0;
    this.missed = 0;
    this.parts = 0;
    this.begun = null; // when the first message came
  }

  // id returns the number of a name. When there are too many, the others have one together.
  id(name) {
    let id = this.ids.get(name);
    if (id === undefined) {
      if (this.names.length >= NAMES) name = "(other names)";
      id = this.ids.get(name) ?? this.names.length;
      if (id === this.names.length) this.names.push(name);
      this.ids.set(name, id);
      if (this.ids.size > 2 * NAMES) this.ids = new Map(this.names.map((n, i) => [n, i]));
    }
    return id;
  }

  // add adds a message of the server.
  add(p) {
    if (p.t < this.t) this.clear(); // another program
    const dt = (p.t - this.t) / 1e9, t = p.t, ids = (p.names ?? []).map((n) => this.id(text(n)));
    const before = this.stats;
    this.begun ??= t;
    Object.assign(this, { t, wall: p.wall, stats: p.stats, parts: this.parts + 1, read: this.read + p.read, lost: this.lost + p.lost });
    this.workers = Math.min(WORKERS, Math.max(this.workers, p.workers, p.stats?.Workers ?? 0));
    for (let i = 0, s = p.spans; i + 7 <= s.length; i += 7) {
      this.nobody = Math.max(this.nobody, -s[i + 1]);
      this.spans.add([t - s[i + 2], t - s[i + 2] + s[i + 3], s[i + 1], ids[s[i + 4]], s[i], Math.min(255, s[i + 5]), s[i + 6]]);
    }
    this.open = [];
    for (let i = 0, s = p.open; i + 5 <= s.length; i += 5) {
      this.nobody = Math.max(this.nobody, -s[i + 1]);
      this.open.push({ sort: s[i], worker: s[i + 1], begin: t - s[i + 2], name: ids[s[i + 3]], depth: s[i + 4] });
    }
    for (let i = 0, a = p.arrows; i + 5 <= a.length; i += 5) {
      this.arrows.add([t - a[i + 2], t - a[i + 3], a[i], a[i + 1], a[i + 4]]);
    }
    for (let i = 0, s = p.steals; i + 3 <= s.length; i += 3) this.steal(s[i], s[i + 1], s[i + 2]);
    for (let i = 0, m = p.marks; i + 3 <= m.length; i += 3) this.marks.add([t - m[i + 1], m[i], ids[m[i + 2]]]);
    for (let i = 0, g = p.gaps; i + 3 <= g.length; i += 3) this.gaps.add([t - g[i + 1], t - g[i + 2], g[i]]);
    for (let i = 0, q = p.queues; i + 2 <= q.length; i += 2) this.queues.set(q[i], q[i + 1]);
    if (before && dt > 0) this.point(before, p.stats, dt);
  }

  steal(thief, victim, n) {
    if (thief < 0 || victim < 0 || thief >= WORKERS || victim >= WORKERS) return;
    const key = thief * WORKERS + victim;
    this.steals.set(key, (this.steals.get(key) ?? 0) + n);
    this.stolen += n;
  }

  // pairs returns [thief, victim, how many], the most first.
  pairs() {
    return [...this.steals].map(([k, n]) => [Math.floor(k / WORKERS), k % WORKERS, n]).sort((a, b) => b[2] - a[2]);
  }

  // point adds to the charts.
  point(a, b, dt) {
    const s = this.series, rate = (x, y) => Math.max(0, (y - x) / dt);
    s.t.push(this.wall / 1000);
    s.done.push(rate(a.Tasks.Done, b.Tasks.Done));
    s.forks.push(rate(a.Published, b.Published));
    s.steals.push(rate(a.Steals + a.Tasks.Stolen, b.Steals + b.Tasks.Stolen));
    s.queued.push(b.Tasks.Queued);
    s.running.push(b.Tasks.Running);
    s.blocked.push(b.Blocked);
    s.held.push(b.Tasks.Held);
    if (s.t.length > POINTS) for (const k in s) s[k].splice(0, s[k].length - POINTS);
  }

  // see takes what the pool is doing.
  see(look) {
    this.look = look;
    for (const w of look.workers ?? []) this.queues.set(w.worker, w.queued);
    this.run();
  }

  // run finds what runs and was begun before this page was opened: it has no open span, and its beginning may not be known.
  run() {
    const body = Math.max(0, this.sorts.indexOf("task")), wait = this.sorts.indexOf("wait"), running = [], { look, t } = this, noticed = new Map();
    const add = (worker, task, ns, waits) => {
      const key = `${worker} ${task}`, { begin = t, looks = 0 } = this.noticed.get(key) ?? {};
      noticed.set(key, { begin, looks: looks + 1 });
      if (ns < 1e9 && looks < 2) return; // it may have ended since then
      const span = { sort: body, worker, begin: ns ? t - ns : begin, name: this.id(task.replace(/^task /, "")), depth: 1, since: true };
      running.push(span);
      if (waits && wait >= 0) running.push({ ...span, sort: wait, depth: 2 });
    };
    for (const w of look.workers ?? []) {
      const what = w.task || (/^(waits|searches|$)/.test(w.doing) ? "" : w.doing.replace(/[,;].*/, ""));
      if (!what) continue;
      add(w.worker, what, w.for, w.lent);
      this.workers = Math.min(WORKERS, Math.max(this.workers, w.worker + 1));
    }
    let lane = 0;
    for (const x of [...(look.inPlace ?? []), ...(look.long ?? [])].slice(0, 16)) add(--lane, x.task, 0, false);
    this.noticed = noticed;
    this.running = running;
    this.nobody = Math.max(this.nobody, -lane);
  }

  // going returns the spans that go on: those whose beginning was seen, and in lanes without one what is known to run.
  going() {
    const seen = new Set(this.open.filter((o) => o.depth >= 1 || o.worker < 0).map((o) => o.worker));
    return [...this.open, ...this.running.filter((o) => !seen.has(o.worker))];
  }

  // ready says whether there is something to draw.
  ready() { return this.parts > 0; }

  // oldest returns the end of the oldest span, or t.
  oldest() { return this.spans.length ? this.spans.end[this.spans.row(0)] : this.t; }

  snapshot() {
    const { names, open, series, stats, look, verdict, sorts, pools, pool, workers, nobody, t, wall, read, lost, missed, stolen } = this;
    return {
      format: "filch live snapshot 1", saved: new Date().toISOString(),
      names, open, series, stats, look, verdict, sorts, pools, pool, workers, nobody, t, wall, read, lost, missed, stolen,
      spans: this.spans.rows(), arrows: this.arrows.rows(), gaps: this.gaps.rows(), marks: this.marks.rows(),
      steals: [...this.steals], queues: [...this.queues],
    };
  }

  // restore takes a snapshot, or throws an Error that says what is wrong with it, and stays as it is.
  restore(x) {
    if (x?.format !== "filch live snapshot 1") throw new Error("this is not a snapshot of this page");
    if (!x.stats?.Tasks || !Array.isArray(x.names) || !Array.isArray(x.spans)) throw new Error("the snapshot is incomplete");
    const s = new Store();
    s.names = list(x.names, NAMES + 1).map(text);
    s.spans.fill(x.spans);
    s.arrows.fill(x.arrows);
    s.gaps.fill(x.gaps);
    s.marks.fill(x.marks);
    s.open = list(x.open, 1 << 16).map((o) => ({ sort: number(o?.sort), worker: number(o?.worker), begin: number(o?.begin), name: number(o?.name), depth: whole(o?.depth, 255) }));
    s.inside();
    const points = Math.min(...Object.keys(s.series).map((k) => list(x.series?.[k], Infinity).length), POINTS);
    for (const k in s.series) s.series[k] = points ? x.series[k].slice(-points).map(number) : [];
    s.sorts = list(x.sorts, 255).map(text);
    s.pools = list(x.pools, 1000).map(text);
    for (const k of ["t", "wall", "read", "lost", "missed", "stolen"]) s[k] = number(x[k]);
    s.pool = whole(x.pool, s.pools.length);
    s.workers = whole(x.workers, WORKERS);
    s.nobody = whole(Number(x.nobody), WORKERS);
    s.stats = { ...figures(x.stats, FIGURES), Paused: x.stats.Paused === true, Tasks: figures(x.stats.Tasks, OF_TASKS) };
    s.look = x.look ? looked(x.look) : null;
    s.verdict = x.verdict ? judged(x.verdict) : null;
    if (s.look) s.run();
    for (const [k, n] of list(x.steals, SPANS)) s.steals.set(whole(k, WORKERS * WORKERS - 1), whole(n, MOST));
    for (const [k, n] of list(x.queues)) s.queues.set(number(k), whole(n, MOST));
    s.parts = 1;
    Object.assign(this, s);
  }

  // inside makes all names be there: those that are not are one, behind the others.
  inside() {
    const n = this.names.length;
    let some = false;
    for (const names of [this.spans.name, this.marks.name]) names.forEach((v, i) => { if (v >= n) { names[i] = n; some = true; } });
    for (const o of this.open) if (this.names[o.name] === undefined) { o.name = n; some = true; }
    if (some) this.names.push("(no name)");
    this.ids = new Map(this.names.map((name, i) => [name, i]));
  }
}
