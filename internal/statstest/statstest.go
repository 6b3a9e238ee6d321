// Package statstest fills the structs that metrics are read from, for the tests of the plugins.
package statstest

import (
	"fmt"
	"reflect"
	"time"
)

// Fill sets each figure of the struct that s points to, and of the structs in it, to a number of its own. It returns the names of the fields by
// these numbers: Field, or Struct.Field for one of a struct in it. A number is what a metric shows of the field: seconds with a fraction
// for a time, and 1 for true. Text stays as it is. Fill panics if s has a field of another kind, or two bools.
func Fill(s any) map[float64]string {
	names := map[float64]string{}
	fill(reflect.ValueOf(s).Elem(), "", names)
	return names
}

func fill(v reflect.Value, path string, names map[float64]string) {
	for i := range v.NumField() {
		f, name := v.Field(i), path+v.Type().Field(i).Name
		n := float64(len(names) + 2)
		switch {
		case f.Type() == reflect.TypeFor[time.Duration]():
			n += 0.5
			f.SetInt(int64(n * float64(time.Second)))
		case f.CanInt():
			f.SetInt(int64(n))
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
			n = 1
		case f.Kind() == reflect.Struct:
			fill(f, name+".", names)
			continue
		case f.Kind() == reflect.String:
			continue
		default:
			panic(fmt.Sprintf("statstest: %s is a %s", name, f.Type()))
		}
		if other, ok := names[n]; ok {
			panic(fmt.Sprintf("statstest: %s and %s have one number", other, name))
		}
		names[n] = name
	}
}
