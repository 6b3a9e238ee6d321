//go:build unix

package embedded

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes a folder for this process.
func lock(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "filch.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cluster: the folder of the embedded server: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("cluster: the folder %s %w: give one of them another folder, or reach the first by WithURL", dir, errUsed)
	}
	return func() { f.Close() }, nil
}
