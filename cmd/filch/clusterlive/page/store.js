// What the page keeps of a cluster: what was said last, and the lines of the charts, in memory that does not grow. Times are
// in milliseconds since 1970.

import { number, whole, list, words } from "./text.js";

const POINTS = 600; // of the charts
const NODES = 1000; // no more than that are kept
const LINES = 8; // of a chart, besides that of all others
const SILENT = 7500; // a node that tells nothing for so long is silent: it tells every 5 s
const EXPIRES = 14000; // and the servers forget it after 15 s
const GONE = 60000; // how long a node that has gone is shown

const FIGURES = ["submitted", "local", "done", "failed", "dead", "canceled", "late", "refused", "returned", "duplicates", "running", "waiting"];
const counts = (x, most) => new Map(Object.entries(x && typeof x === "object" ? x : {}).slice(0, most).map(([name, n]) => [words(name), whole(n)]));
const total = (all) => all.reduce((sum, n) => sum + n, 0);
const time = (x) => number(Date.parse(words(x)));

const nodeOf = (x) => ({
  name: words(x?.name), host: words(x?.host), version: words(x?.version), pid: whole(x?.pid), tier: whole(x?.tier), places: whole(x?.places),
  handlers: list(x?.handlers, 256).map(words), from: counts(x?.from, 256), opened: time(x?.opened), seen: time(x?.seen),
  stats: Object.fromEntries(FIGURES.map((name) => [name, whole(x?.stats?.[name])])),
});
const queueOf = (x) => ({
  handler: words(x?.handler), lane: words(x?.lane), waiting: whole(x?.waiting), taken: whole(x?.taken), redelivered: whole(x?.redelivered),
  requests: whole(x?.requests), oldest: whole(x?.oldest), paused: x?.paused === true,
});
// seriesOf makes lines that have as many points as there are times.
const seriesOf = (x, n) => new Map(list(x, NODES).map((l) => [words(l?.[0]), list(l?.[1], n).map((v) => (v === null ? null : number(v)))]).filter((l) => l[1].length === n));

export class Store {
  constructor() { this.clear(); }

  clear() {
    this.name = this.name ?? "";
    this.nodes = new Map(); // by name: what it told, rate, gone and left
    this.queues = [];
    this.dead = new Map(); // letters by handler
    this.series = { t: [], done: new Map(), waiting: new Map() };
    this.colours = { done: new Map(), waiting: new Map() };
    this.ahead = -Infinity; // how much the servers' clock is ahead, at least
    this.wall = 0;
    this.seen = 0; // when the cluster answered last
    this.error = "";
    this.missed = 0;
  }

  // ready says whether there is something to draw.
  ready() { return this.wall > 0; }

  // add takes what the server says.
  add(m) {
    this.wall = number(m.wall);
    this.error = words(m.error);
    if (!this.error) {
      this.seen = this.wall;
      this.queues = list(m.queues).map(queueOf);
      this.dead = counts(m.dead, 1 << 12);
      const nodes = list(m.nodes, NODES).map(nodeOf);
      this.ahead = Math.max(this.ahead, ...nodes.map((n) => n.seen - this.wall)); // what was told is never of the future
      this.meet(nodes);
    }
    this.point();
  }

  // meet takes the nodes that are listed.
  meet(nodes) {
    const listed = new Set(nodes.map((n) => n.name));
    for (const n of nodes) {
      const was = this.nodes.get(n.name);
      this.nodes.set(n.name, { ...n, rate: this.rate(was, n), gone: 0, left: false });
    }
    for (const [name, n] of this.nodes) {
      if (listed.has(name)) continue;
      if (!n.gone) Object.assign(n, { gone: this.wall, left: this.silence(n) < EXPIRES, rate: null });
      if (this.wall - n.gone > GONE || this.nodes.size > NODES) this.nodes.delete(name);
    }
  }

  // rate returns how many tasks a node has done a second between two times at which it told of itself, or null.
  rate(was, n) {
    if (!was || was.gone || was.opened !== n.opened) return null;
    if (was.seen >= n.seen) return was.rate;
    const done = (x) => x.stats.done + x.stats.local;
    return Math.max(0, (done(n) - done(was)) / ((n.seen - was.seen) / 1000));
  }

  // now returns what the servers' clock says, or a little less.
  now() { return this.wall + (Number.isFinite(this.ahead) ? this.ahead : 0); }

  // silence returns for how long a node has told nothing.
  silence(n) { return Math.max(0, this.now() - n.seen); }

  // state returns what a node is, and a class.
  state(n) {
    if (n.gone && n.left) return ["left", "soft"];
    if (n.gone) return ["lost", "bad"];
    if (this.silence(n) > SILENT) return ["silent", "bad"];
    if (n.places === 0 || n.handlers.length === 0) return ["submits", "soft"];
    if (n.stats.running === 0) return ["idle", ""];
    return n.stats.running < n.places ? ["busy", "good"] : ["full", "good"];
  }

  // here returns the nodes that are there.
  here() { return [...this.nodes.values()].filter((n) => !n.gone); }

  // shown returns the nodes whose name, machine or handlers have a text in them; those that have gone come last.
  shown(filter) {
    const has = (s) => s.toLowerCase().includes(filter);
    return [...this.nodes.values()].filter((n) => has(n.name) || has(n.host) || n.handlers.some(has))
      .sort((a, b) => Boolean(a.gone) - Boolean(b.gone) || a.name.localeCompare(b.name, "en", { numeric: true }));
  }

