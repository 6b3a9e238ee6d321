package event

import (
	"math"
	"strings"
	"testing"
)

// The form is what others read, and files are compared with.
func TestEventsAreReadAsTheyAreWritten(t *testing.T) {
	for line, e := range map[string]Event{
		"   12.300us  worker 1   steals fork 2.1 from worker 0":                   {12300, Stolen, 1, 0, ForkID(2, 1), "", 0},
		"worker 0   publishes fork 0.7":                                           {0, Published, 0, -1, ForkID(0, 7), "", 0},
		"    0.001us  pool       accepts task 7 \"index of \\\"a b\\\"\"":         {1, Submitted, -1, -1, 7, `index of "a b"`, 0},
		"   -0.001us  worker 12  starts task 7":                                   {-1, Started, 12, -1, 7, "", 0},
		"worker 12345678 waits for fork 1.2 on worker 1":                          {0, Blocked, 12345678, 1, ForkID(1, 2), "", 0},
		"9223372036854775.807us  worker 0   passes its slot on to worker 1":       {math.MaxInt64, PassedOn, 0, 1, 0, "", 0},
		"-9223372036854775.808us  worker 0   waits for fork 0.0":                  {math.MinInt64, Blocked, 0, -1, 0, "", 0},
		"pool       has slots beyond its limit: 2":                                {0, Extra, -1, -1, 2, "", 0},
		"worker 3   is woken":                                                     {0, Woken, 3, -1, 0, "", 0},
		"worker 3   is woken #5 by worker 2 \"us \"":                              {0, Woken, 3, 2, 5, "us ", 0},
		"worker 3   takes back fork 16777215.1099511627775":                       {0, TakenBack, 3, -1, math.MaxUint64, "", 0},
		" 1000.000us  worker 0   finishes fork 3.1 of worker 3":                   {1e6, Finished, 0, 3, ForkID(3, 1), "", 0},
		"  999.999us  worker 0   completes task 16777214.1099511627775 \"\\xff\"": {999999, Done, 0, -1, math.MaxUint64, "\xff", 0},
	} {
		if s := e.String(); s != line {
			t.Errorf("%#v is\n%s\nand not\n%s", e, s, line)
		}
		if got, err := Parse(line); got != e || err != nil {
			t.Errorf("%s is read as %#v, %v", line, got, err)
		}
	}
}

// Each kind has a name and a phrase of its own, and is read as what it was.
func TestEachKindHasANameAndAPhrase(t *testing.T) {
	names := map[string]bool{}
	for k := range kinds {
		e := Event{Kind: k, Worker: 2, Other: 1, ID: 5}
		if got, err := Parse(e.String()); got != e || err != nil {
			t.Errorf("%v is read as %v, %v", e, got, err)
		}
		if names[k.String()] || strings.Contains(k.String(), "(") {
			t.Errorf("the name %v", k)
		}
		names[k.String()] = true
	}
	if s := kinds.String(); s != "Kind(34)" {
		t.Errorf("%d kinds, of which the next is %s", kinds, s)
	}
}

// What is no line of an event is refused, with what is wrong in it.
func TestOtherLinesAreRefused(t *testing.T) {
	for line, wrong := range map[string]string{
		"":                                      `""`,
		"worker":                                `""`,
		"worker x   is woken":                   `"x"`,
		"worker -1  is woken":                   `"-1"`,
		"worker 1   is asleep":                  `"is asleep"`,
		"worker 1   is wokenup":                 `"is wokenup"`,
		"worker 1   steals task 1":              `"steals task 1"`,
		"worker 1   steals fork 1":              `""`,
		"worker 1   steals fork 16777216.1":     `"16777216"`,
		"worker 1   steals fork 1.2 of him":     `"of him"`,
		"worker 1   steals fork 1.2 from":       `""`,
		"worker 1   is woken #":                 `""`,
		"worker 1   is woken \"":                `"\""`,
		"12us  worker 1   is woken":             `"12us"`,
		"1.23us  worker 1   is woken":           `"1.23us"`,
		"9223372036854775.808us pool has ended": `"9223372036854775.808us"`,
		"pool accepts task 1099511627776":       `"1099511627776"`,
		"# a remark":                            `"# a remark"`,
	} {
		if e, err := Parse(line); err == nil || !strings.Contains(err.Error(), wrong+" is not expected") {
			t.Errorf("%q is read as %v, %v", line, e, err)
		}
	}
}

// The ID of a fork has both numbers.
func TestTheIDOfAForkHasBothNumbers(t *testing.T) {
	for _, c := range []struct {
		worker int
		n      uint64
	}{{0, 1}, {1, 1}, {1<<24 - 1, 1<<40 - 1}} {
		if w, n := Fork(ForkID(c.worker, c.n)); w != c.worker || n != c.n {
			t.Errorf("%d.%d is %d.%d", c.worker, c.n, w, n)
		}
	}
}

// An event is read as it was written, whatever it is.
func FuzzEvent(f *testing.F) {
	f.Add(int64(12300), uint8(Stolen), 1, 0, uint64(5), "")
	f.Add(int64(0), uint8(Submitted), -1, -1, uint64(1), `"us `)
	f.Fuzz(func(t *testing.T, at int64, kind uint8, worker, other int, id uint64, name string) {
		e := Event{at, Kind(kind) % kinds, max(-1, worker), max(-1, other), id, name, 0}
		s := e.String()
		if got, err := Parse(s); got != e || err != nil || strings.ContainsAny(s, "\n\r") {
			t.Errorf("%#v is written as\n%s\nand read as %#v, %v", e, s, got, err)
		}
	})
}

// A line that is read is an event, which is written as a line that is read as the same.
func FuzzParse(f *testing.F) {
	f.Add("   12.300us  worker 1   steals fork 2.1 from worker 0")
	f.Add("pool has slots beyond its limit: 3")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := Parse(line)
		if err != nil {
			return
		}
		if again, err := Parse(e.String()); again != e || err != nil {
			t.Errorf("%q is read as %#v, and that as %#v, %v", line, e, again, err)
		}
	})
}
