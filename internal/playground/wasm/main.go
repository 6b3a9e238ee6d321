//go:build js && wasm

// Command wasm is package playground for browsers. It sets two functions of JavaScript: filchMenu returns what there is to
// choose from, as JSON; filchRun takes the fields of a Request, and returns an object with a Film or with an error.
// Numbers of a Film are Uint8Arrays of little-endian int32.
package main

import (
	"encoding/binary"
	"encoding/json"
	"syscall/js"

	"github.com/filch-go/filch/internal/playground"
)

func main() {
	js.Global().Set("filchMenu", js.FuncOf(menu))
	js.Global().Set("filchRun", js.FuncOf(run))
	select {}
}

func menu(js.Value, []js.Value) any { return text(playground.All()) }

func run(_ js.Value, args []js.Value) any {
	field := args[0].Get
	film, err := playground.Run(playground.Request{
		DAG: field("dag").String(), Graph: field("graph").String(), Scheduler: field("scheduler").String(),
		Workers: field("workers").String(), Seed: field("seed").String(), StealCost: field("cost").String(),
	})
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{
		"result": text(film.Result), "depths": bytes(film.Depths), "events": bytes(film.Events), "queues": bytes(film.Queues),
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// bytes copies numbers to the memory of the page.
func bytes(numbers []int32) js.Value {
	const chunk = 1 << 16
	to := js.Global().Get("Uint8Array").New(4 * len(numbers))
	b := make([]byte, 0, 4*chunk)
	for at := 0; at < len(numbers); at += chunk {
		b = b[:0]
		for _, n := range numbers[at:min(at+chunk, len(numbers))] {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		js.CopyBytesToJS(to.Call("subarray", 4*at), b)
	}
	return to
}
