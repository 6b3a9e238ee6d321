package topology

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	cpuDir  = "devices/system/cpu"
	nodeDir = "devices/system/node"
)

// Read returns the topology that the files in fsys tell, which is what Linux has below /sys. The
// Topology is never nil: what the error says is missing or malformed is left out of it. Files that a
// kernel need not have are no error: those of caches, and of nodes.
//
// It reads about a dozen files a processor, which takes a few hundred microseconds.
func Read(fsys fs.FS) (*Topology, error) {
	r := &reader{fsys: fsys}
	t := &Topology{}
	for _, id := range r.processors() {
		t.Processors = append(t.Processors, r.processor(id))
	}
	r.readNodes(t)
	t.finish()
	return t, r.err()
}

// reader reads files, and notes why some could not be.
type reader struct {
	fsys    fs.FS
	reasons []error
	left    int // reasons beyond those that are kept
}

// maxReasons is how many reasons are told: on a large machine that hides files each processor lacks them.
const maxReasons = 5

func (r *reader) note(name string, err error) {
	if len(r.reasons) >= maxReasons {
		r.left++
		return
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err // the rest is in name
	}
	r.reasons = append(r.reasons, fmt.Errorf("topology: %s: %w", name, err))
}

func (r *reader) err() error {
	if r.left > 0 {
		return errors.Join(append(r.reasons, fmt.Errorf("topology: and %d more files", r.left))...)
	}
	return errors.Join(r.reasons...)
}

// text returns the contents of a file, and false if it cannot be read. It notes that if the file must be there.
func (r *reader) text(name string, must bool) (string, bool) {
	b, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		if must || !errors.Is(err, fs.ErrNotExist) {
			r.note(name, err)
		}
		return "", false
	}
	return strings.TrimSpace(string(b)), true
}

// number returns the number in a file, and false if there is none.
func (r *reader) number(name string) (int, bool) {
	s, ok := r.text(name, true)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		r.note(name, fmt.Errorf("%.20q is no number", s))
		return 0, false
	}
	return n, true
}

// list returns the list in a file, and false if there is none.
func (r *reader) list(name string) ([]int, bool) {
	s, ok := r.text(name, true)
	if !ok {
		return nil, false
	}
	ids, err := ParseList(s)
	if err != nil {
		r.note(name, err)
		return nil, false
	}
	return ids, true
}

// processors returns the IDs of those that are online.
func (r *reader) processors() []int {
	if ids, ok := r.list(cpuDir + "/online"); ok && len(ids) > 0 {
		return ids
	}
	return r.numbered(cpuDir, "cpu")
}

// numbered returns the numbers of the entries of dir whose names are prefix and a number.
func (r *reader) numbered(dir, prefix string) []int {
	entries, _ := fs.ReadDir(r.fsys, dir) // the caller has noted a file of it, or needs none
	var ids []int
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if id, err := parseID(digits); ok && err == nil && prefix+strconv.Itoa(id) == e.Name() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *reader) processor(id int) Processor {
	dir := path.Join(cpuDir, "cpu"+strconv.Itoa(id))
	p := Processor{ID: id, Core: id}
	siblings := dir + "/topology/core_cpus_list"
	if old := dir + "/topology/thread_siblings_list"; !r.has(siblings) && r.has(old) { // its name before Linux 5.3
		siblings = old
	}
	p.Core = r.first(siblings, id)
	if n, ok := r.number(dir + "/topology/physical_package_id"); ok {
		p.Package = max(n, 0) // -1 where the firmware does not tell
	}
	for _, i := range r.numbered(dir+"/cache", "index") {
		r.addCache(&p, dir+"/cache/index"+strconv.Itoa(i))
	}
	slices.SortFunc(p.Caches, func(a, b Sharing) int { return cmp.Compare(a.Level, b.Level) })
	return p
}

func (r *reader) has(name string) bool {
	_, err := fs.Stat(r.fsys, name)
	return err == nil
}

// first returns the least ID of the list in a file, or id if that is not in the list.
func (r *reader) first(name string, id int) int {
	ids, ok := r.list(name)
	if !ok {
		return id
	}
	if !slices.Contains(ids, id) {
		r.note(name, fmt.Errorf("%d is not in its own list, %.40q", id, FormatList(ids)))
		return id
	}
	return ids[0]
}

// addCache adds the cache in dir to p, unless it is for instructions.
func (r *reader) addCache(p *Processor, dir string) {
	if kind, ok := r.text(dir+"/type", false); ok && kind == "Instruction" {
		return
	}
	level, ok := r.number(dir + "/level")
	if !ok || level < 1 {
		return
	}
	c := Sharing{level, r.first(dir+"/shared_cpu_list", p.ID)}
	for i, old := range p.Caches {
		if old.Level == level {
			p.Caches[i].First = min(old.First, c.First)
			return
		}
	}
	p.Caches = append(p.Caches, c)
}

// readNodes puts the processors on their nodes. A kernel without NUMA has none.
func (r *reader) readNodes(t *Topology) {
	of := map[int]int{}
	nodes := r.numbered(nodeDir, "node")
	t.nodes = map[int]int{}
	for i, n := range nodes {
		t.nodes[n] = i
		ids, _ := r.list(fmt.Sprintf("%s/node%d/cpulist", nodeDir, n))
		for _, id := range ids {
			if _, twice := of[id]; !twice {
				of[id] = n
			}
		}
	}
	for i := range t.Processors {
		t.Processors[i].Node = of[t.Processors[i].ID]
	}
	if len(nodes) > 1 {
		t.slit = r.distances(nodes)
	}
}

// distances returns the table of distances between nodes, or nil if it is not whole.
func (r *reader) distances(nodes []int) [][]int {
	var table [][]int
	for _, n := range nodes {
		name := fmt.Sprintf("%s/node%d/distance", nodeDir, n)
		s, ok := r.text(name, true)
		if !ok {
			return nil
		}
		var row []int
		for f := range strings.FieldsSeq(s) {
			d, err := strconv.Atoi(f)
			if err != nil || d < 0 {
				r.note(name, fmt.Errorf("%.20q is no distance", f))
				return nil
			}
			row = append(row, d)
		}
		if len(row) != len(nodes) {
			r.note(name, fmt.Errorf("%d distances for %d nodes", len(row), len(nodes)))
			return nil
		}
		table = append(table, row)
	}
	return table
}
