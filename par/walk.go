package par

import (
	"io/fs"
	"path"
	"sync"

	"github.com/filch-go/filch"
)

// WalkDir walks the file tree at root in fsys, like [fs.WalkDir], but calls f for several folders and files at the same
// time, so f must be safe for concurrent use. It calls f for a folder before its contents, and otherwise in no
// particular order. If f returns fs.SkipDir for a folder, WalkDir skips its contents; for a file, it skips the files of
// its folder for which f has not been called. After fs.SkipAll, or any other error, it skips everything that has not
// begun. It returns one of these other errors. On a closed pool it returns [filch.ErrClosed] without calling f.
//
// A worker keeps its slot while it reads. For remote files, use a pool with more workers than processors.
func WalkDir(s filch.Scope, fsys fs.FS, root string, f fs.WalkDirFunc) error {
	check("WalkDir", s)
	checkFunc("WalkDir", f == nil)
	if fsys == nil {
		panic("par: WalkDir: fsys is nil")
	}
	if closed(s) {
		return filch.ErrClosed
	}
	w := &walk{fsys: fsys, f: f}
	var info fs.FileInfo
	var err error
	boundary(func() {
		if info, err = fs.Stat(fsys, root); err != nil {
			err = f(root, nil, err)
		}
	})
	if info != nil {
		err = tryDo(s, func(worker *filch.Worker) { walkFunc.Call(worker, walked{w, root, fs.FileInfoToDirEntry(info)}) })
		if err == nil {
			err = w.err
		}
	}
	if err == fs.SkipDir || err == fs.SkipAll {
		return nil
	}
	return err
}

type walk struct {
	fsys fs.FS
	f    fs.WalkDirFunc

	mu  sync.Mutex
	err error
}

type walked struct {
	w     *walk
	path  string
	entry fs.DirEntry
}

var walkFunc = filch.NewFunc(partOfWalk)

func partOfWalk(f *filch.Frame[walked, error], a walked) error { return a.w.visit(f, a.path, a.entry) }

// over reports whether nothing more may begin.
func (w *walk) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil
}

// fail records an error of f, and reports whether it ends the walk.
func (w *walk) fail(err error) bool {
	if err == nil || err == fs.SkipDir {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || w.err == fs.SkipAll {
		w.err = err
	}
	return true
}

// visit calls f for a file, or for a folder and its contents. It returns fs.SkipDir if f returned it for a file.
func (w *walk) visit(f *filch.Frame[walked, error], name string, entry fs.DirEntry) error {
	if w.over() {
		return nil
	}
	err := w.f(name, entry, nil)
	if w.fail(err) || !entry.IsDir() {
		return err
	}
	if err == fs.SkipDir {
		return nil
	}
	entries, err := fs.ReadDir(w.fsys, name)
	if err != nil {
		err = w.f(name, entry, err)
		if w.fail(err) || err == fs.SkipDir {
			return nil
		}
	}
	var folders []filch.Fork
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, f.Fork(walked{w, path.Join(name, e.Name()), e}))
		}
	}
	w.files(f.Worker(), name, entries)
	for i := len(folders) - 1; i >= 0; i-- {
		f.Join(folders[i])
	}
	return nil
}

// files calls f for the files among the entries of a folder.
func (w *walk) files(worker *filch.Worker, name string, entries []fs.DirEntry) {
	var files []fs.DirEntry
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e)
		}
	}
	ForErr(worker, len(files), func(i int) error {
		if w.over() {
			return fs.SkipDir
		}
		file := path.Join(name, files[i].Name())
		err := w.f(file, files[i], nil)
		w.fail(err)
		return err
	})
}
