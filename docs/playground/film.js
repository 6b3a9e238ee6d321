// A recorded run, and what holds at any time of it. The rows are those of Film in internal/playground.

const EVENT = 5, QUEUE = 5; // numbers in a row, of a queue without its threads
const COMMON = -1; // the queue that no worker owns

// The kinds of events, as in internal/sim.
export const Began = 0, Ended = 1, Spawned = 2, Enabled = 3, Attempted = 4, Stole = 5, Slept = 9, Woken = 10;

const numbers = (bytes) => new Int32Array(bytes.buffer);

// lastAt returns the last of n places whose value is at most t, or -1. Values must not fall.
export function lastAt(n, value, t) {
  let low = 0, high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(middle) <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

export class Film {
  constructor(run) {
    this.result = JSON.parse(run.result);
    this.depths = numbers(run.depths);
    this.events = numbers(run.events);
    this.rows = numbers(run.queues);
    this.threads = this.depths.length;
    this.count = this.events.length / EVENT;
    this.end = this.result.time;
    this.follow();
    this.index();
  }

  time(i) { return this.events[i * EVENT]; }
  event(i) {
    const e = this.events, k = i * EVENT;
    return { time: e[k], kind: e[k + 1], worker: e[k + 2], other: e[k + 3], thread: e[k + 4] };
  }

  // follow goes through the events, and keeps the counts after each, and what each worker ran and when.
  follow() {
    const n = this.count, workers = this.result.workers, e = this.events;
    for (const name of ["steals", "attempts", "running", "live"]) this[name] = new Int32Array(n);
    this.busy = new Float64Array(n);
    this.spans = Array.from({ length: workers }, () => ({ thread: [], begin: [], end: [] }));
    this.hands = Array.from({ length: workers }, () => ({ thread: [], begin: [], end: [] })); // what is on its way to a worker
    this.sleeps = Array.from({ length: workers }, () => ({ begin: [], end: [] }));
    this.thefts = []; // events
    const ends = new Int32Array(this.threads); // the last event of each thread
    for (let i = 0; i < n; i++) if (e[i * EVENT + 1] === Ended) ends[e[i * EVENT + 4]] = i;
    let steals = 0, attempts = 0, running = 0, live = 0, busy = 0, before = 0;
    for (let i = 0; i < n; i++) {
      const { time, kind, worker, other, thread } = this.event(i);
      busy += running * (time - before);
      before = time;
      const s = this.spans[worker], h = this.hands[worker];
      switch (kind) {
        case Began:
          running++;
          s.thread.push(thread), s.begin.push(time), s.end.push(this.end);
          if (h.end.at(-1) === Infinity) h.end[h.end.length - 1] = time;
          break;
        case Ended:
          running--;
          s.end[s.end.length - 1] = time;
          if (ends[thread] === i) live--;
          break;
        case Spawned: live++; break;
        case Attempted: attempts++; break;
        case Stole:
          attempts++, steals++;
          this.thefts.push(i);
          h.thread.push(thread), h.begin.push(time), h.end.push(Infinity);
          break;
        case Slept: this.sleeps[worker].begin.push(time), this.sleeps[worker].end.push(Infinity); break;
        case Woken: this.sleeps[other].end[this.sleeps[other].end.length - 1] = time; break;
      }
      this.steals[i] = steals, this.attempts[i] = attempts, this.running[i] = running, this.live[i] = live, this.busy[i] = busy;
    }
  }

  // index finds the changes of each queue.
  index() {
    this.changes = new Map();
    for (let at = 0; at < this.rows.length; at += QUEUE + this.rows[at + 4]) {
      const w = this.rows[at + 1];
      if (!this.changes.has(w)) this.changes.set(w, []);
      this.changes.get(w).push(at);
    }
    this.common = this.changes.has(COMMON);
  }

  // queue returns the size of a worker's queue at a time, and its threads, the thieves' end first: all of them, or of
  // a long queue both ends. The last ones may be private.
  queue(worker, t) {
    const changes = this.changes.get(worker) ?? [];
    const k = lastAt(changes.length, (i) => this.rows[changes[i]], t);
    if (k < 0) return { size: 0, hidden: 0, threads: [] };
    const at = changes[k];
    return { size: this.rows[at + 2], hidden: this.rows[at + 3], threads: this.rows.subarray(at + QUEUE, at + QUEUE + this.rows[at + 4]) };
  }

  // during returns the index of the span that covers a time, or -1.
  during(spans, t) {
    const k = lastAt(spans.begin.length, (i) => spans.begin[i], t);
    return k >= 0 && t < spans.end[k] ? k : -1;
  }

  // worker returns what a worker does at a time: it runs a thread, from when to when, or one is on its way to it, or it sleeps.
  worker(w, t) {
    const s = this.spans[w], k = this.during(s, t);
    if (k >= 0) return { runs: s.thread[k], begin: s.begin[k], end: s.end[k] };
    const h = this.hands[w], j = this.during(h, t);
    if (j >= 0) return { takes: h.thread[j] };
    return { sleeps: this.during(this.sleeps[w], t) >= 0 };
  }

  // counts returns what the run has come to at a time.
  counts(t) {
    const at = Math.min(t, this.end), i = lastAt(this.count, (k) => this.time(k), at);
    const busy = this.busy[i] + this.running[i] * (at - this.time(i)), all = this.result.workers * at;
    return { steals: this.steals[i], attempts: this.attempts[i], running: this.running[i], live: this.live[i], idle: all ? 1 - busy / all : 0 };
  }

  // at returns what happens at a time.
  at(t) {
    const all = [];
    for (let i = lastAt(this.count, (k) => this.time(k), t - 1) + 1; i < this.count && this.time(i) === t; i++) all.push(this.event(i));
    return all;
  }

  // next and before return the closest time at which something happens, or t. Only steals count if they are asked for.
  next(t, thefts) {
    const list = thefts ? this.thefts : null, n = list ? list.length : this.count, time = (i) => this.time(list ? list[i] : i);
    const i = lastAt(n, time, t) + 1;
    return i < n ? time(i) : Infinity;
  }
  before(t, thefts) {
    const list = thefts ? this.thefts : null, n = list ? list.length : this.count, time = (i) => this.time(list ? list[i] : i);
    const i = lastAt(n, time, t - 1);
    return i >= 0 ? time(i) : -Infinity;
  }
}
