package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/filch-go/filch/cluster"
)

// clusterPage is the page of filch cluster live. It asks for the view, and draws it.
//
//go:embed cluster_live.html
var clusterPage []byte

func clusterLiveCommand(all *clusterOptions) *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "live",
		Short: "Show the nodes, the queues, and the steals between nodes, in a browser",
		Long: `Live serves a page that shows the nodes, the queues, and how many tasks each node has fetched of those that each other has
submitted, as they change. It prints the page's address, and runs until it is interrupted. The page is for this machine alone.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if host, _, err := net.SplitHostPort(withPort(address)); err != nil || !isLoopback(host) {
				return fmt.Errorf("--addr %s: must be a loopback address", address)
			}
			return all.run(cmd, func(ctx context.Context, n *cluster.Node) error {
				return serveCluster(ctx, cmd.OutOrStdout(), withPort(address), func(ctx context.Context) (clusterView, error) { return viewOf(ctx, n) })
			})
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:0", "address to listen on; port 0, or none, is any that is free")
	return cmd
}

// isLoopback reports whether a host leads to this machine, whatever a name server says.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// serveCluster serves the page until ctx ends, and prints its address.
func serveCluster(ctx context.Context, out io.Writer, address string, view func(context.Context) (clusterView, error)) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", address, err)
	}
	fmt.Fprintf(out, "http://%s/\n", l.Addr())
	s := &http.Server{Handler: clusterHandler(view), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// clusterHandler serves the page, and what it asks for. A page of another site can make its own name lead here, but
// not choose what the browser sends as Host.
func clusterHandler(view func(context.Context) (clusterView, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(clusterPage)
	})
	mux.HandleFunc("GET /view", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		v, err := view(ctx)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !isLoopback(strings.Trim(host, "[]")) {
			http.Error(w, fmt.Sprintf("live: %q is not this machine", r.Host), http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
