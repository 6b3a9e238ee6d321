package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	// startWait is how long a server may take to start.
	startWait = 10 * time.Second
	// roomEvery is how often a server that could not write is tried again, and roomSeldom how often at most if it fails each time.
	roomEvery  = time.Second
	roomSeldom = 30 * time.Second
	// roomBytes is how much room there must be before it is started again: some messages of the largest size.
	roomBytes = 4 << 20
)

// instance is a server that runs until it is stopped. nats-server gives up what it could not write, for good: a stream, or JetStream as
// a whole. It then answers no request to store something, and its clients only hear nothing. Starting it anew is all that helps, so that is done here,
// once its folder can be written again. Clients connect again by themselves, by InProcessConn or Listen.
type instance struct {
	options *server.Options // the server writes into them which ports it got
	log     *slog.Logger

	mu      sync.Mutex
	srv     *server.Server // nil while none runs
	said    *logger        // by srv
	trouble error          // what keeps the server from storing
}

// start starts the server.
func (i *instance) start() error {
	srv, err := server.NewServer(i.options)
	if err != nil {
		return fmt.Errorf("cluster: the embedded server: %w", err)
	}
	said := newLogger(i.log)
	srv.SetLogger(said, false, false)
	srv.Start()
	err = said.stopped()
	if err == nil && (!srv.ReadyForConnections(startWait) || !srv.JetStreamEnabled()) {
		err = errors.Join(fmt.Errorf("it is not ready after %v", startWait), said.failure())
	}
	if err != nil {
		end(srv)
		return fmt.Errorf("cluster: the embedded server has not started; its files are in %s: %w", i.options.StoreDir, err)
	}
	i.mu.Lock()
	i.srv, i.said, i.trouble = srv, said, nil
	i.mu.Unlock()
	return nil
}

// stop stops the server, if one runs.
func (i *instance) stop() {
	i.mu.Lock()
	srv := i.srv
	i.srv = nil
	i.mu.Unlock()
	if srv != nil {
		end(srv)
	}
}

func end(srv *server.Server) { srv.Shutdown(); srv.WaitForShutdown() }

// watch starts the server anew each time that it could not write, until ctx ends.
func (i *instance) watch(ctx context.Context) {
	wait := roomEvery
	for {
		began := time.Now()
		cause := i.failed(ctx)
		if cause == nil {
			return
		}
		if time.Since(began) > roomSeldom {
			wait = roomEvery
		}
		i.log.Error("filch cluster: the embedded server cannot write, and stores nothing until it can", "folder", i.options.StoreDir, "error", cause)
		for cause != nil {
			i.setTrouble(cause)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
			cause = i.restart()
		}
		wait = min(2*wait, roomSeldom)
		i.log.Info("filch cluster: the embedded server can write again, and was started anew", "folder", i.options.StoreDir)
	}
}

// failed waits until the server could not write, and returns the reason, or nil if ctx ends.
func (i *instance) failed(ctx context.Context) error {
	for {
		select {
		case <-i.said.some:
		case <-ctx.Done():
			return nil
		}
		if err := i.said.writing(); err != nil {
			return err
		}
		if !i.srv.JetStreamEnabled() {
			return errors.Join(errors.New("the server has ended its JetStream"), i.said.failure())
		}
	}
}

// restart starts the server anew if its folder can be written.
func (i *instance) restart() error {
	if err := checkRoom(i.options.StoreDir); err != nil {
		return err
	}
	i.stop()
	return i.start()
}

// checkRoom returns an error if a folder has no room for roomBytes, or cannot be written.
func checkRoom(dir string) error {
	name := filepath.Join(dir, "filch.room")
	defer os.Remove(name)
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, roomBytes))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (i *instance) setTrouble(cause error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.trouble = fmt.Errorf("cluster: the embedded server stores nothing, since it cannot write to %s: %w", i.options.StoreDir, cause)
}

// Trouble returns what keeps the server from storing, or nil. Package cluster asks.
func (i *instance) Trouble() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.trouble
}

// InProcessConn connects to the server that runs. The library calls it, also when it connects again.
func (i *instance) InProcessConn() (net.Conn, error) {
	i.mu.Lock()
	srv := i.srv
	i.mu.Unlock()
	if srv == nil {
		return nil, errors.Join(errors.New("the embedded server is being started anew"), i.Trouble())
	}
	return srv.InProcessConn()
}
