// The charts, and the matrix of steals.

import { count } from "./text.js";
import { Plot } from "./plot.js";

const charts = {
  through: [["done", "tasks done", "c0"], ["forks", "forks published", "c2"], ["steals", "steals", "arrow"]],
  queues: [["queued", "queued", "c0"], ["running", "running", "c2"], ["blocked", "blocked goroutines", "c1"], ["held", "held", "c3"]],
};

export class Charts {
  constructor(store) {
    this.store = store;
    this.plots = { through: new Plot("through", { logs: true }), queues: new Plot("queues") }; // throughputs differ by far
  }
  restyle() { for (const plot of Object.values(this.plots)) plot.restyle(); }
  resize() { for (const plot of Object.values(this.plots)) plot.resize(); }
  draw() {
    const { series } = this.store;
    for (const [id, plot] of Object.entries(this.plots)) plot.show(series.t, charts[id].map(([key, label, colour]) => ({ label, colour, values: series[key] })));
  }
}

// drawSteals draws a row for each thief and a column for each victim.
export function drawSteals(canvas, note, text, store, lanes) {
  const n = Math.max(1, store.workers), room = Math.min(canvas.parentElement.clientWidth - 24, 420);
  const margin = 28, cell = Math.max(2, Math.min(40, Math.floor((room - margin) / n))), size = margin + n * cell + 8;
  const ratio = Math.min(2, window.devicePixelRatio || 1), c = canvas.getContext("2d");
  if (canvas.width !== Math.round(size * ratio)) {
    canvas.width = canvas.height = Math.round(size * ratio);
    canvas.style.width = `${size}px`;
    canvas.style.height = `${size}px`;
  }
  const style = getComputedStyle(document.documentElement), heat = style.getPropertyValue("--heat").trim();
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, size, size);
  c.fillStyle = lanes.place;
  c.fillRect(margin, margin, n * cell, n * cell);
  const pairs = store.pairs(), most = Math.log2(1 + (pairs[0]?.[2] ?? 0)) || 1;
  c.font = "10px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const [thief, victim, k] of pairs) {
    const part = Math.log2(1 + k) / most, x = margin + victim * cell, y = margin + thief * cell;
    c.fillStyle = `rgba(${heat}, ${.12 + .88 * part})`;
    c.fillRect(x, y, cell - (cell > 4 ? 1 : 0), cell - (cell > 4 ? 1 : 0));
    if (cell < 30) continue;
    c.fillStyle = part > .55 ? lanes.card : lanes.ink;
    c.fillText(count(k), x + cell / 2, y + cell / 2);
  }
  c.fillStyle = lanes.soft;
  const every = Math.ceil(14 / cell);
  for (let i = 0; i < n; i += every) {
    c.fillText(String(i), margin + (i + .5) * cell, margin - 8);
    c.fillText(String(i), margin - 10, margin + (i + .5) * cell);
  }
  const all = (store.stats?.Steals ?? 0) + (store.stats?.Tasks.Stolen ?? 0);
  note.textContent = `rows: thief, columns: victim; ${count(store.stolen)} seen, ${count(all)} in all`;
  text.textContent = pairs.length ? `Most: ${pairs.slice(0, 3).map(([a, b, k]) => `worker ${a} from ${b} (${count(k)})`).join(", ")}.` : "No steal has been seen.";
}
