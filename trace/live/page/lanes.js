// The workers as lanes in time, on a canvas.

import { span } from "./text.js";

const AXIS = 20; // height of the axis
const IDLE = 16; // and of the line for idle workers
const SHORTEST = 1e3, LONGEST = 600e9; // times to show
const FIRST = 2.5e8, LATER = 5e9;
const LEVELS = 6; // depths that look different
const MOST_ARROWS = 600;
const COLOURS = 8;

// What sorts of spans look like: a body, or a strip at the bottom of the lane.
const looks = { place: "place", call: "body", task: "body", fork: "body", help: "body", "own fork": "body", join: "spin", wait: "wait", search: "search" };

const laneName = (worker) => (worker < 0 ? "no worker" : `worker ${worker}`);
const LEAST_FOLDED = 4; // so many idle lanes are one

// short leaves the function of a Go symbol: "runTasksBody" of "example.com/a/b.runTasksBody". Other names stay.
export const short = (name) => withoutPaths(name).replace(/\bmain\.(?=\S)/g, "");

// withoutPaths leaves packages and their paths out, but for package main.
export const withoutPaths = (name) => name.replace(/\S*\/[^\s./]*\.(?=\S)/g, "");

// fitting shortens a name further: without its package, and then by its end.
function fitting(name, letters) {
  const label = name.length > letters ? name.replace(/^\w+\.(?=[\w(])/, "") : name;
  return label.length > letters ? `${label.slice(0, letters - 1)}…` : label;
}

// arrow adds one to the path, from one lane to the edge of another.
function arrow(c, x0, y0, x1, y1, up) {
  const tip = up ? y1 + 4 : y1 - 4;
  c.moveTo(x0, y0);
  c.lineTo(x1, tip);
  c.moveTo(x1 - 2.5, tip);
  c.lineTo(x1, y1);
  c.lineTo(x1 + 2.5, tip);
}

export class Lanes {
  constructor(canvas, store) {
    this.canvas = canvas;
    this.store = store;
    this.ctx = canvas.getContext("2d", { alpha: false });
    this.width = this.grown = FIRST; // nanoseconds shown; as long as nobody has changed it, the time that is known, up to LATER
    this.end = null; // the right edge; null is now
    this.filter = "";
    this.matches = []; // by name, whether it does
    this.chosen = 0; // a lane
    this.span = null; // that the pointer or the keyboard has chosen
    this.pointed = null; // the worker whose lane the pointer is on
    this.folds = true;
    this.shown = [0]; // the workers that have lanes, and
    this.rows = new Map([[0, 0]]); // the lane of each
    this.idle = 0; // workers without one: nothing was seen of them in the time shown
    this.busy = new Float64Array(1); // of the time shown, by lane
    this.visible = new Int32Array(store.spans.size);
    this.arrowsDrawn = 0;
    this.resize();
  }

  // count tells how many lanes there are, and whether there is a line for the workers that have none.
  get count() { return `${this.shown.length} ${this.idle > 0}`; }
  get last() { return this.y0(this.shown.length); } // the end of the lanes of workers

  // settle finds which workers have lanes, and how busy each was, from the first n spans that are visible.
  settle(n) {
    const first = -this.store.nobody, all = Math.max(1, this.store.workers - first), used = new Uint8Array(all), { left, right } = this;
    const BUCKETS = 256, per = this.width / BUCKETS, covered = new Float32Array(all * BUCKETS), looks = this.store.sorts.map((_, i) => this.look(i));
    const waited = new Float64Array(all);
    const cover = (worker, begin, end) => {
      const from = Math.max(0, (begin - left) / per), to = Math.min(BUCKETS, (end - left) / per);
      for (let b = Math.floor(from); b < to; b++) {
        const at = (worker - first) * BUCKETS + b;
        covered[at] = Math.min(1, covered[at] + Math.min(to, b + 1) - Math.max(from, b));
      }
    };
    this.each(n, (worker, sort, depth, begin, end) => {
      if (worker < first || worker - first >= all) return;
      if (looks[sort] !== "search") used[worker - first] = 1;
      if (looks[sort] === "body" && depth <= 1) cover(worker, begin, end);
      else if (looks[sort] === "wait") waited[worker - first] += Math.min(right, end) - Math.max(left, begin);
    });
    const unseen = new Float64Array(all), g = this.store.gaps;
    for (let i = 0; i < g.length; i++) {
      if (g.end[i] < left || g.begin[i] > right || g.worker[i] < first || g.worker[i] - first >= all) continue;
      used[g.worker[i] - first] = 1;
      unseen[g.worker[i] - first] += Math.min(right, g.end[i]) - Math.max(left, g.begin[i]);
    }
    for (const [worker, queued] of this.store.queues) if (queued > 0 && worker >= 0 && worker - first < all) used[worker - first] = 1;
    const idle = used.reduce((n, u) => n + 1 - u, 0), folds = this.folds && idle >= LEAST_FOLDED;
    this.shown = [];
    this.rows.clear();
    for (let i = 0; i < all; i++) if (used[i] || !folds) { this.rows.set(first + i, this.shown.length); this.shown.push(first + i); }
    this.idle = folds ? idle : 0;
    const known = Math.min(this.width, this.store.t - Math.max(left, this.store.begun ?? left));
    this.busy = Float64Array.from(this.shown, (worker) => {
      let sum = 0;
      if (unseen[worker - first] > .8 * known) return NaN; // too little was seen of it
      for (let b = 0; b < BUCKETS; b++) sum += covered[(worker - first) * BUCKETS + b];
      return Math.max(0, Math.min(1, (sum * per - waited[worker - first]) / Math.max(1, known - unseen[worker - first])));
    });
  }

  // busyInAll returns which part of the time shown the workers were busy, of as many as may run at once.
  busyInAll() {
    let sum = 0, unknown = 0;
    this.shown.forEach((worker, i) => { if (worker >= 0) Number.isNaN(this.busy[i]) ? unknown++ : sum += this.busy[i]; });
    const known = this.store.workers - unknown;
    return known > 0 ? Math.min(1, (sum * this.store.workers) / known / Math.max(1, this.store.stats?.Workers ?? 1)) : NaN;
  }
  part(x) { return Number.isNaN(x) ? "–" : `${Math.round(100 * x)}%`; }

  // choose moves to another lane.
  choose(step) {
    const at = (this.rows.get(this.chosen) ?? 0) + step;
    this.chosen = this.shown[Math.max(0, Math.min(this.shown.length - 1, at))];
  }

  // workerAt returns whose lane is at that height, or null.
  workerAt(y) { return y < AXIS ? null : this.shown[Math.floor((y - AXIS) / this.lane)] ?? null; }

  // tellLane returns what there is to say of the lane at that height.
  tellLane(y) {
    const worker = this.workerAt(y), most = this.store.stats?.Workers ?? 0;
    if (worker === null) return y > this.last && this.idle ? `${this.idle} workers did nothing in the time shown. F shows their lanes.` : "";
    if (worker < 0) return "Tasks on goroutines that are no workers: LongRunning, or run in place by who waits for them.";
    const queued = this.store.queues.get(worker) ?? 0;
    return `${laneName(worker)}, busy ${this.part(this.busy[this.rows.get(worker)])} of the time shown${queued ? `, ${queued} tasks in its queue` : ""}`
      + (worker >= most ? `\nThe pool runs ${most} at once. This one takes the place of one that waits.` : "");
  }

  get right() { return this.end ?? this.store.t; }
  get left() { return this.right - this.width; }

  restyle() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colours = Array.from({ length: COLOURS }, (_, i) => get(`c${i}`));
    for (const name of ["card", "ink", "soft", "grid", "line", "place", "search", "spin", "wait", "arrow", "gap", "on", "accent", "bad", "mark"]) this[name] = get(name);
  }

  // colour returns that of a name. The first names take turns, so that they differ.
  colour(name) { return this.colours[name % COLOURS]; }

  resize() {
    const width = this.canvas.parentElement.clientWidth || 800;
    const count = this.shown.length, narrow = width < 600;
    this.narrow = narrow;
    this.gutter = narrow ? 64 : 124;
    this.lane = Math.max(count > 128 ? 5 : 8, Math.min(26, Math.floor((narrow ? 420 : 520) / count)));
    const height = AXIS + count * this.lane + (this.idle ? IDLE : 0) + 2, ratio = Math.min(2, window.devicePixelRatio || 1);
    if (this.w !== width || this.h !== height || this.ratio !== ratio) {
      Object.assign(this, { w: width, h: height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
    }
    this.restyle();
  }

  setFilter(filter) {
    this.filter = filter.trim().toLowerCase();
    this.matches = [];
  }

  match(name) {
    if (!this.filter) return true;
    return (this.matches[name] ??= (this.store.names[name] ?? "").toLowerCase().includes(this.filter));
  }

  x(t) { return this.gutter + ((t - this.left) / this.width) * (this.w - this.gutter); }
  y0(row) { return AXIS + row * this.lane; }
  y(worker) { return this.y0(this.rows.get(worker) ?? -1000); } // out of sight if it has no lane
  time(x) { return this.left + ((x - this.gutter) / (this.w - this.gutter)) * this.width; }

  // zoom shows factor times as much time around x; without x, around the middle, or up to now.
  zoom(factor, x) {
    const width = Math.min(LONGEST, Math.max(SHORTEST, this.width * factor));
    if (x === undefined && this.end === null) {
      this.width = width;
      return;
    }
    const at = this.time(x ?? (this.gutter + this.w) / 2), part = (at - this.left) / this.width;
    this.width = width;
    this.end = at + (1 - part) * width;
    if (this.end >= this.store.t && factor > 1) this.end = null;
  }

  move(ns) {
    const end = this.right + ns;
    this.end = end >= this.store.t ? null : Math.max(end, Math.min(this.store.t, this.store.oldest() + this.width));
  }

  follow() { this.end = null; }

  draw() {
    if (this.width === this.grown && this.end === null) this.width = this.grown = Math.min(LATER, Math.max(FIRST, this.store.t - (this.store.begun ?? 0)));
    const c = this.ctx, s = this.store.spans, { left, right } = this;
    let n = 0;
    for (let i = 0; i < s.length; i++) if (s.end[i] >= left && s.begin[i] <= right) this.visible[n++] = i;
    this.settle(n);
    if (this.lanesDrawn !== this.count) {
      this.resize();
      this.lanesDrawn = this.count;
    }
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.card;
    c.fillRect(0, 0, this.w, this.h);
    c.save();
    c.beginPath();
    c.rect(this.gutter, 0, this.w - this.gutter, this.h);
    c.clip();
    this.axis();
    this.gaps();
    if (this.filter) {
      this.bodies(n, false);
      this.bodies(n, true);
    } else {
      this.bodies(n, true);
    }
    this.strips(n);
    this.arrows();
    this.marks();
    this.frame(this.span);
    c.restore();
    this.labels();
  }

  axis() {
    const c = this.ctx, { left, right } = this;
    let step = 1;
    for (const most = this.w < 600 ? 4 : 9; this.width / step > most; ) step *= /^1/.test(String(step)) ? 2 : /^2/.test(String(step)) ? 2.5 : 2;
    const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step))));
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.fillStyle = this.grid;
    const first = Math.max(0, Math.ceil(left / step)) * step;
    for (let t = first; t <= right; t += step) c.fillRect(Math.round(this.x(t)), AXIS - 4, 1, this.h);
    c.fillStyle = this.soft;
    for (let t = first; t <= right; t += step) {
      const text = `${(t / 1e9).toFixed(digits)} s`;
      if (this.x(t) + 3 + c.measureText(text).width <= this.w) c.fillText(text, this.x(t) + 3, AXIS / 2);
    }
  }

  gaps() {
    const c = this.ctx, g = this.store.gaps;
    c.fillStyle = this.gap;
    for (let i = 0; i < g.length; i++) {
      if (g.end[i] < this.left || g.begin[i] > this.right) continue;
      const x = this.x(g.begin[i]);
      const w = Math.max(1, this.x(g.end[i]) - x), y = this.y(g.worker[i]);
      c.globalAlpha = .28; // what was not seen looks other than what did not happen
      c.fillRect(x, y + 2, w, this.lane - 4);
      c.globalAlpha = 1;
      c.fillRect(x, y + this.lane / 2 - .5, w, 1);
    }
  }

  look(sort) { return looks[this.store.sorts[sort]] ?? "body"; }

  // each calls f for the spans of the first n that are visible, and for those that are open.
  each(n, f) {
    const s = this.store.spans;
    for (let k = 0; k < n; k++) {
      const i = this.visible[k];
      f(s.worker[i], s.sort[i], s.depth[i], s.begin[i], s.end[i], s.name[i], s.crashed[i]);
    }
    for (const o of this.store.going()) if (o.begin <= this.right) f(o.worker, o.sort, o.depth, o.begin, this.store.t, o.name, 0, o.since);
  }

  bodies(n, matching) {
    const c = this.ctx, looks = this.store.sorts.map((_, i) => this.look(i));
    const inset = this.lane >= 20 ? 2 : this.lane >= 12 ? 1 : .5, text = this.lane >= 12;
    const rows = Array.from({ length: LEVELS }, () => []);
    const drawn = new Float64Array(this.shown.length * LEVELS).fill(-1);
    this.each(n, (worker, sort, depth, begin, end, name, crashed, since) => {
      const look = looks[sort];
      if (look !== "body" && look !== "place") return;
      const level = Math.min(depth, LEVELS - 1), at = (this.rows.get(worker) ?? -1) * LEVELS + level;
      if (at < 0 || at >= drawn.length || (look === "body" && this.match(name) !== matching)) return;
      const x = Math.max(this.gutter - 2, this.x(begin)), right = Math.min(this.w + 2, Math.max(this.x(end), x + 1));
      if (right <= drawn[at] && !crashed) return; // there is a span in this pixel
      drawn[at] = Math.floor(right);
      rows[level].push([worker, look, x, right, name, crashed, since, begin]);
    });
    c.textBaseline = "middle";
    c.font = `${Math.min(12, this.lane - 5)}px system-ui, sans-serif`;
    for (let level = 0; level < LEVELS; level++) {
      for (const [worker, look, x, right, name, crashed, since, begin] of rows[level]) {
        const y = this.y(worker) + 1 + Math.min(level, 4) * inset, h = this.lane - 2 - Math.min(level, 4) * inset;
        c.globalAlpha = matching ? 1 - (level % 2) * .22 : .15;
        c.fillStyle = look === "place" ? this.place : crashed ? this.bad : this.colour(name);
        c.fillRect(x, y, right - x, h);
        if (look === "place" || right - x < 5) continue;
        c.globalAlpha = matching ? 1 : .15;
        c.fillStyle = this.card;
        c.fillRect(right - 1, y, 1, h);
        if (since) for (let k = 0; k < 3; k++) c.fillRect(x + 3 * k, y, 1, h); // when it began is not known
        const letters = Math.floor((right - x - 8) / 6.3);
        if (!text || !matching || letters < 4) continue;
        const label = short(this.store.names[name] ?? "") + (since ? `, running for at least ${span(this.store.t - begin)}` : "");
        c.fillStyle = this.on;
        c.fillText(fitting(label, letters), x + (since ? 12 : 4), y + h / 2 + .5);
      }
    }
    c.globalAlpha = 1;
  }

  strips(n) {
    const c = this.ctx, looks = this.store.sorts.map((_, i) => this.look(i)), h = Math.max(2, Math.round(this.lane / 5));
    const drawn = new Float64Array(this.shown.length).fill(-1);
    this.each(n, (worker, sort, depth, begin, end) => {
      const look = looks[sort], at = this.rows.get(worker) ?? -1;
      if (look === "body" || look === "place" || at < 0 || at >= drawn.length) return;
      const x = this.x(begin), right = Math.max(this.x(end), x + 1);
      if (right <= drawn[at]) return;
      drawn[at] = Math.floor(right);
      c.fillStyle = this[look];
      c.fillRect(x, this.y(worker) + this.lane - h - 1, right - x, h);
    });
  }

  arrows() {
    const c = this.ctx, a = this.store.arrows, last = this.last, strong = [], one = this.span?.worker ?? this.pointed;
    let most = MOST_ARROWS;
    c.strokeStyle = c.fillStyle = this.arrow;
    c.lineWidth = 1;
    c.globalAlpha = .22;
    c.beginPath();
    for (let i = a.length - 1; i >= 0 && most > 0; i--) {
      const at = a.row(i);
      if (a.in[at] < this.left || a.out[at] > this.right) continue;
      most--;
      const x0 = this.x(a.out[at]), x1 = this.x(a.in[at]), up = a.from[at] > a.to[at];
      const y0 = this.y(a.from[at]) + this.lane / 2, y1 = this.y(a.to[at]) + (up ? this.lane : 0);
      if (y0 < 0 || y1 < 0 || y0 > last || y1 > last) continue;
      if (one !== null && (a.from[at] === one || a.to[at] === one)) strong.push([x0, y0, x1, y1, up]);
      else arrow(c, x0, y0, x1, y1, up);
    }
    c.stroke();
    c.globalAlpha = 1; // those of the worker that one points at
    c.lineWidth = 1.5;
    c.beginPath();
    for (const all of strong) arrow(c, ...all);
    c.stroke();
    this.arrowsDrawn = MOST_ARROWS - most;
  }

  // eachMark calls f for each moment that is visible, with its name, x, and y and height of its mark: on the axis if it is the pool's.
  eachMark(f) {
    const m = this.store.marks;
    for (let i = 0; i < m.length; i++) {
      const at = m.row(i), x = this.x(m.at[at]);
      if (x < this.gutter || x > this.w) continue;
      if (m.worker[at] < 0) f(m.name[at], x, AXIS - 6, 6);
      else if (this.rows.has(m.worker[at])) f(m.name[at], x, this.y(m.worker[at]), this.lane);
    }
  }

  marks() {
    this.ctx.fillStyle = this.mark;
    this.eachMark((_, x, y, h) => this.ctx.fillRect(x, y, 2, h));
  }

  // markUnder returns the names of the moments at a point, or "".
  markUnder(x, y) {
    const all = new Set();
    this.eachMark((name, left, top, h) => { if (Math.abs(x - left - 1) <= 3 && y >= top - 4 && y <= top + h) all.add(this.store.names[name]); });
    return [...all].join("\n");
  }

  // frame draws a frame around a span.
  frame(s) {
    if (!s) return;
    const c = this.ctx, x = Math.max(this.gutter, this.x(s.begin));
    c.strokeStyle = this.ink;
    c.lineWidth = 1.5;
    c.strokeRect(x - 1, this.y(s.worker) + .5, Math.max(3, Math.min(this.w, this.x(s.end)) - x + 2), this.lane - 1);
  }

  labels() {
    const c = this.ctx, { narrow } = this, every = Math.max(1, Math.ceil(10 / this.lane));
    c.textBaseline = "middle";
    c.font = `${Math.max(8, Math.min(12, this.lane + 1))}px system-ui, sans-serif`;
    for (let i = 0; i < this.shown.length; i += every) {
      const worker = this.shown[i], y = this.y(worker) + this.lane / 2 + .5, queued = this.store.queues.get(worker) ?? 0;
      const chosen = worker === this.chosen && document.activeElement === this.canvas;
      c.fillStyle = chosen ? this.accent : this.soft;
      c.textAlign = "left";
      c.fillText(narrow && worker >= 0 ? String(worker) : narrow ? "–" : laneName(worker), 2, y);
      c.textAlign = "right";
      if (worker >= 0) c.fillText(this.part(this.busy[i]), this.gutter - 22, y);
      c.textAlign = "left";
      if (queued > 0 && worker >= 0) {
        const w = Math.min(1, Math.log2(1 + queued) / 12) * (narrow ? 10 : 16);
        c.fillStyle = this.accent;
        c.fillRect(this.gutter - 3 - w, this.y(worker) + 1, w, this.lane - 2);
      }
    }
    if (this.idle) {
      c.fillStyle = this.soft;
      c.font = "11px system-ui, sans-serif";
      c.fillText(`${this.idle} idle`, 2, this.last + IDLE / 2 + .5);
    }
    c.fillStyle = this.line;
    c.fillRect(this.gutter - 1, AXIS, 1, this.h);
  }

  // under returns the innermost span at a point, or null.
  under(x, y) {
    const worker = this.workerAt(y), slack = (2 * this.width) / this.w, t = this.time(x);
    if (x < this.gutter || worker === null) return null;
    let best = null;
    const see = (s, far) => {
      const inner = this.look(s.sort) === "place" ? -1 : s.depth;
      if (far <= slack && (!best || (far < best.far && far > 0) || (far === 0 && best.far > 0) || (far === best.far && inner > best.inner))) best = { ...s, far, inner };
    };
    const r = this.store.spans;
    for (let i = 0; i < r.length; i++) {
      if (r.worker[i] !== worker || r.begin[i] > t + slack || r.end[i] < t - slack) continue;
      see(this.row(i), Math.max(0, r.begin[i] - t, t - r.end[i]));
    }
    for (const o of this.store.going()) if (o.worker === worker) see({ ...o, end: this.store.t, open: true }, Math.max(0, o.begin - t, t - this.store.t));
    return best;
  }

  row(i) {
    const r = this.store.spans;
    return { begin: r.begin[i], end: r.end[i], worker: r.worker[i], name: r.name[i], sort: r.sort[i], depth: r.depth[i], crashed: r.crashed[i] };
  }

  // beside returns the span of the chosen lane that begins next before or after the one that is chosen.
  beside(step) {
    const r = this.store.spans, from = this.span?.worker === this.chosen ? this.span.begin : step > 0 ? this.left : this.right;
    let best = null;
    for (let i = 0; i < r.length; i++) {
      if (r.worker[i] !== this.chosen || this.look(r.sort[i]) !== "body" || !this.match(r.name[i])) continue;
      const far = (r.begin[i] - from) * step;
      if (far > 0 && (!best || far < best.far)) best = { far, i };
    }
    return best && this.row(best.i);
  }

  // tell returns what there is to say of a span.
  tell(s) {
    const sort = this.store.sorts[s.sort] ?? "span", name = this.store.names[s.name] ?? "";
    return [
      name === sort ? name : `${name} (${sort})`,
      `${laneName(s.worker)}, ${span(s.end - s.begin)}${s.since ? " at least, it began before this page was opened" : s.open ? " so far" : ""}${s.crashed ? ", crashed" : ""}`,
      `from ${(s.begin / 1e9).toFixed(6)} s`,
    ].join("\n");
  }
}
