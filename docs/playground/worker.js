// The simulator, on a thread of its own, so that the page answers while it runs.

import "./wasm_exec.js";

// simulator returns the bytes of the WebAssembly. Some servers say that the file is packed, and the browser has unpacked it.
async function simulator() {
  const got = await fetch("sim.wasm.gz");
  if (!got.ok) throw new Error(`sim.wasm.gz: ${got.status}; "make playground" writes it`);
  const bytes = await got.arrayBuffer(), head = new Uint8Array(bytes, 0, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function load() {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await simulator(), go.importObject);
  go.run(instance);
  return JSON.parse(filchMenu());
}

const loaded = load();
loaded.then((menu) => postMessage({ menu }), (e) => postMessage({ failed: String(e.message ?? e) }));

onmessage = async ({ data: { id, request } }) => {
  await loaded;
  try {
    const run = filchRun(request);
    postMessage({ id, run }, run.error ? [] : [run.depths.buffer, run.events.buffer, run.queues.buffer]);
  } catch (e) { // a mistake of the simulator, or no memory
    postMessage({ id, run: { error: `The simulator has failed: ${e.message}. Load the page again.` } });
  }
};
