package workload

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// words counts the words of a text into a map.
//
// par.ReduceInto fits: it has a map for each worker, not for each part of the text, as to put maps
// together takes longer than to count.
var words = &Workload{
	Name:    "words",
	About:   "how often each word is in a made-up text of n words (PBBS)",
	Sizes:   []string{"10000", "2000000", "20000000"},
	Default: []Default{{Size: "2000000"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("words", size, 0, 1<<26)
		if err != nil {
			return nil, err
		}
		var text []byte
		return &Job{
			Load: func() { text = newText(n) },
			Serial: func() string {
				t := newTally()
				t.count(text)
				return t.String()
			},
			Func: func(p filch.Scope) string {
				return par.ReduceInto(p, textParts(text), newTally,
					func(t *tally, i int) { t.count(textPart(text, i)) }, (*tally).addAll).String()
			},
			Loops: func(each Each) string { return countParts(text, each).String() },
		}, nil
	},
}

// newText makes up a text of n words. The k-th word of a vocabulary is there in proportion to
// 1/k, as Zipf found it in languages.
func newText(n int) []byte {
	rng := splitmix(37)
	const vocabulary = 20_000
	var known [vocabulary][]byte
	for i := range known {
		word := make([]byte, 2+rng.below(10))
		for j := range word {
			word[j] = byte('a' + rng.below(26))
		}
		known[i] = word
	}
	var upTo [vocabulary]float64 // sums of 1/k
	sum := 0.0
	for k := range upTo {
		sum += 1 / float64(k+1)
		upTo[k] = sum
	}
	var text []byte
	for range n {
		k, _ := slices.BinarySearch(upTo[:], rng.float()*sum)
		text = append(text, known[k]...)
		text = append(text, ' ')
	}
	return text
}

// tally counts words. The map has where the count of a word is, so that a word that is known
// needs no new string.
type tally struct {
	at     map[string]int32
	counts []int
}

func newTally() *tally { return &tally{at: map[string]int32{}} }

func (t *tally) count(text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, ' ')
		if end < 0 {
			end = len(text)
		}
		if i, ok := t.at[string(text[:end])]; ok {
			t.counts[i]++
		} else {
			t.add(string(text[:end]), 1)
		}
		text = text[min(end+1, len(text)):]
	}
}

// add counts a word n times more.
func (t *tally) add(word string, n int) {
	if i, ok := t.at[word]; ok {
		t.counts[i] += n
		return
	}
	t.at[word] = int32(len(t.counts))
	t.counts = append(t.counts, n)
}

// addAll adds what other has counted.
func (t *tally) addAll(other *tally) {
	for word, i := range other.at {
		t.add(word, other.counts[i])
	}
}

func (t *tally) String() string {
	all, top := 0, []string{}
	for _, n := range t.counts {
		all += n
	}
	byCount := func(a, b string) int {
		return cmp.Or(t.counts[t.at[b]]-t.counts[t.at[a]], strings.Compare(a, b))
	}
	for word := range maps.Keys(t.at) {
		if top = append(top, word); len(top) > 3 {
			slices.SortFunc(top, byCount)
			top = top[:3]
		}
	}
	slices.SortFunc(top, byCount)
	s := fmt.Sprintf("%d words, %d different", all, len(t.counts))
	for _, word := range top {
		s += fmt.Sprintf(", %d %s", t.counts[t.at[word]], word)
	}
	return s
}

// partOfText is about how many bytes are counted at once: some hundreds of microseconds.
const partOfText = 32 << 10

func textParts(text []byte) int { return (len(text) + partOfText - 1) / partOfText }

// textPart returns part i of the text. A word belongs to the part that it begins in.
func textPart(text []byte, i int) []byte {
	return text[wordAt(text, i*partOfText):wordAt(text, (i+1)*partOfText)]
}

// wordAt returns where the first word begins that does not begin before i.
func wordAt(text []byte, i int) int {
	if i == 0 || i >= len(text) {
		return min(i, len(text))
	}
	space := bytes.IndexByte(text[i-1:], ' ')
	if space < 0 {
		return len(text)
	}
	return i + space
}

// countParts counts the parts of a text, into as many tallies as are needed at the same time.
func countParts(text []byte, each Each) *tally {
	var mu sync.Mutex
	var all, idle []*tally
	take := func() *tally {
		mu.Lock()
		defer mu.Unlock()
		if last := len(idle) - 1; last >= 0 {
			t := idle[last]
			idle = idle[:last]
			return t
		}
		t := newTally()
		all = append(all, t)
		return t
	}
	each(textParts(text), func(i int) {
		t := take()
		t.count(textPart(text, i))
		mu.Lock()
		idle = append(idle, t)
		mu.Unlock()
	})
	sum := newTally()
	for i, t := range all {
		if i == 0 {
			sum = t
		} else {
			sum.addAll(t)
		}
	}
	return sum
}
