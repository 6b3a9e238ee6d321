// The simulator in its worker: what it can run, and runs.

export class Simulator {
  constructor() {
    this.asked = new Map(); // by number, what waits for the answer
    this.last = 0;
    this.worker = new Worker("worker.js", { type: "module" });
    this.menu = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if (data.menu) resolve(data.menu);
        else if (data.failed) reject(new Error(data.failed));
        else this.answer(data);
      };
      this.worker.onerror = (e) => reject(new Error(e.message || "the simulator does not start"));
    });
  }

  answer({ id, run }) {
    this.asked.get(id)(run);
    this.asked.delete(id);
  }

  // run returns a recorded run, or an object with an error.
  async run(request) {
    await this.menu;
    return new Promise((resolve) => {
      this.asked.set(++this.last, resolve);
      this.worker.postMessage({ id: this.last, request });
    });
  }
}
