package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// startPostgres starts a Postgres that listens on a socket in dir.
func startPostgres(ctx context.Context, dir, commit string) (url string, stop func(), err error) {
	initdb, err := find("initdb")
	if err != nil {
		return "", nil, err
	}
	postgres, err := find("postgres")
	if err != nil {
		return "", nil, err
	}
	data := filepath.Join(dir, "data")
	as, err := plainUser(dir)
	if err != nil {
		return "", nil, err
	}
	init := exec.CommandContext(ctx, initdb, "-D", data, "-U", "river", "-A", "trust", "--no-sync")
	as(init)
	if out, err := init.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %.500s", err, out)
	}
	cmd := exec.Command(postgres, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "synchronous_commit="+commit)
	as(cmd)
	url = fmt.Sprintf("host=%s user=river database=postgres", dir)
	stop, err = untilReady(ctx, cmd, func() error {
		c, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	})
	return url, stop, err
}

// plainUser returns what makes a command run as a plain user, since Postgres does not run as root, and gives dir to that
// user: postgres, if this program is root's.
func plainUser(dir string) (as func(*exec.Cmd), err error) {
	if os.Getuid() != 0 {
		return func(c *exec.Cmd) { c.Dir = dir }, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("a Postgres does not run as root: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return func(c *exec.Cmd) { c.Dir = dir; become(c, uid, gid) }, nil
}
