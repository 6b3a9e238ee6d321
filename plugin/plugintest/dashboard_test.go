package plugintest

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct {
			Name, Definition string
		}
	}
}

type panel struct {
	ID          int
	Type, Title string
	Description string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, RefID, LegendFormat string }
}

var (
	expressions = parser.NewParser(parser.Options{})
	variables   = strings.NewReplacer("$__rate_interval", "5m", "$pool", ".*", "$cluster", ".*") // what Grafana puts in their place
	histograms  = regexp.MustCompile(`_(wait|run)_seconds$`)                                     // with native buckets, as Prometheus keeps them then
	suffix      = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// metricsOf returns the names of the metrics of an expression, without what a histogram adds.
func metricsOf(t *testing.T, expr string) (names []string) {
	t.Helper()
	e, err := expressions.ParseExpr(variables.Replace(expr))
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return nil
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			names = append(names, suffix.ReplaceAllString(v.Name, ""))
		}
		return nil
	})
	return names
}

// dashboards are those that there are, with what chooses the metrics that they show, and with all metrics that there are.
var dashboards = []struct {
	file, chosen string
	exported     func(*testing.T) map[string]bool
}{
	{"../filchprom/grafana.json", `{pool=~"$pool"}`, exported},
	{"../filchclusterprom/grafana.json", `{cluster=~"$cluster"}`, exportedOfCluster},
}

func readDashboard(t *testing.T, file string) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal("json.Unmarshal:", err)
	}
	return d
}

// eachPanel calls f with the panels of all dashboards.
func eachPanel(t *testing.T, f func(panel)) {
	t.Helper()
	for _, of := range dashboards {
		for _, p := range readDashboard(t, of.file).Panels {
			f(p)
		}
	}
}

// A dashboard shows each metric that there is, and no other.
func TestDashboardShowsAllMetrics(t *testing.T) {
	for _, of := range dashboards {
		showsAll(t, readDashboard(t, of.file), of.chosen, of.exported(t))
	}
}

func showsAll(t *testing.T, d dashboard, chosen string, there map[string]bool) {
	t.Helper()
	shown := map[string]bool{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			if !strings.Contains(target.Expr, chosen) {
				t.Errorf("%s: %s shows more than was chosen", p.Title, target.Expr)
			}
			for _, name := range metricsOf(t, target.Expr) {
				shown[name] = true
				if !there[name] {
					t.Errorf("%s: there is no %s", p.Title, name)
				}
			}
		}
	}
	for name := range there {
		if !shown[name] {
			t.Errorf("%s is not shown", name)
		}
	}
	for _, v := range d.Templating.List {
		if name, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			if name, _, _ = strings.Cut(name, ","); !there[name] {
				t.Errorf("the variable %s: there is no %s", v.Name, name)
			}
		}
	}
}

// Counters are shown as rates, and gauges as they are.
func TestDashboardShowsRatesOfCounters(t *testing.T) {
	eachPanel(t, func(p panel) {
		for _, target := range p.Targets {
			e, err := expressions.ParseExpr(variables.Replace(target.Expr))
			if err != nil {
				t.Fatal("expressions.ParseExpr:", err)
			}
			parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
				v, ok := n.(*parser.VectorSelector)
				if !ok {
					return nil
				}
				counts := strings.HasSuffix(v.Name, "_total") || suffix.MatchString(v.Name) || histograms.MatchString(v.Name)
				if inRange := len(path) > 0 && isRange(path[len(path)-1]); inRange != counts {
					t.Errorf("%s: %s", p.Title, target.Expr)
				}
				return nil
			})
		}
	})
}

// A histogram is shown with classic buckets and with native ones, in place of which Prometheus keeps no classic ones.
func TestDashboardShowsBothKindsOfBuckets(t *testing.T) {
	eachPanel(t, func(p panel) {
		for _, target := range p.Targets {
			classic, native, both := strings.Cut(target.Expr, " or ")
			if strings.Contains(classic, "_bucket") != (both && strings.Contains(native, "histogram_quantile")) || strings.Contains(classic, "_sum") != (both && strings.Contains(native, "histogram_avg")) {
				t.Errorf("%s: %s", p.Title, target.Expr)
			}
		}
	})
}

// The panels of a dashboard are complete, and none covers another.
func TestPanelsOfDashboard(t *testing.T) {
	for _, of := range dashboards {
		checkPanels(t, readDashboard(t, of.file).Panels)
	}
}

func checkPanels(t *testing.T, panels []panel) {
	t.Helper()
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (len(p.Targets) == 0 || p.Description == "" || p.FieldConfig.Defaults.Unit == "") {
			t.Errorf("panel %d %q lacks something, or its number is not its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		g, refs := p.GridPos, map[string]bool{}
		for _, target := range p.Targets {
			if refs[target.RefID] || target.LegendFormat == "" {
				t.Errorf("%s: the target %s lacks something", p.Title, target.Expr)
			}
			refs[target.RefID] = true
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if x >= 24 || cells[[2]int{x, y}] != "" {
					t.Fatalf("%s covers %s", p.Title, cells[[2]int{x, y}])
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
	}
}

func isRange(n parser.Node) bool {
	_, ok := n.(*parser.MatrixSelector)
	return ok
}
