package topology

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "write what is read of the machines in testdata anew")

// unpack returns the files of a machine. A line has a name below devices/system, and the file's text. Numbers
// in braces stand for a file each.
func unpack(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal("os.ReadFile(name):", err)
	}
	files := fstest.MapFS{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		file, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		before, rest, ok := strings.Cut(file, "{")
		if !ok {
			files["devices/system/"+file] = &fstest.MapFile{Data: []byte(text + "\n")}
			continue
		}
		list, after, _ := strings.Cut(rest, "}")
		ids, err := ParseList(list)
		if err != nil || len(ids) == 0 {
			t.Fatalf("ParseList(list): %s: %q: %v", name, line, err)
		}
		for _, id := range ids {
			files["devices/system/"+before+strconv.Itoa(id)+after] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	return files
}

// describe tells all that is known of a machine.
func describe(topo *Topology, err error) string {
	var b strings.Builder
	var ids []int
	for _, p := range topo.Processors {
		ids = append(ids, p.ID)
		fmt.Fprintf(&b, "processor %d: core %d, package %d, node %d, caches %v\n", p.ID, p.Core, p.Package, p.Node, p.Caches)
	}
	fmt.Fprintf(&b, "distances\n")
	for _, p := range ids {
		for _, q := range ids {
			fmt.Fprintf(&b, " %d", topo.Distance(p, q))
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "compact %v\nspread %v\n", topo.Compact(ids), topo.Spread(ids))
	for i, row := range topo.Nearest(ids) {
		fmt.Fprintf(&b, "nearest to %d: %v\n", i, row)
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

// Each machine in testdata is read as the file beside it says.
func TestMachinesAreReadAsTheyAre(t *testing.T) {
	trees, err := filepath.Glob("testdata/*.tree")
	if err != nil || len(trees) == 0 {
		t.Fatal(`filepath.Glob("testdata/*.tree"):`, trees, err)
	}
	for _, tree := range trees {
		t.Run(strings.TrimSuffix(filepath.Base(tree), ".tree"), func(t *testing.T) {
			got := describe(Read(unpack(t, tree)))
			golden := strings.TrimSuffix(tree, ".tree") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal("os.WriteFile(golden, []byte(got), 0o666):", err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal("os.ReadFile(golden):", err)
			}
			if got != string(want) {
				t.Errorf("read as\n%s\nnot as\n%s", got, want)
			}
		})
	}
}

// Distances are symmetric, 0 only for a processor and itself, and each order has all processors once.
func TestDistancesAndOrdersHoldTogether(t *testing.T) {
	trees, err := filepath.Glob("testdata/*.tree")
	if err != nil {
		t.Fatal(`filepath.Glob("testdata/*.tree"):`, err)
	}
	for _, tree := range trees {
		topo, _ := Read(unpack(t, tree))
		holdsTogether(t, tree, topo)
	}
	holdsTogether(t, "flat", Flat(5))
	holdsTogether(t, "zero", &Topology{})
}

func holdsTogether(t *testing.T, name string, topo *Topology) {
	t.Helper()
	ids := []int{MaxID} // which no machine has
	for _, p := range topo.Processors {
		ids = append(ids, p.ID)
	}
	for _, a := range ids {
		for _, b := range ids {
			if d := topo.Distance(a, b); d != topo.Distance(b, a) || d < 0 || (d == Itself) != (a == b) {
				t.Errorf("%s: the distance of %d and %d is %d, and %d the other way round", name, a, b, d, topo.Distance(b, a))
			}
		}
	}
	for _, order := range [][]int{topo.Compact(ids), topo.Spread(ids)} {
		seen := map[int]bool{}
		for _, id := range order {
			seen[id] = true
		}
		if len(order) != len(ids) || len(seen) != len(ids) {
			t.Errorf("%s: %v is no order of %v", name, order, ids)
		}
	}
	for i, row := range topo.Nearest(ids) {
		last := Itself
		for _, j := range row {
			d := topo.Distance(ids[i], ids[j])
			if d < last || int(j) == i {
				t.Errorf("%s: nearest to %d: %v", name, i, row)
			}
			last = d
		}
		if len(row) != len(ids)-1 {
			t.Errorf("%s: nearest to %d: %v, of %d", name, i, row, len(ids))
		}
	}
}

// A machine of 1,024 processors, 16 on a node, is read in full.
func TestAThousandProcessors(t *testing.T) {
	const n = 1024
	files := fstest.MapFS{"devices/system/cpu/online": {Data: []byte(fmt.Sprintf("0-%d\n", n-1))}}
	add := func(name, format string, args ...any) {
		files["devices/system/"+name] = &fstest.MapFile{Data: []byte(fmt.Sprintf(format, args...))}
	}
	for id := range n {
		dir := fmt.Sprintf("cpu/cpu%d/", id)
		add(dir+"topology/core_cpus_list", "%d-%d", id&^1, id|1)
		add(dir+"topology/physical_package_id", "%d", id/256)
		add(dir+"cache/index3/level", "3")
		add(dir+"cache/index3/shared_cpu_list", "%d-%d", id&^7, id|7)
	}
	nodes := n / 16
	for i := range nodes {
		row := ""
		for j := range nodes {
			row += fmt.Sprint(map[bool]int{true: 10, false: 20 + i/16 ^ j/16}[i == j], " ")
		}
		add(fmt.Sprintf("node/node%d/cpulist", i), "%d-%d", 16*i, 16*i+15)
		add(fmt.Sprintf("node/node%d/distance", i), "%s", row)
	}
	topo, err := Read(files)
	if err != nil || len(topo.Processors) != n {
		t.Fatal("Read(files):", len(topo.Processors), err)
	}
	for b, want := range map[int]int{0: Itself, 1: SameCore, 2: SameL3, 8: SameNode, 16: OtherNode, 300: OtherNode + 1} {
		if d := topo.Distance(0, b); d != want {
			t.Errorf("processor %d is at the distance %d, not %d", b, d, want)
		}
	}
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	spread := topo.Spread(ids)
	for i, a := range spread[:nodes] {
		for _, b := range spread[:i] {
			if topo.Distance(a, b) < OtherNode {
				t.Fatalf("%d and %d are among the first %d: %v", b, a, nodes, spread[:nodes])
			}
		}
	}
}

// A kernel that refuses to read does no harm.
func TestFilesThatCannotBeReadAreTold(t *testing.T) {
	topo, err := Read(refusing{})
	if len(topo.Processors) != 0 || err == nil || !strings.Contains(err.Error(), "cpu/online: permission denied") {
		t.Errorf("Read(…): %v, %v", topo.Processors, err)
	}
}

type refusing struct{}

func (refusing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// The machine that the test runs on has processors, wherever that is.
func TestSystemHasProcessors(t *testing.T) {
	topo, err := System()
	if len(topo.Processors) == 0 {
		t.Fatal("no processors")
	}
	if err != nil {
		t.Log(err) // a container may hide files
	}
	holdsTogether(t, "system", topo)
}
