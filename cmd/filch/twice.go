package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// refuseTwice has a command and those below it refuse a flag that is given twice, unless it takes a list: the first value would be
// dropped without a word.
func refuseTwice(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if _, list := f.Value.(pflag.SliceValue); list {
				return
			}
			f.Value = &once{Value: f.Value}
			if f.DefValue == "0s" { // help leaves out a default of 0; of once it does not know that it is a time
				f.DefValue = "0"
			}
		})
	}
	for _, c := range cmd.Commands() {
		refuseTwice(c)
	}
}

var errTwice = errors.New("the flag is given twice, and takes one value")

// once is the value of a flag that may be given once.
type once struct {
	pflag.Value
	given bool
}

func (o *once) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(text)
}
