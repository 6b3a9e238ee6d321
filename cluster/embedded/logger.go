package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes on what a server logs, and keeps what tells that it cannot write. The server has no other way to tell: its health says
// nothing of a stream with one replica of a server among others. It logs while it holds its locks, so nothing here calls it.
type logger struct {
	to   *slog.Logger
	some chan struct{} // of capacity 1: something was logged

	mu          sync.Mutex
	write, last error // the first error of a write, and the last error at all
	fatal       error // why it has not started
}

func newLogger(to *slog.Logger) *logger { return &logger{to: to, some: make(chan struct{}, 1)} }

// gaveUp is in the format of what the server logs when it gives up a stream or a consumer. The reason is the last argument.
const gaveUp = "critical write error"

func (l *logger) Errorf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	l.mu.Lock()
	l.last = err
	if l.write == nil && strings.Contains(strings.ToLower(format), gaveUp) {
		l.write = err
		if cause, ok := args[len(args)-1].(error); ok {
			l.write = cause
		}
	}
	l.mu.Unlock()
	l.to.Error("filch cluster: the embedded server: " + err.Error())
	l.wake()
}

// Fatalf is called when the server cannot start. It goes on, to be ended like any other.
func (l *logger) Fatalf(format string, args ...any) {
	l.mu.Lock()
	l.fatal = fmt.Errorf(format, args...)
	l.mu.Unlock()
	l.Errorf(format, args...)
}

func (l *logger) Warnf(format string, args ...any) {
	l.to.Warn("filch cluster: the embedded server: " + fmt.Sprintf(format, args...))
	l.wake()
}

// Noticef is not for each start of a program to show: a banner, limits, and each stream that is read.
func (l *logger) Noticef(format string, args ...any) {
	l.to.Debug("filch cluster: the embedded server: " + fmt.Sprintf(format, args...))
	l.wake()
}

// Debugf and Tracef are not called, as the server is told so.
func (l *logger) Debugf(string, ...any) {}
func (l *logger) Tracef(string, ...any) {}

func (l *logger) wake() {
	select {
	case l.some <- struct{}{}:
	default:
	}
}

// writing returns why the server could not write, or nil.
func (l *logger) writing() error { l.mu.Lock(); defer l.mu.Unlock(); return l.write }

// failure returns the last error, or nil.
func (l *logger) failure() error { l.mu.Lock(); defer l.mu.Unlock(); return l.last }

// stopped returns why the server has not started, or nil.
func (l *logger) stopped() error { l.mu.Lock(); defer l.mu.Unlock(); return l.fatal }
