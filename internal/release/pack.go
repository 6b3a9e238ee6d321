package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pack puts the module in the folder dir into the proxy, as a version.
func (r *repository) pack(dir, version string) error {
	name := path.Join(rootModule, filepath.ToSlash(dir))
	mod, err := os.ReadFile(filepath.Join(r.root, dir, "go.mod"))
	if err != nil {
		return err
	}
	if first, _, _ := strings.Cut(string(mod), "\n"); strings.TrimSpace(first) != "module "+name {
		return fmt.Errorf("%s/go.mod: %q, not module %s", dir, first, name)
	}
	all, err := sources(r.root)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	add := func(file, as string) error {
		data, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		w, err := z.Create(name + "@" + version + "/" + as)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	own := within(all, dir)
	for _, file := range own {
		if err := add(path.Join(filepath.ToSlash(dir), file), file); err != nil {
			return err
		}
	}
	if !slices.Contains(own, "LICENSE") && slices.Contains(all, "LICENSE") {
		if err := add("LICENSE", "LICENSE"); err != nil { // as Go does when it packs a module
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	to := filepath.Join(r.proxy, filepath.FromSlash(name), "@v")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for file, data := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2000-01-01T00:00:00Z"}`, version),
		version + ".mod":  mod,
		version + ".zip":  packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(to, file), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// within returns those of the files that belong to the module in the folder dir, named
// from there: without those of modules below it.
func within(all []string, dir string) (own []string) {
	prefix := path.Join(filepath.ToSlash(dir)) + "/"
	if prefix == "./" {
		prefix = ""
	}
	var nested []string
	for _, file := range all {
		if folder, ok := strings.CutSuffix(file, "/go.mod"); ok && len(folder)+1 > len(prefix) {
			nested = append(nested, folder+"/")
		}
	}
	for _, file := range all {
		in := func(folder string) bool { return strings.HasPrefix(file, folder) }
		if in(prefix) && !slices.ContainsFunc(nested, in) {
			own = append(own, strings.TrimPrefix(file, prefix))
		}
	}
	return own
}

// sources returns the regular files of the repository in root, by their paths with
// slashes: those that git knows or would add, or all, if it is no repository of git.
func sources(root string) (files []string, err error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	var all []string
	if out, err := cmd.Output(); err == nil {
		all = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	} else if all, err = walk(root); err != nil {
		return nil, err
	}
	for _, file := range all {
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	return files, nil
}

func walk(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, file)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	return files, err
}
