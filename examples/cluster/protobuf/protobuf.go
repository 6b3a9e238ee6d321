// Package protobuf has a codec for package cluster by which arguments and results are messages of Protocol Buffers.
// Copy it: package cluster needs no library for messages, so it has none.
package protobuf

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
)

// Codec writes messages in their wire format. The types of handlers are pointers to generated messages.
type Codec struct{}

// Name is what tasks carry.
func (Codec) Name() string { return "protobuf" }

// Marshal returns a message as bytes.
func (Codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", v)
	}
	return proto.Marshal(m)
}

// Unmarshal makes a new message, to which it sets the pointer that v points to.
func (Codec) Unmarshal(data []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	if to.Kind() != reflect.Pointer {
		return fmt.Errorf("%s is no pointer to a message", to.Type())
	}
	made := reflect.New(to.Type().Elem())
	m, ok := made.Interface().(proto.Message)
	if !ok {
		return fmt.Errorf("%s is no message", to.Type())
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return err
	}
	to.Set(made)
	return nil
}
