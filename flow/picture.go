package flow

import "io"

func (g *Graph) WriteDOT(w io.Writer) error { needs(w != nil, "WriteDOT", "w"); return nil }
func (g *Graph) WriteSVG(w io.Writer) error { needs(w != nil, "WriteSVG", "w"); return nil }
