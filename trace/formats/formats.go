// Package formats has tests: what package trace writes is read by the libraries of others. It is a module of its
// own, since the root module has the standard library alone.
package formats
