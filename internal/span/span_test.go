package span

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

var example = Profile{Work: 1000 * time.Millisecond, Span: 10 * time.Millisecond, BurdenedSpan: 20 * time.Millisecond, Forks: 12345}

// The speed-up is at most the workers and the parallelism, and at least what a schedule reaches that keeps
// workers busy.
func TestTheSpeedUpIsAtMostTheWorkersAndTheParallelism(t *testing.T) {
	for _, c := range []struct {
		p           Profile
		workers     int
		least, most float64
	}{
		{example, 1, 1, 1},
		{example, 2, 1000 / (500 + 10.0), 2},
		{example, 100, 1000 / (10 + 0.99*20), 100},
		{example, 1000, 1000 / (1 + 0.999*20), 100},
		{Profile{Work: 5, Span: 5, BurdenedSpan: 5}, 64, 1, 1}, // serial
		{Profile{Work: 10, Span: 5, BurdenedSpan: 100}, 2, 10 / (5 + 50.0), 2},
		{Profile{}, 8, 1, 1},
		{Profile{Work: 10, Span: 5}, 2, 10 / (5 + 2.5), 2}, // made by hand, without a burdened span
	} {
		least, most := c.p.SpeedUp(c.workers)
		if math.Abs(least-c.least) > 1e-9 || math.Abs(most-c.most) > 1e-9 {
			t.Errorf("%+v, %d workers: %v to %v, want %v to %v", c.p, c.workers, least, most, c.least, c.most)
		}
	}
	for work := time.Duration(1); work < 200; work += 7 {
		for span := time.Duration(1); span <= work; span += 5 {
			for n := 1; n <= 256; n++ {
				p := Profile{Work: work, Span: span, BurdenedSpan: span + 3}
				if least, most := p.SpeedUp(n); least > most+1e-9 || most > float64(n) {
					t.Fatalf("%+v, %d workers: %v to %v", p, n, least, most)
				}
			}
		}
	}
	if p := (&Profile{}).Parallelism(); p != 1 {
		t.Errorf("the parallelism of nothing is %v", p)
	}
	if p := example.Parallelism(); p != 100 {
		t.Errorf("parallelism %v", p)
	}
	if p := example.BurdenedParallelism(); p != 50 {
		t.Errorf("burdened parallelism %v", p)
	}
}

func TestTheTextHasAFewDigitsAndATableOfSpeedUps(t *testing.T) {
	var b strings.Builder
	if err := example.WriteText(&b); err != nil {
		t.Fatal("example.WriteText(&b):", err)
	}
	want := `work           1s         of all that ran
span           10ms       of the longest path; parallelism 100
burdened span  20ms       with 4µs for each fork on the path; parallelism 50.0
forks          12345

workers  speed-up at least  at most
      1               1.00     1.00
      2               1.96     2.00
      4               3.77     4.00
      8               7.02     8.00
     16              12.31    16.00
     32              19.75    32.00
     64              28.32    64.00
    128              36.16   100.00
    256              41.97   100.00
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if s := example.String(); s != "work 1s, span 10ms, parallelism 100, burdened 50.0, 12345 forks" {
		t.Error("example.String():", s)
	}
	p := Profile{Work: 123456789, Span: 4567, BurdenedSpan: 45678, Forks: 1}
	if s := p.String(); s != "work 123ms, span 4.57µs, parallelism 27032, burdened 2703, 1 forks" {
		t.Error("p.String():", s)
	}
}

// The picture is XML, has its words for those that do not see it, and colours for dark.
func TestThePictureIsXMLAndHasWords(t *testing.T) {
	for _, p := range []Profile{example, {}, {Work: 10, Span: 10, BurdenedSpan: 10_000_000}, {Work: math.MaxInt64, Span: 1, BurdenedSpan: 1}} {
		var b strings.Builder
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal("p.WriteSVG(&b):", err)
		}
		for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("d.Token(): %+v: %v\n%s", p, err, b.String())
			}
		}
		for _, s := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(b.String(), s) {
				t.Errorf("%+v: %s in\n%s", p, s, b.String())
			}
		}
	}
	var b strings.Builder
	_ = example.WriteSVG(&b)
	for _, s := range []string{`role="img"`, "<title id=\"title\">Parallelism 100, burdened 50.0</title>", " 2: 1.96 to 2.00.", "256: 42.0 to 100.",
		"prefers-color-scheme: dark", `<path class="one"`, `<path class="perfect"`} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("no %s in\n%s", s, b.String())
		}
	}
}

// full fails at each write.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	if err := example.WriteText(full{}); err != errFull {
		t.Error("example.WriteText(…):", err)
	}
	if err := example.WriteSVG(full{}); err != errFull {
		t.Error("example.WriteSVG(…):", err)
	}
}

// No worker is asked for its Recorder as long as none is measured.
func TestRecordersAreLookedForWhileSomethingIsMeasured(t *testing.T) {
	defer Known(of, measure)
	asked := 0
	Known(func(worker any) *Recorder { asked++; return nil }, nil)
	Of(1)
	Run(func() {
		Of(1)
		Run(func() {})
		Of(1)
	})
	Of(1)
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// Idle tells of time in which the program did not run, where it can. The sleep is a real one: Idle reads the kernel's
// clocks, which the virtual time of testing/synctest does not move. Nothing waits for the sleep to be over, and a
// busy machine makes it longer, not shorter.
func TestASleepCountsAsIdle(t *testing.T) {
	idle := Idle()
	if idle == nil {
		t.Skip("not known here")
	}
	time.Sleep(20 * time.Millisecond)
	if d := time.Duration(idle()); d < 10*time.Millisecond {
		t.Errorf("a sleep of 20ms counts as %v", d)
	}
	if d := time.Duration(idle()); d < 0 {
		t.Errorf("idle for %v", d)
	}
}
