// Command mutate tells what the tests do not notice. It changes the source in small ways, a
// comparison or a statement at a time, and runs the tests on each of these mutants. One that
// survives is a line that no test depends on.
//
//	go run ./internal/mutate -seed 7 -n 50
//
// takes 50 mutants, evenly from all files; the seed says which. It prints a line for each,
// and at the end a table of the scores by file. The source is not edited: mutants are
// overlays of the go command. With -table it makes a table of what was printed before:
//
//	go run ./internal/mutate -table a.txt b.txt
//
// gremlins (github.com/go-gremlins/gremlins 0.6) was compared: its mutants are a subset of these, without statements left out, numbers
// and returns, and are judged by the tests of their own package alone, without the race detector. Of its 88 of internal/place, 18 are
// "not covered" and 5 survive; the tests of the engine kill most of these. It keeps no list of what cannot be killed.
//
// equivalents.txt lists the mutants that no test can kill; they do not count. breaks.txt lists those that
// certain tests must kill; -breaks runs them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// what is what the flags say.
type what struct {
	seed    uint64
	n, at   int
	perTest time.Duration
	only    string
	match   *regexp.Regexp
	own     bool
}

func main() {
	var w what
	flag.Uint64Var(&w.seed, "seed", 1, "which mutants")
	flag.IntVar(&w.n, "n", 50, "how many")
	flag.StringVar(&w.only, "only", "", "only files whose path begins with one of these, separated by commas")
	match := flag.String("match", "", "only mutants whose line of output matches this")
	flag.IntVar(&w.at, "p", 2, "how many are tested at a time")
	flag.DurationVar(&w.perTest, "timeout", time.Minute, "how long a test may take")
	flag.BoolVar(&w.own, "own", false, "run only the tests of a mutant's own package")
	tables := flag.Bool("table", false, "print the table of the files that are named, and run nothing")
	show := flag.Bool("list", false, "print all mutants, and run nothing")
	breaks := flag.Bool("breaks", false, "run the breaks of breaks.txt instead")
	flag.Parse()
	var err error
	if w.match, err = regexp.Compile(*match); err == nil {
		switch {
		case *tables:
			err = printTables(os.Stdout, flag.Args())
		case *breaks:
			err = runBreaks(w, os.Stdout)
		default:
			err = run(w, *show)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(w what, show bool) error {
	dir, err := root()
	if err != nil {
		return err
	}
	es, err := equivalents(list)
	if err != nil {
		return fmt.Errorf("equivalents.txt: %w", err)
	}
	files, err := allMutants(dir)
	if err != nil {
		return err
	}
	warn(os.Stderr, files, es)
	for file := range files {
		files[file] = slices.DeleteFunc(files[file], func(m mutant) bool { return !w.wants(m) })
	}
	ms := sample(files, w.seed)
	if show {
		for _, m := range ms {
			fmt.Println(m)
		}
		return nil
	}
	s := &session{runner: runner{dir, w.perTest, w.own}, equivalents: es, out: os.Stdout, scores: scores{}}
	if err := s.sound(ms[:min(len(ms), w.n)]); err != nil {
		return err
	}
	fmt.Printf("# seed %d, %d mutants\n", w.seed, w.n)
	return s.all(ms, w.n, w.at)
}

func (w what) wants(m mutant) bool {
	for prefix := range strings.SplitSeq(w.only, ",") {
		if strings.HasPrefix(m.file, prefix) {
			return w.match.MatchString(m.String())
		}
	}
	return false
}

// warn tells which entries of the list are of no use.
func warn(out io.Writer, files map[string][]mutant, es []*equivalent) {
	used := map[*equivalent]bool{}
	for _, ms := range files {
		for _, m := range ms {
			used[find(es, m)] = true
		}
	}
	for _, e := range es {
		if !used[e] {
			fmt.Fprintf(out, "equivalents.txt: there is no such mutant any more: %s: %s: %s\n", e.file, e.function, oneLine(e.before))
		}
	}
}

// root returns the folder of the module, in or below which the command runs.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("there is no go.mod in this folder or above")
		}
		dir = up
	}
}

// allMutants returns the mutants of each file that is compiled on this platform.
func allMutants(dir string) (map[string][]mutant, error) {
	packages, err := mutated(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]mutant{}
	for _, p := range packages {
		for _, name := range p.GoFiles {
			file := path.Join(p.folder, name)
			source, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				return nil, err
			}
			ms, err := mutants(file, source)
			if err != nil {
				return nil, err
			}
			if len(ms) > 0 {
				files[file] = ms
			}
		}
	}
	return files, nil
}

// sample returns the mutants in the order in which they are taken: one of each file in turn, and
// of each file in an order that depends on the seed and its name alone.
func sample(files map[string][]mutant, seed uint64) (all []mutant) {
	names := slices.Collect(maps.Keys(files))
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	shuffled := map[string][]mutant{}
	for _, name := range names {
		h := fnv.New64a()
		io.WriteString(h, name)
		ms := slices.Clone(files[name])
		rand.New(rand.NewPCG(seed, h.Sum64())).Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
		shuffled[name] = ms
	}
	for turn := 0; len(names) > 0; turn++ {
		names = slices.DeleteFunc(names, func(name string) bool { return turn == len(shuffled[name]) })
		for _, name := range names {
			all = append(all, shuffled[name][turn])
		}
	}
	return all
}

// A session judges many mutants.
type session struct {
	runner
	equivalents []*equivalent

	mu     sync.Mutex
	out    io.Writer
	scores scores
	queue  []mutant
	left   int // how many are still to be begun
}

// all judges so many of ms as n says, at most at of them at a time. What does not compile does
// not count.
func (s *session) all(ms []mutant, n, at int) error {
	s.queue, s.left = ms, n
	errs := make(chan error, at)
	for range at {
		go func() { errs <- s.some() }()
	}
	var failed error
	for range at {
		failed = errors.Join(failed, <-errs)
	}
	s.scores.print(s.out)
	return failed
}

func (s *session) some() error {
	for s.begin() {
		for {
			m, ok := s.next()
			if !ok {
				return nil
			}
			begun := time.Now()
			v, err := s.one(m)
			if err != nil {
				return err
			}
			if v.how != broken {
				s.note(m, v, time.Since(begun))
				break
			}
		}
	}
	return nil
}

// begin reports whether another mutant is to be judged.
func (s *session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left--
	return s.left >= 0
}

func (s *session) next() (m mutant, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return m, false
	}
	m, s.queue = s.queue[0], s.queue[1:]
	return m, true
}

func (s *session) one(m mutant) (verdict, error) {
	if e := find(s.equivalents, m); e != nil {
		return verdict{equal, e.reason}, nil
	}
	return s.judge(m)
}

// note prints and counts a verdict.
func (s *session) note(m mutant, v verdict, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%s\t%s\t%s\t%.0fs\n", v.how, m, v.by, took.Seconds())
	s.scores.add(m.file, v.how)
}
