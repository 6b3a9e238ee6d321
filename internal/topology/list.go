package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxID is the greatest number that a processor or a node may have. Linux is built for 8,192
// processors at most.
const MaxID = 1<<16 - 1

// ParseList returns the numbers of a list in the form of the kernel's cpulist files, in ascending
// order: "0-3,8,10-11". An empty list has none. Numbers must ascend, none may come twice, and none may
// be greater than MaxID.
func ParseList(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var ids []int
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(part, "-")
		lo, err := parseID(first)
		if err != nil {
			return nil, fmt.Errorf("list %.40q: %w", s, err)
		}
		hi := lo
		if isRange {
			if hi, err = parseID(last); err != nil {
				return nil, fmt.Errorf("list %.40q: %w", s, err)
			}
		}
		if hi < lo || len(ids) > 0 && lo <= ids[len(ids)-1] {
			return nil, fmt.Errorf("list %.40q: %.20q does not ascend", s, part)
		}
		for id := lo; id <= hi; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID parses digits and nothing else.
func parseID(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if n > MaxID { // also if it is out of range
		return 0, fmt.Errorf("%.20s is more than %d", s, MaxID)
	}
	if err != nil {
		return 0, fmt.Errorf("%.20q is no number", s)
	}
	return int(n), nil
}

// FormatList writes ascending numbers as ParseList reads them.
func FormatList(ids []int) string {
	var b strings.Builder
	for i := 0; i < len(ids); {
		end := i + 1
		for end < len(ids) && ids[end] == ids[end-1]+1 {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ids[i]))
		if end-i > 1 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(ids[end-1]))
		}
		i = end
	}
	return b.String()
}
