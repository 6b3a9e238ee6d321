package browser

import (
	"net"
	"net/http"
	"testing"
)

// Server serves a page, and can be stopped and started again at the same address.
type Server struct {
	Handler http.Handler
	Address string // since Start
	server  *http.Server
}

// Start listens on an address, and serves until Stop.
func (s *Server) Start(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s.Address, s.server = l.Addr().String(), &http.Server{Handler: s.Handler}
	go s.server.Serve(l)
}

// Stop closes all connections.
func (s *Server) Stop() { s.server.Close() }
