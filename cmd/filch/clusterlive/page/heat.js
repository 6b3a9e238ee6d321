// The matrix of which node has fetched tasks of which.

import { count } from "./text.js";

const COLUMNS = 50; // those with the most tasks; the others are one column

const title = (name) => name || "others"; // a node counts only so many apart

function cell(tag, text, hint = text, kind = "") {
  return Object.assign(document.createElement(tag), { textContent: text, title: hint, className: kind });
}

function head(scope, name) {
  const th = cell("th", "", name), span = document.createElement("span");
  span.textContent = name;
  th.scope = scope;
  th.append(span);
  return th;
}

// showSteals draws a row for each node that has fetched tasks, and a column for each that had submitted them.
export function showSteals(table, text, nodes) {
  const thieves = nodes.filter((n) => !n.gone && n.from.size), key = JSON.stringify(thieves.map((n) => [n.name, [...n.from]]));
  if (table.dataset.key === key) return;
  table.dataset.key = key;
  const totals = new Map();
  for (const n of thieves) for (const [victim, k] of n.from) totals.set(victim, (totals.get(victim) ?? 0) + k);
  const all = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const natural = (a, b) => title(a).localeCompare(title(b), "en", { numeric: true });
  const victims = all.slice(0, COLUMNS).sort(natural), rest = all.slice(COLUMNS);
  const most = Math.log2(1 + Math.max(0, ...thieves.flatMap((n) => victims.map((v) => n.from.get(v) ?? 0)))) || 1;
  table.classList.toggle("many", victims.length > 8);
  if (!thieves.length) {
    table.tHead.replaceChildren();
    table.tBodies[0].replaceChildren();
    text.textContent = "No node has fetched a task.";
    return;
  }
  const top = document.createElement("tr");
  top.append(cell("td", "", "fetched by"), ...victims.map((v) => head("col", title(v))), ...(rest.length ? [head("col", `${rest.length} more`)] : []), head("col", "all"));
  table.tHead.replaceChildren(top);
  table.tBodies[0].replaceChildren(...thieves.map((n) => row(n, victims, rest, most)));
  text.textContent = words(thieves);
}

function row(n, victims, rest, most) {
  const tr = document.createElement("tr");
  tr.append(head("row", n.name), ...victims.map((v) => {
    const k = n.from.get(v) ?? 0, own = v === n.name, td = cell("td", k ? count(k) : "", `${n.name} has fetched ${k} tasks of ${own ? "its own" : title(v)}`, own ? "own" : "");
    if (k) td.style.background = `rgba(var(--heat), ${(.06 + .36 * Math.log2(1 + k) / most).toFixed(3)})`;
    return td;
  }));
  const sum = (names) => names.reduce((s, v) => s + (n.from.get(v) ?? 0), 0);
  if (rest.length) tr.append(cell("td", count(sum(rest))));
  tr.append(cell("td", count(sum([...n.from.keys()])), "all", "all"));
  return tr;
}

// words says in words what most of it is.
function words(thieves) {
  const pairs = thieves.flatMap((n) => [...n.from].filter(([v, k]) => v !== n.name && k).map(([v, k]) => [n.name, title(v), k])).sort((a, b) => b[2] - a[2]);
  if (!pairs.length) return "No node has fetched tasks of another.";
  return `Most: ${pairs.slice(0, 3).map(([a, b, k]) => `${a} from ${b} (${count(k)})`).join(", ")}.`;
}