  // paused returns the handlers that are paused.
  paused() { return new Set(this.queues.filter((q) => q.paused).map((q) => q.handler)); }

  // deserted returns the queues in which tasks wait that no node has the handler of.
  deserted() {
    const handled = new Set(this.here().filter((n) => n.places > 0).flatMap((n) => n.handlers));
    return new Set(this.queues.filter((q) => q.waiting > 0 && !handled.has(q.handler)));
  }

  // busy returns the queues that have tasks, and one of each handler that has none.
  busy() {
    const has = (q) => q.waiting + q.taken > 0, shown = new Set(this.queues.filter(has));
    const busy = new Set([...shown].map((q) => q.handler));
    for (const q of this.queues.toSorted((a, b) => (b.lane === "normal") - (a.lane === "normal"))) {
      if (busy.has(q.handler)) continue;
      busy.add(q.handler);
      shown.add(q);
    }
    return this.queues.filter((q) => shown.has(q));
  }

  // point adds to the charts; what is not known is null.
  point() {
    const { t, done, waiting } = this.series, known = !this.error;
    t.push(this.wall / 1000);
    this.append(done, known ? this.here().map((n) => [n.name, n.rate]) : []);
    this.append(waiting, known ? this.queues.map((q) => [`${q.handler} ${q.lane}`, q.waiting]) : []);
    if (t.length <= POINTS) return;
    t.splice(0, t.length - POINTS);
    for (const lines of [done, waiting]) {
      for (const [name, values] of lines) {
        values.splice(0, values.length - POINTS);
        if (values.every((v) => v === null)) lines.delete(name);
      }
    }
  }

  // append adds a value to each line.
  append(lines, values) {
    const n = this.series.t.length, latest = new Map(values);
    for (const name of latest.keys()) if (!lines.has(name) && lines.size < NODES) lines.set(name, Array(n - 1).fill(null));
    for (const [name, all] of lines) all.push(latest.get(name) ?? null);
  }

  // lines returns those of a chart that are not zero: the greatest, and what the others have on average. A line keeps its colour as long as it is shown.
  lines(name) {
    const all = [...this.series[name]].filter(([, values]) => values.some((v) => v !== null)).map(([label, values]) => ({ label, values, most: total(values) }));
    all.sort((a, b) => b.most - a.most || (a.label < b.label ? -1 : 1));
    const some = all.some((l) => l.most > 0) ? all.filter((l) => l.most > 0) : all.slice(0, 1);
    const first = some.slice(0, LINES), rest = some.slice(LINES), colours = this.colours[name];
    for (const label of colours.keys()) if (!first.some((l) => l.label === label)) colours.delete(label);
    for (const { label } of first) {
      const taken = new Set(colours.values());
      for (let i = 0; !colours.has(label); i++) if (!taken.has(`c${i}`)) colours.set(label, `c${i}`);
    }
    const lines = first.map((l) => ({ ...l, colour: colours.get(l.label) })).sort((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
    if (rest.length) {
      const mean = (all) => all.length ? total(all) / all.length : null;
      const values = this.series.t.map((_, i) => mean(rest.map((l) => l.values[i]).filter((v) => v !== null)));
      lines.push({ label: rest.length > 1 ? `${rest.length} others, on average` : "1 other", colour: "soft", values });
    }
    return lines;
  }

  snapshot() {
    const { name, queues, wall, seen, error, missed, series } = this;
    return {
      format: "filch cluster snapshot 1", saved: new Date().toISOString(), name, queues, wall, seen, error, missed, ahead: this.now() - wall, dead: Object.fromEntries(this.dead),
      nodes: [...this.nodes.values()].map((n) => ({ ...n, from: Object.fromEntries(n.from), opened: new Date(n.opened).toISOString(), seen: new Date(n.seen).toISOString() })),
      series: { t: series.t, done: [...series.done], waiting: [...series.waiting] },
    };
  }

  // restore takes a snapshot, or throws an Error that says what is wrong with it, and stays as it is.
  restore(x) {
    if (x?.format !== "filch cluster snapshot 1") throw new Error("this is not a snapshot of this page");
    if (!Array.isArray(x.nodes) || !Array.isArray(x.queues) || !Array.isArray(x.series?.t)) throw new Error("the snapshot is incomplete");
    const s = new Store(), t = list(x.series.t, POINTS).map((v) => Math.min(8e12, number(v)));
    Object.assign(s, { name: words(x.name), queues: list(x.queues).map(queueOf), dead: counts(x.dead, 1 << 12), error: words(x.error) });
    for (const k of ["wall", "seen", "missed", "ahead"]) s[k] = number(x[k]);
    s.wall = Math.min(8e15, Math.max(1, s.wall));
    s.seen = Math.min(8e15, s.seen);
    for (const n of list(x.nodes, NODES)) s.nodes.set(words(n?.name), { ...nodeOf(n), rate: n?.rate === null ? null : number(n?.rate), gone: whole(n?.gone), left: n?.left === true });
    s.series = { t: t.sort((a, b) => a - b), done: seriesOf(x.series.done, t.length), waiting: seriesOf(x.series.waiting, t.length) };
    Object.assign(this, s);
  }
}
