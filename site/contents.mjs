// The contents of the site: groups of the sidebar, with the Markdown files of the repository that are their pages. A page has the name
// that follows its file, and the title that comes last, or its first heading. Without a file, an entry is a link to a part of another page.

export const contents = [
  ["Start in five minutes", [["README.md", "index", "filch"], ["docs/tutorial.md", "tutorial"], ["docs/README.md", "path", "Path through the documents"]]],
  ["Choose", [["docs/programs.md", "programs"], ["docs/compared.md", "compared"]]],
  ["Recursion", [["", "tutorial#3-halves-of-halves", "Func: recursion of any depth"], ["", "tutorial#5-a-search-that-ends-early", "A search that ends early"], ["docs/parallelism.md", "parallelism"], ["strand/README.md", "strand", "Continuation stealing: strand"]]],
  ["Tasks", [["", "tutorial#6-tasks-that-wait-for-tasks", "Tasks that wait for tasks"], ["", "service#limits", "Limits and priorities"], ["ordered/README.md", "ordered", "Queues by priority: ordered"]]],
  ["Loops", [["docs/choosing.md", "choosing"], ["par/README.md", "par", "Inside of par"]]],
  ["Graphs", [["", "programs#build", "A graph of builds"], ["flow/README.md", "flow", "Static graphs: flow"]]],
  ["Services", [["docs/service.md", "service"], ["docs/metrics.md", "metrics"]]],
  ["Several machines", [["docs/cluster.md", "cluster"], ["cluster/README.md", "cluster-internals", "How a task goes through the servers"]]],
  ["See what it does", [["docs/sight.md", "sight"], ["trace/live/README.md", "live", "The live page"], ["trace/README.md", "trace", "Package trace"]]],
  ["When it is stuck", [["docs/debugging.md", "debugging"]]],
  ["Mistakes", [["docs/mistakes.md", "mistakes"], ["docs/races.md", "races"]]],
  ["Theory", [["docs/stealing.md", "stealing"], ["site/playground.md", "playground"], ["docs/theory.md", "theory"], ["docs/simulator.md", "simulator"]]],
  ["Performance", [["docs/performance.md", "performance"]]],
  ["Migrating", [["docs/migrating.md", "migrating"]]],
  ["Benchmarks", [["site/benchmarks.md", "benchmarks"], ["bench/README.md", "rivals"]]],
  ["Internals", [["DESIGN.md", "design"], ["docs/design/atomics.md", "atomics"], ["docs/design/tried.md", "tried"], ["internal/engine/README.md", "engine"],
    ["internal/task/README.md", "task"], ["internal/place/README.md", "place"], ["deque/README.md", "deque"], ["steal/README.md", "steal"],
    ["internal/affinity/README.md", "affinity"], ["internal/checks/README.md", "checks"], ["internal/span/README.md", "span"],
    ["internal/tell/README.md", "tell"], ["internal/views/README.md", "views"], ["internal/simd/README.md", "simd"],
    ["internal/explore/README.md", "explore"], ["test/README.md", "tests"], ["bench/queues/README.md", "bench-queues"], ["CONTRIBUTING.md", "contributing"]]],
  ["Reference", [["site/reference.md", "reference"], ["docs/cluster-command.md", "cluster-command"], ["docs/glossary.md", "glossary"], ["docs/stability.md", "stability"], ["CHANGELOG.md", "changelog"], ["SECURITY.md", "security"]]],
];
