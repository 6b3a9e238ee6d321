package clustertest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy passes TCP connections on, and can be cut and slowed down. Its methods may be called from any goroutine.
type Proxy struct {
	ln net.Listener

	mu     sync.Mutex
	target string
	delay  time.Duration
	open   chan struct{} // closed while bytes pass
	cut    bool
	closed bool
	conns  map[net.Conn]bool
}

// NewProxy returns a proxy for target, a host:port, that is closed when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p, err := newProxy()
	if err != nil {
		t.Fatal(err)
	}
	p.To(target)
	t.Cleanup(p.Close)
	return p
}

func newProxy() (*Proxy, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{ln: ln, open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.open)
	go p.accept()
	return p, nil
}

// Addr returns where the proxy listens, as host:port.
func (p *Proxy) Addr() string { return p.ln.Addr().String() }

// To sets where new connections are passed on to. "" refuses them.
func (p *Proxy) To(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Delay keeps back what arrives for d, a read at a time, so that the connection is slow as well as late.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Cut keeps back all that arrives until Heal, as a network does that loses all packets: connections stay open, and
// nobody is told.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.cut, p.open = true, make(chan struct{})
	}
}

// Heal passes on what was kept back, and what comes.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heal()
}

// heal is Heal under p.mu.
func (p *Proxy) heal() {
	if p.cut {
		p.cut = false
		close(p.open)
	}
}

// Close closes the proxy and its connections.
func (p *Proxy) Close() {
	p.ln.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
	p.heal()
}

func (p *Proxy) accept() {
	for {
		c, err := p.ln.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

// serve passes a connection on until one of both sides ends it.
func (p *Proxy) serve(c net.Conn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	if target == "" {
		c.Close()
		return
	}
	to, err := net.Dial("tcp", target)
	if err != nil {
		c.Close()
		return
	}
	if !p.add(c, to) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pass(c, to) })
	both.Go(func() { p.pass(to, c) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	delete(p.conns, to)
}

// add notes connections, and closes them if the proxy is closed.
func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if p.closed {
			c.Close()
		} else {
			p.conns[c] = true
		}
	}
	return !p.closed
}

// pass copies what comes from one connection to the other, and closes both at its end.
func (p *Proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.hold()
		if _, e := to.Write(buffer[:n]); err != nil || e != nil {
			return
		}
	}
}

// hold waits as long as the proxy keeps back.
func (p *Proxy) hold() {
	p.mu.Lock()
	delay, open := p.delay, p.open
	p.mu.Unlock()
	if delay > 0 {
		time.Sleep(delay)
	}
	<-open
}
