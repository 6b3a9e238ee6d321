package topology

import (
	"slices"
	"strings"
	"testing"
)

func TestListsAreParsed(t *testing.T) {
	for _, c := range []struct {
		list string
		want []int
	}{
		{"", nil},
		{"\n", nil},
		{"0\n", []int{0}},
		{"0-3,8,10-11", []int{0, 1, 2, 3, 8, 10, 11}},
		{"5-5", []int{5}},
		{"65535", []int{65535}},
	} {
		if got, err := ParseList(c.list); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("ParseList(%q) = %v, %v", c.list, got, err)
		}
	}
}

func TestMalformedListsAreRefused(t *testing.T) {
	for list, reason := range map[string]string{
		",":                      `"" is no number`,
		"0,":                     `"" is no number`,
		"-3":                     `"" is no number`,
		"3-":                     `"" is no number`,
		"a":                      `"a" is no number`,
		"+1":                     `"+1" is no number`,
		"1 2":                    `"1 2" is no number`,
		"0-7:2/4":                `"7:2/4" is no number`,
		"3-1":                    "does not ascend",
		"1,1":                    "does not ascend",
		"4,2-3":                  "does not ascend",
		"65536":                  "65536 is more than 65535",
		"0-2147483647":           "2147483647 is more than 65535",
		"0-4294967295":           "4294967295 is more than 65535",
		"9999999999999999999999": "99999999999999999999 is more than 65535",
	} {
		if got, err := ParseList(list); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("ParseList(%q) = %v, %v, which does not say %s", list, got, err, reason)
		}
	}
}

// What is parsed ascends, has no number twice, and is written and parsed again as the same.
func FuzzParseList(f *testing.F) {
	for _, s := range []string{"", "0-3,8,10-11", "0,1,2", "3-1", "0-65535", "1,,2", "7-\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids, err := ParseList(s)
		if err != nil {
			if ids != nil {
				t.Errorf("%q: %v with %v", s, ids, err)
			}
			return
		}
		for i, id := range ids {
			if id < 0 || id > MaxID || i > 0 && id <= ids[i-1] {
				t.Fatalf("%q: %d at %d", s, id, i)
			}
		}
		again, err := ParseList(FormatList(ids))
		if err != nil || !slices.Equal(again, ids) {
			t.Errorf("%q: written as %q, which is %v, %v", s, FormatList(ids), again, err)
		}
	})
}
