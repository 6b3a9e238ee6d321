# What takes more than one command.

# fill puts what it reads between the marks of a page: $(call fill,mark,page).
fill = sed -i -e '/<!-- $(1) -->/,/<!-- end -->/{//!d}' -e '/<!-- $(1) -->/r /dev/stdin' $(2)

# The figures in README.md and docs/bench, from this machine, which should be idle.
figures: BENCH = go run -pgo=off ./cmd/filch bench -v
figures:
	mkdir -p docs/bench
	$(BENCH) --runs 5 --bars --json docs/bench/all.json > docs/bench/all.txt
	$(BENCH) wide --size 4 --size 5 --size 8 --executors filch,filch-chain --workers 1 --runs 15 --json docs/bench/wide.json > docs/bench/wide.txt
	$(BENCH) fib treesum nqueens skynet integrate uts --builds --runs 9 --executors at-once,filch,filch-call,filch-chain \
		--size fib=27,treesum=1023,nqueens=11,skynet=100000,integrate=25,uts=T1/7 --json docs/bench/pgo.json > docs/bench/pgo.txt
	$(BENCH) tasks --runs 5 --json docs/bench/tasks.json > docs/bench/tasks.txt
	$(BENCH) service --runs 5 --bars --json docs/bench/service.json > docs/bench/service.txt
	$(BENCH) strand --runs 5 --json docs/bench/strand.json > docs/bench/strand.txt
	$(BENCH) sssp --runs 5 --bars --json docs/bench/sssp.json > docs/bench/sssp.txt
	go test -run - -bench . -count 5 -benchtime 0.2s ./ordered ./internal/queue > docs/bench/ordered.txt
	go test -run - -bench Rank -benchtime 300000x ./ordered >> docs/bench/ordered.txt
	go test -run - -bench MillionTasks -count 5 ./test/benchmarks >> docs/bench/ordered.txt
	$(BENCH) par --runs 5 --bars --json docs/bench/par.json > docs/bench/par.txt
	go test -run - -bench SortInputs -benchtime 5x ./par > docs/bench/sort.txt
	(echo "go: $$(go env GOVERSION)"; echo "date: $$(date -u +%F)"; go test -run - -bench Programs -count 5 ./examples/programs) > docs/bench/programs.txt
	$(BENCH) par --runs 5 --size 10,100,1000 --markdown | $(call fill,figures,docs/choosing.md)
	$(BENCH) fib nqueens skynet integrate treesum uts quicksort mergesort matmul goparse pizza \
		--size fib=27,nqueens=11,skynet=100000,integrate=25,treesum=131071,uts=T1/7 \
		--size quicksort=1000000,mergesort=1000000,matmul=512,goparse=sample,pizza=1/10 \
		--executors goroutine,semaphore,basic,filch-join,filch,filch-chain --workers 2 --runs 9 \
		--markdown --json docs/bench/summary.json | $(call fill,figures,README.md)
	$(MAKE) sim-figures cluster-figures
	$(MAKE) pictures
	FILCH_FIGURES=write go test -count 1 -run Figures ./test/upkeep
	go test -count 1 -run 'Figures|SmallCalls|Machine' ./test/upkeep

# Simulated runs against measured ones, and the policies that the pool could have instead.
sim-figures:
	go run -pgo=off ./cmd/filch sim --record fib=30 --record uts=T1/7 --record sssp=15 --record mergesort=1000000 \
		--markdown --json docs/bench/sim-record.json | $(call fill,record,docs/simulator.md)
	go run -pgo=off ./cmd/filch sim --tune --markdown --json docs/bench/sim-tune.json | $(call fill,tune,docs/simulator.md)

# Package cluster beside others. River on Postgres and asynq need packages of Debian: postgresql, redis-server.
cluster-figures:
	go run -pgo=off ./cmd/filch bench cluster --runs 5 --bars --markdown --json docs/bench/cluster.json | $(call fill,cluster,docs/cluster.md)

# The charts, pictures and tables in README.md and docs, from the figures that are kept in docs/bench.
pictures:
	go run ./internal/pictures
	for name in summary tasks; do go run ./cmd/filch bench --from docs/bench/$$name.json --svg docs/pictures/$$name || exit; done

# A page with all pictures in both themes, to look at. Afterwards, FILCH_PICTURES=write keeps what they look like:
# FILCH_PICTURES=write FILCH_THOROUGH=1 go test -run LookAlike ./internal/pictures
pictures-sheet:
	go run ./internal/pictures -sheet /tmp/pictures.html
	@echo open /tmp/pictures.html

