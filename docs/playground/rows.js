// The workers in time: what each ran, and steals as lines from victim to thief.

import { lastAt } from "./film.js";
import { colour, colours, fit } from "./colours.js";

const AXIS = 20;
const MOST_LINES = 1500;

export class Rows {
  constructor(canvas) {
    this.canvas = canvas;
    this.back = document.createElement("canvas"); // all but the cursor
  }

  x(t) { return this.gutter + ((t - this.left) / this.span) * (this.width - this.gutter - 6); }

  // time returns the step at x.
  time(x) { return Math.floor(this.left + ((x - this.gutter) / (this.width - this.gutter - 6)) * this.span); }

  // draw draws a film at step t, of which the steps from left on are shown, so many.
  draw(film, t, left, span) {
    const workers = film.result.workers, width = this.canvas.parentElement.clientWidth;
    const key = [width, left, span, colours().card, devicePixelRatio].join();
    this.lane = workers <= 16 ? 15 : workers <= 40 ? 10 : 5;
    this.height = AXIS + workers * this.lane + 4;
    if (this.key !== key || this.film !== film) {
      Object.assign(this, { film, left, span, width, key, gutter: width < 420 ? 26 : 70 });
      this.picture(fit(this.back, width, this.height));
    }
    const c = fit(this.canvas, width, this.height);
    c.save();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.back, 0, 0);
    c.restore();
    this.cursor(c, t);
  }

  picture(c) {
    const { grid, soft } = colours(), workers = this.film.result.workers;
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.axis(c);
    for (let w = 0; w < workers; w++) {
      const y = AXIS + w * this.lane;
      c.fillStyle = grid;
      c.fillRect(this.gutter, y + 1, Math.max(0, Math.min(this.width, this.x(this.film.end)) - this.gutter), this.lane - 2);
      if (this.lane >= 10 || w % 4 === 0) {
        c.fillStyle = soft;
        c.textAlign = "left";
        c.fillText(this.gutter < 40 ? String(w) : `worker ${w}`, 4, y + this.lane / 2);
      }
    }
    c.save();
    c.beginPath();
    c.rect(this.gutter, 0, this.width - this.gutter, this.height);
    c.clip();
    for (let w = 0; w < workers; w++) this.worker(c, w);
    this.steals(c);
    c.restore();
  }

  axis(c) {
    const { soft, grid } = colours(), most = Math.max(2, (this.width - this.gutter) / 90);
    let step = 1;
    for (let i = 0; this.span / step > most; i++) step *= i % 3 === 1 ? 2.5 : 2;
    c.textAlign = "left";
    for (let t = Math.ceil(this.left / step) * step; t <= this.left + this.span; t += step) {
      c.fillStyle = grid;
      c.fillRect(this.x(t), 0, 1, this.height);
      const label = t.toLocaleString("en"), x = this.x(t) + 3;
      c.fillStyle = soft;
      if (x + c.measureText(label).width < this.width) c.fillText(label, x, AXIS / 2 - 1);
    }
  }

  // worker draws the row of one. What is thinner than a pixel is drawn once a pixel.
  worker(c, w) {
    const s = this.film.spans[w], y = AXIS + w * this.lane + 1, h = this.lane - 2, right = this.left + this.span;
    let drawn = -1;
    for (let i = Math.max(0, lastAt(s.begin.length, (k) => s.begin[k], this.left)); i < s.begin.length && s.begin[i] <= right; i++) {
      const x0 = this.x(s.begin[i]), x1 = this.x(s.end[i]);
      if (x1 <= drawn) continue;
      const from = Math.max(x0, drawn);
      c.fillStyle = colour(s.thread[i], this.film.threads);
      c.fillRect(from, y, Math.max(0.5, x1 - from - (x1 - x0 > 5 ? 1 : 0)), h);
      drawn = x1 - x0 < 0.5 ? from + 0.5 : x1;
    }
  }

  steals(c) {
    const f = this.film, all = f.thefts, from = lastAt(all.length, (k) => f.time(all[k]), this.left - 1) + 1;
    const to = lastAt(all.length, (k) => f.time(all[k]), this.left + this.span) + 1;
    c.strokeStyle = c.fillStyle = colours().steal;
    c.globalAlpha = to - from > 200 ? 0.25 : 0.85;
    c.lineWidth = 1;
    for (let k = from; k < to && to - from <= MOST_LINES; k++) {
      const e = f.event(all[k]), x = this.x(e.time + 0.5), y = AXIS + (e.worker + 0.5) * this.lane;
      c.beginPath();
      c.moveTo(x, e.other < 0 ? AXIS : AXIS + (e.other + 0.5) * this.lane);
      c.lineTo(x, y);
      c.stroke();
      c.beginPath();
      c.arc(x, y, Math.min(2.5, this.lane / 4), 0, 7);
      c.fill();
    }
    c.globalAlpha = 1;
  }

  // cursor marks the step.
  cursor(c, t) {
    const x = this.x(t), width = Math.max(2, this.x(t + 1) - x), { accent } = colours();
    if (x < this.gutter - 1) return;
    c.fillStyle = accent;
    c.globalAlpha = 0.18;
    c.fillRect(x, 0, width, this.height);
    c.globalAlpha = 1;
    c.fillRect(x, 0, 2, this.height);
  }
}
