package main

import "strings"

// A paint is a class of what is drawn: how it is filled and ruled, with a colour on light and one on
// dark ground. The colours are those of the charts of filch bench.
type paint struct {
	class       string
	style       string // with $ for the colour, and % for that of the edge
	light, dark string
	edge        [2]string // light and dark
}

const ruled = "fill:none;stroke:$;"

var paints = []paint{
	{class: "paper", style: "fill:$", light: "#ffffff", dark: "#0d1117"},
	{class: "ink", style: "fill:$", light: "#1f2328", dark: "#e6edf3"},
	{class: "faint", style: "fill:$", light: "#59636e", dark: "#9aa4af"},
	{class: "box", style: "fill:$;stroke:%", light: "#f4f6f8", dark: "#151b23", edge: [2]string{"#818b98", "#656c76"}},
	{class: "ours", style: "fill:$", light: "#0550ae", dark: "#58a6ff"}, // what is filch's, or at home
	{class: "ourbox", style: "fill:$;stroke:%;stroke-width:1.5", light: "#ddf0ff", dark: "#122d4f", edge: [2]string{"#0550ae", "#58a6ff"}},
	{class: "others", style: "fill:$", light: "#bc4c00", dark: "#ffa657"}, // what is others', or stolen
	{class: "otherbox", style: "fill:$;stroke:%;stroke-width:1.5", light: "#fff1e5", dark: "#3d1f08", edge: [2]string{"#bc4c00", "#ffa657"}},
	{class: "green", style: "fill:$", light: "#1a7f37", dark: "#3fb950"}, // a third worker, and a fourth
	{class: "purple", style: "fill:$", light: "#8250df", dark: "#bc8cff"},
	{class: "ring", style: ruled + "stroke-width:2", light: "#1f2328", dark: "#e6edf3"},
	{class: "third", style: "fill:$", light: "#5c6670", dark: "#aab4bf"},
	{class: "gone", style: "fill:none;stroke:$;stroke-dasharray:3 3", light: "#818b98", dark: "#656c76"},
	{class: "grid", style: ruled, light: "#d8dee4", dark: "#2b323b"},
	{class: "rule", style: ruled + "stroke-width:1.5", light: "#59636e", dark: "#9aa4af"},
	{class: "ourrule", style: ruled + "stroke-width:2", light: "#0550ae", dark: "#58a6ff"},
	{class: "otherrule", style: ruled + "stroke-width:2", light: "#bc4c00", dark: "#ffa657"},
}

// css declares the paints, in light and dark.
func css() string {
	var light, dark strings.Builder
	for _, p := range paints {
		light.WriteString("." + p.class + "{" + strings.NewReplacer("$", p.light, "%", p.edge[0]).Replace(p.style) + "}")
		dark.WriteString("." + p.class + "{")
		if strings.Contains(p.style, "fill:$") {
			dark.WriteString("fill:" + p.dark + ";")
		}
		if strings.Contains(p.style, "stroke:$") {
			dark.WriteString("stroke:" + p.dark)
		}
		if strings.Contains(p.style, "stroke:%") {
			dark.WriteString("stroke:" + p.edge[1])
		}
		dark.WriteString("}")
	}
	return ".bold{font-weight:bold}" + light.String() + "@media screen and (prefers-color-scheme:dark){" + dark.String() + "}"
}
