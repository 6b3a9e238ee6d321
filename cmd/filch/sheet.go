package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// A sheet is a table that leaves out columns if the screen is too narrow for all of them.
type sheet struct {
	table.Writer
	out     io.Writer
	head    table.Row
	configs []table.ColumnConfig
	first   []int // columns to leave out, in this order; then the others go, from the last one to the third
}

func newTable(out io.Writer) *sheet {
	s := &sheet{Writer: table.NewWriter(), out: out}
	style := table.StyleLight
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	style.Format.Header = text.FormatDefault
	if isTerminal(out) {
		style.Color.Header = text.Colors{text.Bold}
	}
	s.SetStyle(style)
	return s
}

func (s *sheet) AppendHeader(row table.Row, config ...table.RowConfig) {
	s.head = row
	for i := range row {
		s.configs = append(s.configs, table.ColumnConfig{Number: i + 1})
	}
	s.Writer.AppendHeader(row, config...)
}

// right aligns these columns of the header, counted from 1, to the right.
func (s *sheet) right(from, to int) {
	for i := from - 1; i < to; i++ {
		s.configs[i].Align, s.configs[i].AlignHeader = text.AlignRight, text.AlignRight
	}
}

// hide leaves a column out.
func (s *sheet) hide(column int) { s.configs[column-1].Hidden = true }

// leaveFirst says which columns go first where there is no room, by their heads.
func (s *sheet) leaveFirst(heads ...string) {
	for _, head := range heads {
		if i := slices.IndexFunc(s.head, func(x any) bool { return x == head }); i >= 0 {
			s.first = append(s.first, i+1)
		}
	}
}

// narrowest is the narrowest screen for which columns are left out.
const narrowest = 40

// Render writes the table, and below it which columns had no room.
func (s *sheet) Render() {
	order := slices.Clone(s.first)
	for i := len(s.head); i > 2; i-- {
		order = append(order, i)
	}
	var missing []string
	lines, most := s.render(), widthOf(s.out)
	for most >= narrowest && len(order) > 0 && text.LongestLineLen(lines) > most { // on less, nothing would be left to read
		c := &s.configs[order[0]-1]
		if name := fmt.Sprint(s.head[order[0]-1]); name != "" && !c.Hidden {
			missing = append(missing, name)
		}
		c.Hidden, order = true, order[1:]
		lines = s.render()
	}
	fmt.Fprintln(s.out, lines)
	if len(missing) > 0 {
		say(s.out, "No room for %s; COLUMNS=200 shows all.", strings.Join(missing, ", "))
	}
}

func (s *sheet) render() string {
	s.SetColumnConfigs(s.configs)
	return s.Writer.Render()
}

// paint colours what a cell shows, on a terminal.
func (s *sheet) paint(c text.Color, cell string) string {
	if isTerminal(s.out) {
		return c.Sprint(cell)
	}
	return cell
}

// print writes the table, in Markdown if so asked.
func (s *sheet) print(markdown bool) {
	if !markdown {
		s.Render()
		return
	}
	s.SetColumnConfigs(s.configs)
	fmt.Fprintln(s.out, s.RenderMarkdown())
}

// widthOf returns how wide out is: by COLUMNS, or as the terminal says. It is 0 if there is no limit.
func widthOf(out io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !isTerminal(out) {
		return 0
	}
	n, _, err := term.GetSize(int(out.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return n
}

// isTerminal reports whether out is one. What is written to it may have colours: package text leaves them out if NO_COLOR is set.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// groups are the rows of a table that have something in common, with a line between them.
type groups struct {
	t    *sheet
	last string
}

// begins reports whether the next row, which is of the given group, is its first.
func (g *groups) begins(group string) bool {
	if group == g.last {
		return false
	}
	if g.last != "" {
		g.t.AppendSeparator()
	}
	g.last = group
	return true
}
