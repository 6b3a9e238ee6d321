package cluster

import "encoding/json"

// Codec turns the arguments and results of handlers into bytes and back. Its methods may be called from any
// goroutine.
//
// A task carries the name of the codec it was written with. A node that gets it reads it with the codec of that name
// among its own, those of [WithCodecs] and [JSON]. examples/cluster/protobuf of the repository has a codec for messages of Protocol
// Buffers.
type Codec interface {
	// Name is what tasks carry: letters, digits, - and _.
	Name() string
	// Marshal returns v as bytes. What it returns is not changed afterwards.
	Marshal(v any) ([]byte, error)
	// Unmarshal sets what v points to. It must not keep data.
	Unmarshal(data []byte, v any) error
}

// JSON returns the codec of package encoding/json. It is what nodes use without [WithCodecs].
func JSON() Codec { return jsonCodec{} }

type jsonCodec struct{}

func (jsonCodec) Name() string                       { return "json" }
func (jsonCodec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (jsonCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }
