// One run on the page: figures, the workers at the step, and in time.

import { Spawned, Enabled, Attempted, Stole, Slept, Woken } from "./film.js";
import { drawLanes } from "./lanes.js";
import { Rows } from "./rows.js";

const MOST_WORDS = 6; // events that are told

export class Panel {
  // go is called with a step that the pointer chooses.
  constructor(parent, go) {
    const copy = document.getElementById("panel").content.cloneNode(true);
    this.root = copy.firstElementChild;
    this.get = (selector) => this.root.querySelector(selector);
    parent.append(copy);
    this.rows = new Rows(this.get(".rows"));
    const choose = (e) => { if (e.buttons & 1) go(this.rows.time(e.offsetX)); };
    this.get(".rows").addEventListener("pointerdown", choose);
    this.get(".rows").addEventListener("pointermove", choose);
  }

  show(film, about) {
    this.film = film;
    const r = film.result, name = `${r.dag || "graph"} by ${r.scheduler}`;
    this.get("h2").textContent = name;
    this.get(".about").textContent = about;
    this.get(".lanes").parentElement.setAttribute("aria-label", `Workers of ${name}`);
    this.get(".rows").parentElement.setAttribute("aria-label", `Time of ${name}`);
    this.get(".rows").setAttribute("aria-label", `What each worker of ${name} ran, and steals`);
    this.get(".lanes").parentElement.scrollTop = 0;
  }

  // draw draws step t. The steps from left on are shown in time, so many.
  draw(t, left, span, playing) {
    const f = this.film;
    drawLanes(this.get(".lanes"), f, t);
    this.rows.draw(f, t, left, span);
    this.tiles(t);
    const words = this.words(t), now = this.get(".now");
    now.setAttribute("aria-live", playing ? "off" : "polite");
    now.textContent = words;
    this.get(".lanes").setAttribute("aria-label", this.describe(t));
  }

  tiles(t) {
    const f = this.film, r = f.result, n = f.counts(t);
    let waiting = 0;
    for (let w = f.common ? -1 : 0; w < r.workers; w++) waiting += f.queue(w, t).size;
    const figures = {
      step: [Math.min(t, f.end), `of ${f.end}`], running: [n.running, `of ${r.workers}`], steals: [n.steals, `of ${r.steals}`],
      attempts: [n.attempts, `of ${r.attempts}`], "idle so far": [`${(100 * n.idle).toFixed(1)}%`, ""], "threads alive": [n.live, `at most ${r.max_live}`],
      "in deques": [waiting, ""], "speed-up": [(r.t1 / Math.max(1, r.time)).toFixed(2), "of the run"],
    };
    this.get(".tiles").replaceChildren(...Object.entries(figures).map(([name, [figure, of]]) => {
      const div = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd"), small = document.createElement("small");
      dt.textContent = name, dd.textContent = `${figure} `, small.textContent = of;
      dd.append(small);
      div.append(dt, dd);
      return div;
    }));
  }

  // words tells what happens at step t.
  words(t) {
    const f = this.film;
    if (t > f.end) return `The run has ended at step ${f.end}.`;
    const at = f.at(t).sort((a, b) => (b.kind === Stole) - (a.kind === Stole)), all = at.map(sentence).filter(Boolean), misses = at.filter((e) => e.kind === Attempted).length;
    const told = all.slice(0, MOST_WORDS);
    if (all.length > told.length) told.push(`And ${all.length - told.length} more.`);
    if (misses) told.push(misses === 1 ? "One attempt to steal finds nothing." : `${misses} attempts to steal find nothing.`);
    if (t === f.end) told.push("The run ends.");
    return `Step ${t}: ${told.join(" ") || "all go on."}`;
  }

  // describe says what the picture of the workers shows.
  describe(t) {
    const f = this.film, parts = [];
    for (let w = 0; w < Math.min(f.result.workers, 16); w++) {
      const s = f.worker(w, t), size = f.queue(w, t).size;
      parts.push(`worker ${w} ${s.runs !== undefined ? `runs thread ${s.runs}` : s.takes !== undefined ? `takes thread ${s.takes}` : s.sleeps ? "sleeps" : "is idle"}, ${size} in its deque`);
    }
    return `Step ${t}: ${parts.join("; ")}`;
  }
}

// sentence says what an event is, or nothing if it goes without saying.
function sentence({ kind, worker, other, thread }) {
  switch (kind) {
    case Stole: return other < 0 ? `Worker ${worker} takes thread ${thread} from the queue.` : `Worker ${worker} steals thread ${thread} from worker ${other}.`;
    case Spawned: return thread === 0 ? `Worker ${worker} begins the program: thread 0.` : `Worker ${worker} spawns thread ${thread}.`;
    case Enabled: return `Thread ${thread} has no children left to wait for.`;
    case Slept: return `Worker ${worker} sleeps.`;
    case Woken: return `Worker ${worker} wakes worker ${other}.`;
    default: return "";
  }
}