# What the page in docs/playground runs: the simulator for browsers, and what Go has to start it.
playground:
	GOOS=js GOARCH=wasm go build -trimpath -buildvcs=false -ldflags "-s -w" -o docs/playground/sim.wasm ./internal/playground/wasm
	chmod -x docs/playground/sim.wasm
	gzip -9nf docs/playground/sim.wasm
	cp "$$(go env GOROOT)/lib/wasm/wasm_exec.js" docs/playground/
	cp "$$(go env GOROOT)/LICENSE" docs/playground/wasm_exec.LICENSE.txt

# The documents as a site, in site/.vitepress/dist; site-preview serves it.
site:
	site/build
site-preview: site
	cd site && node_modules/.bin/vitepress preview

# The tables and the pictures of docs/theory.md, by the commands in it. They are the same on every machine.
theory:
	FILCH_THOROUGH=1 FILCH_THEORY=write go test -count 1 -run Theory ./cmd/filch

# The profiles that guide the compiler, for the command and the examples that compute; see
# docs/performance.md. The go command uses them where they lie.
pgo:
	go run -pgo=off ./cmd/filch bench fib nqueens skynet treesum integrate uts quicksort mergesort --runs 15 \
		--executors filch,filch-call,filch-chain,filch-join --size fib=27,nqueens=11,skynet=100000,integrate=25,uts=T1/7 \
		--size treesum=1023,treesum=131071,quicksort=300000,mergesort=300000 --cpuprofile cmd/filch/default.pgo.new > /dev/null
	mv cmd/filch/default.pgo.new cmd/filch/default.pgo
	go run ./internal/pgo $(addprefix examples/,filter gzip kmeans knapsack mandelbrot matmul suite wordcount)

# The rivals in other languages, from Debian's packages; see bench/README.md.
rivals:
	bench/run > docs/bench/rivals.txt

# A release, before its tags are made; see CONTRIBUTING.md.
release-prepare release-check:
	go run ./internal/release $(@:release-%=%) $(VERSION)

# go mod tidy for the modules that require the root.
tidy:
	go mod tidy
	cd internal/explore && go mod tidy
	go run ./internal/release tidy
	cd plugin/plugintest && GOWORK=off go mod tidy
	cd trace/formats && GOWORK=off go mod tidy
	cd bench/queues && GOWORK=off go mod tidy

# What each package exports, a declaration a line.
api:
	go run ./internal/exported

# How long the tests take that CONTRIBUTING.md begins with, on processors that should be idle; the median counts.
times:
	@for i in 1 2 3; do for what in "-short ./..." work; do \
		begin=$$(date +%s); go test -count=1 $$what >/dev/null || exit; echo "$$(($$(date +%s) - begin)) s  go test -count=1 $$what"; \
	done; done

# The structure in figures: files, references, methods; see DESIGN.md.
house:
	go run ./internal/house

# What the first program of README.md takes, and the ten packages with the most code and data in it.
size:
	@dir=$$(mktemp -d) && awk '/^```/{if (on) exit; next} /^package main/{on = 1} on' README.md >$$dir/main.go && \
	go build -trimpath -o $$dir/hello $$dir/main.go && \
	echo "$$(stat -c %s $$dir/hello) bytes, $$(go list -deps $$dir/main.go | grep -v command-line | grep -vc '\.') packages of the standard library, $$(go list -deps $$dir/main.go | grep -c filch-go) of filch" && \
	go tool nm -size $$dir/hello | awk '$$3 ~ /[TtRrDd]/ {s = $$4; sub(/\[.*/, "", s); n = split(s, a, "/"); sub(/\..*/, "", a[n]); p = ""; for (i = 1; i < n; i++) p = p a[i] "/"; t[p a[n]] += $$2} END {for (p in t) printf "%8d %s\n", t[p], p}' | sort -rn | head; \
	rm -r $$dir

# What the tests do not notice: make mutants SEED=7 N=50. It takes some ten seconds for a mutant.
SEED ?= 1
N ?= 50
mutants:
	go run ./internal/mutate -seed $(SEED) -n $(N)

.PHONY: pictures-sheet site site-preview figures sim-figures pictures playground release-prepare release-check pgo rivals tidy api house size mutants theory
