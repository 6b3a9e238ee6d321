package statstest

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

type figures struct {
	Name  string
	Count int64
	On    bool
	Inner struct {
		Age  time.Duration
		More int
	}
	Last int
}

func TestEachFigureHasANumberOfItsOwn(t *testing.T) {
	f := figures{Name: "name"}
	got := Fill(&f)
	want := map[float64]string{float64(f.Count): "Count", 1: "On", f.Inner.Age.Seconds(): "Inner.Age", float64(f.Inner.More): "Inner.More", float64(f.Last): "Last"}
	if len(want) != 5 || !maps.Equal(got, want) || !f.On || f.Name != "name" || f.Inner.Age%time.Second == 0 {
		t.Errorf("%v, not %v, of %+v", got, want, f)
	}
}

func TestWhatIsNoFigureIsRefused(t *testing.T) {
	for want, s := range map[string]any{
		"statstest: A and B have one number": &struct{ A, B bool }{},
		"statstest: A.B is a []int":          &struct{ A struct{ B []int } }{},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("%q, not %q", got, want)
				}
			}()
			Fill(s)
		}()
	}
}
