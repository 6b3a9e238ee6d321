// Numbers in words, text that goes into tables, and what comes from a file made into what it should be.

// span returns how long some nanoseconds are, in words.
export function span(ns) {
  const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 6e10], ["h", 3.6e12]];
  let unit = units[0];
  for (const u of units) if (ns >= u[1]) unit = u;
  const n = ns / unit[1];
  return `${n >= 100 || unit[1] === 1 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)} ${unit[0]}`;
}

// count returns a number with few digits.
export function count(n) {
  if (n >= 1e9) return `${(n / 1e9).toFixed(1)} G`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  if (n >= 1e4) return `${(n / 1e3).toFixed(1)} k`;
  return n >= 10 || Number.isInteger(n) ? n.toFixed(0) : n.toFixed(1);
}

// rows makes a table's body have these rows. A cell is a text, or a text, a class and a longer text. Text is only ever set as text.
export function rows(body, all) {
  while (body.rows.length > all.length) body.deleteRow(-1);
  while (body.rows.length < all.length) body.insertRow();
  all.forEach((cells, i) => {
    const row = body.rows[i];
    while (row.cells.length < cells.length) row.insertCell();
    cells.forEach((of, k) => {
      const cell = row.cells[k], [text, kind, whole = text] = Array.isArray(of) ? of : [of ?? "", ""];
      if (cell.textContent !== text) cell.textContent = text;
      if (cell.title !== whole) cell.title = whole;
      if (cell.className !== kind) cell.className = kind;
    });
  });
}

// items makes a list have these lines, each a text and a class, if they are others than before.
export function items(list, lines) {
  const key = JSON.stringify(lines);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  list.replaceChildren(...lines.map(([textContent, className]) => Object.assign(document.createElement("li"), { textContent, className })));
}

// figures makes a list of definitions have these, each a name and a value.
export function figures(list, all) {
  while (list.children.length < all.length) {
    const div = document.createElement("div");
    div.append(document.createElement("dt"), document.createElement("dd"));
    list.append(div);
  }
  all.forEach(([name, value], i) => {
    list.children[i].children[0].textContent = name;
    list.children[i].children[1].textContent = value;
  });
}

// What comes from a file may be anything. Numbers are those that a double counts by ones, so that a time and a little more differ.
export const MOST = Number.MAX_SAFE_INTEGER;
export const number = (x) => (Number.isFinite(x) ? Math.min(MOST, Math.max(-MOST, x)) : 0);
export const whole = (x, most = MOST) => Math.min(most, Math.max(0, Math.trunc(number(x))));
export const list = (a, most = 1 << 12) => (Array.isArray(a) ? a.slice(0, most) : []);
export const text = (x) => String(x ?? "").slice(0, 400);
export const words = (x) => (typeof x === "string" ? text(x) : "");
