# What takes more than one command.

# The figures in README.md and docs/bench. The machine should be idle.
figures:
	mkdir -p docs/bench
	go run ./cmd/filch bench --json docs/bench/all.json > docs/bench/all.txt
	go run ./cmd/filch bench fib --size 30 --json docs/bench/fib.json > docs/bench/fib.txt
	go run ./cmd/filch readme docs/bench/fib.json README.md

.PHONY: figures
