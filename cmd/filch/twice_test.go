package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each flag of each command takes all values that it is given, or refuses the second.
func TestNoFlagDropsAValue(t *testing.T) {
	var commands, lists int
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		commands++
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				value := f.Value.String()
				list, isList := f.Value.(pflag.SliceValue)
				if isList {
					lists++
					value = "1"
				}
				if err := f.Value.Set(value); err != nil {
					t.Errorf("%s --%s %q: %v", cmd.CommandPath(), f.Name, value, err)
					return
				}
				switch err := f.Value.Set(value); {
				case isList && (err != nil || len(list.GetSlice()) != 2):
					t.Errorf("%s --%s given twice: %v, %v; want both values", cmd.CommandPath(), f.Name, list.GetSlice(), err)
				case !isList && err == nil:
					t.Errorf("%s --%s given twice: the first value is dropped; want an error", cmd.CommandPath(), f.Name)
				}
			})
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(rootCommand())
	if commands < 20 || lists < 5 {
		t.Errorf("%d commands and %d flags with lists were visited; want all", commands, lists)
	}
}
