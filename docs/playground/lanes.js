// The workers at one time: what each runs, its deque, and who steals from whom.

import { Attempted, Stole } from "./film.js";
import { colour, colours, fit } from "./colours.js";

const HEAD = 20; // height of the line above the rows
const ROOM = 46; // for arrows, right of the deques

export function drawLanes(canvas, film, t) {
  new Picture(canvas, film, t).draw();
}

class Picture {
  constructor(canvas, film, t) {
    Object.assign(this, { canvas, film, t });
    const workers = film.result.workers;
    this.width = canvas.parentElement.clientWidth;
    this.narrow = this.width < 420;
    this.lane = Math.max(8, Math.min(28, Math.floor(560 / workers)));
    this.labelled = this.lane >= 20;
    this.box = !this.labelled ? 9 : 14 + 8 * Math.max(2, String(film.threads - 1).length);
    this.left = this.narrow ? 26 : 70; // of what runs
    this.slot = Math.max(this.box, this.labelled ? 52 : 20);
    this.deque = this.left + this.slot + 22;
    this.first = film.common ? -1 : 0;
    this.ends = new Map(); // of the deques, by worker: where an arrow begins
  }

  y(w) { return HEAD + (w - this.first) * this.lane; }
  middle(w) { return this.y(w) + this.lane / 2; }

  draw() {
    const workers = this.film.result.workers;
    this.c = fit(this.canvas, this.width, HEAD + (workers - this.first) * this.lane + 4);
    this.c.textBaseline = "middle";
    this.head();
    for (let w = this.first; w < workers; w++) this.row(w);
    const now = this.film.at(this.t);
    for (const e of now) if (e.kind === Attempted) this.miss(e);
    for (const e of now) if (e.kind === Stole) this.steal(e);
  }

  text(text, x, y, colour, align = "left", size = 12) {
    const c = this.c;
    c.font = `${size}px system-ui, sans-serif`;
    c.fillStyle = colour;
    c.textAlign = align;
    c.fillText(text, x, y);
  }

  head() {
    const { soft } = colours(), y = HEAD / 2;
    this.text("runs", this.left, y, soft);
    this.text(this.narrow ? "deque" : "deque: the owner's end", this.deque, y, soft);
    this.text(this.narrow ? "thieves' end" : "the thieves' end", this.width - 4, y, soft, "right");
  }

  row(w) {
    const c = this.c, { soft, grid } = colours(), y = this.y(w);
    c.fillStyle = grid;
    c.fillRect(0, y, this.width, 1);
    if (this.labelled || w % 4 === 0) {
      const name = w < 0 ? "queue" : this.narrow ? String(w) : `worker ${w}`;
      this.text(name, 4, this.middle(w), soft, "left", this.labelled ? 12 : 10);
    }
    if (w >= 0) this.runs(w);
    this.queue(w);
  }

  // thread draws the box of one: that which "runs" or "waits", is "private" or "taken". The thread -1 is a copy of one that
  // has been taken by another way.
  thread(id, x, y, width, look) {
    const c = this.c, { ink, steal, line } = colours(), gap = this.labelled ? 3 : 1.5, h = this.lane - 2 * gap;
    c.beginPath();
    c.roundRect(x + 1, y + gap, width - 2, h, this.labelled ? 4 : 2);
    if (look === "taken") c.setLineDash([4, 3]);
    if (id < 0 || look === "private" || look === "taken") {
      c.lineWidth = 1.5;
      c.strokeStyle = id < 0 ? line : look === "taken" ? steal : colour(id, this.film.threads);
      c.stroke();
      c.setLineDash([]);
    } else {
      c.fillStyle = colour(id, this.film.threads);
      c.fill();
    }
    if (this.labelled && id >= 0) this.text(String(id), x + width / 2, y + this.lane / 2 + 0.5, ink, "center");
  }

  runs(w) {
    const state = this.film.worker(w, this.t), y = this.y(w), { soft, ink } = colours();
    if (state.runs !== undefined) {
      this.thread(state.runs, this.left, y, this.slot, "runs");
      const length = state.end - state.begin;
      if (length > 1) { // how far the node is
        this.c.fillStyle = ink;
        this.c.fillRect(this.left + 4, y + this.lane - 6, (this.slot - 8) * (this.t - state.begin + 1) / length, 2);
      }
    } else if (state.takes !== undefined) {
      this.thread(state.takes, this.left, y, this.slot, "taken");
    } else if (this.labelled && this.t < this.film.end) {
      this.text(state.sleeps ? "sleeps" : "idle", this.left + this.slot / 2, this.middle(w), soft, "center");
    }
  }

  // queue draws a deque, the newest at the left. What does not fit is left out in its middle.
  queue(w) {
    const { size, hidden, threads } = this.film.queue(w, this.t), y = this.y(w), step = this.box + 2, soft = colours().soft;
    const ids = Array.from(threads).reverse(), left = size - ids.length; // what is left out of the film is in the middle
    const look = (i) => (i + (i >= ids.length / 2 ? left : 0) < hidden ? "private" : "waits");
    const most = Math.max(2, Math.floor((this.width - ROOM - this.deque) / step));
    let x = this.deque;
    if (size <= most && size === ids.length) {
      for (let i = 0; i < ids.length; i++) this.thread(ids[i], x, y, this.box, look(i)), x += step;
    } else {
      const more = 62, fits = Math.max(2, Math.min(ids.length, Math.floor((this.width - ROOM - this.deque - more) / step)));
      const old = Math.floor(fits / 2), young = fits - old;
      for (let i = 0; i < young; i++) this.thread(ids[i], x, y, this.box, look(i)), x += step;
      this.text(this.labelled ? `… ${size - fits} …` : `${size - fits}`, x + more / 2, this.middle(w), soft, "center", this.labelled ? 12 : 9);
      x += more;
      for (let i = ids.length - old; i < ids.length; i++) this.thread(ids[i], x, y, this.box, look(i)), x += step;
    }
    this.ends.set(w, x);
  }

  // curve goes from the end of the victim's deque to what the thief runs.
  curve(victim, thief) {
    const c = this.c, x0 = this.ends.get(victim) + 1, y0 = this.middle(victim), x1 = this.left + this.slot + 3, y1 = this.middle(thief);
    const out = Math.min(this.width - 4, Math.max(x0, x1) + 26 + Math.abs(y1 - y0) / 5);
    c.beginPath();
    c.moveTo(x0, y0);
    c.bezierCurveTo(out, y0, out, y1, x1 + 8, y1);
    c.stroke();
    return [x1, y1];
  }

  miss({ worker, other }) {
    const c = this.c;
    if (!this.ends.has(other)) return;
    c.strokeStyle = colours().miss;
    c.globalAlpha = this.film.result.workers > 16 ? 0.45 : 0.8;
    c.lineWidth = 1;
    c.setLineDash([3, 4]);
    this.curve(other, worker);
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  steal({ worker, other }) {
    const c = this.c, red = colours().steal;
    if (!this.ends.has(other)) return;
    c.strokeStyle = c.fillStyle = red;
    c.lineWidth = 2;
    const [x, y] = this.curve(other, worker);
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x + 9, y - 4.5);
    c.lineTo(x + 9, y + 4.5);
    c.fill();
  }
}
