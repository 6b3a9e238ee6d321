package plugintest

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// What the schema of Grafana's dashboards (its kinds dashboard, timeseries and dataquery) says of the fields that ours have. A
// field that is not here is unknown to Grafana, or misspelt.
type (
	schemaDashboard struct {
		Title, UID, Description, Refresh, Timezone string
		Tags                                       []string
		SchemaVersion, Version, GraphTooltip       int
		Editable                                   bool
		Time                                       struct{ From, To string }
		Annotations                                struct{ List []any }
		Links                                      []any
		Panels                                     []schemaPanel
		Templating                                 struct{ List []schemaVariable }
	}
	schemaPanel struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H *int }
		Collapsed                *bool // of a row
		Panels                   *[]any
		Datasource               *schemaSource
		FieldConfig              *struct {
			Defaults struct {
				Unit   string
				Min    *float64
				Custom struct {
					LineWidth, FillOpacity int
					ShowPoints             string
				}
			}
			Overrides *[]any
		}
		Options *struct {
			Legend struct {
				DisplayMode, Placement string
				ShowLegend             bool
			}
			Tooltip struct{ Mode, Sort string }
		}
		Targets []struct {
			RefID, Expr, LegendFormat string
			Datasource                *schemaSource
		}
	}
	schemaSource   struct{ Type, UID string }
	schemaVariable struct {
		Name, Type, Label, Definition, AllValue string
		Query                                   any
		Datasource                              *schemaSource
		Hide, Refresh, Sort                     int
		Multi, IncludeAll                       bool
		Current                                 *struct{ Text, Value []string }
	}
)

var (
	uids      = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
	refIDs    = regexp.MustCompile(`^[A-Z]$`)
	uses      = regexp.MustCompile(`\$\{?(\w+)`)
	durations = regexp.MustCompile(`^\d+[smhd]$`)

	units = []string{"s", "short", "ops", "percentunit"} // of Grafana's, those that we use
)

// A dashboard has the fields that Grafana's schema has, with values that it allows: what Grafana would drop or refuse when
// the file is imported. Dashboards have UIDs of their own, or the one would replace the other.
func TestDashboardFollowsTheSchema(t *testing.T) {
	known := map[string]bool{}
	for _, of := range dashboards {
		d := followsSchema(t, of.file)
		if known[d.UID] {
			t.Errorf("%s has the UID %s of another", of.file, d.UID)
		}
		known[d.UID] = true
	}
}

func followsSchema(t *testing.T, file string) (d schemaDashboard) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal("os.ReadFile:", err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&d); err != nil {
		t.Fatal("strict.Decode:", err)
	}
	if d.Title == "" || !uids.MatchString(d.UID) || d.SchemaVersion < 36 || !durations.MatchString(d.Refresh) || d.Time.From == "" || d.Time.To == "" ||
		d.GraphTooltip < 0 || d.GraphTooltip > 2 || d.Annotations.List == nil || d.Links == nil {
		t.Errorf("the dashboard itself: %q, uid %q, version %d of the schema, refresh %q", d.Title, d.UID, d.SchemaVersion, d.Refresh)
	}
	for _, p := range d.Panels {
		if !p.follows() {
			t.Errorf("panel %d, %q: %+v", p.ID, p.Title, p)
		}
	}
	defined := map[string]bool{"__rate_interval": true}
	for _, v := range d.Templating.List {
		defined[v.Name] = true
		ofQuery := v.Type == "query" && v.Datasource != nil && v.Definition != "" && v.Current != nil
		if v.Hide < 0 || v.Hide > 2 || v.Refresh < 0 || v.Refresh > 2 || v.Sort < 0 || v.Sort > 8 || !ofQuery && (v.Type != "datasource" || v.Query != "prometheus") {
			t.Errorf("variable %s: %+v", v.Name, v)
		}
	}
	for _, m := range uses.FindAllStringSubmatch(string(text), -1) {
		if !defined[m[1]] && m[1] != "__all" {
			t.Errorf("there is no variable %s", m[0])
		}
	}
	return d
}

func (p *schemaPanel) follows() bool {
	g := p.GridPos
	if p.ID < 1 || g.X == nil || g.Y == nil || g.W == nil || g.H == nil || *g.W < 1 || *g.H < 1 || *g.X < 0 || *g.Y < 0 || *g.X+*g.W > 24 {
		return false
	}
	if p.Type == "row" {
		return p.Collapsed != nil && !*p.Collapsed && p.Panels != nil && len(*p.Panels) == 0 && p.Targets == nil
	}
	if p.Type != "timeseries" || p.Datasource == nil || p.FieldConfig == nil || p.FieldConfig.Overrides == nil || p.Options == nil || p.Panels != nil {
		return false
	}
	for _, target := range p.Targets {
		if target.Datasource == nil || *target.Datasource != *p.Datasource || *target.Datasource != (schemaSource{"prometheus", "${datasource}"}) ||
			!refIDs.MatchString(target.RefID) || target.Expr == "" {
			return false
		}
	}
	of, options := p.FieldConfig.Defaults, p.Options
	return slices.Contains(units, of.Unit) && of.Custom.LineWidth >= 0 && of.Custom.LineWidth <= 10 && of.Custom.FillOpacity >= 0 && of.Custom.FillOpacity <= 100 &&
		slices.Contains([]string{"auto", "never", "always"}, of.Custom.ShowPoints) &&
		slices.Contains([]string{"list", "table", "hidden"}, options.Legend.DisplayMode) && slices.Contains([]string{"bottom", "right"}, options.Legend.Placement) &&
		slices.Contains([]string{"single", "multi", "none"}, options.Tooltip.Mode) && slices.Contains([]string{"none", "asc", "desc"}, options.Tooltip.Sort)
}
