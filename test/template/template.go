// Package template keeps data directories of servers, so that tests make each kind once and copy it afterwards.
package template

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Copy makes the folder to a copy of the template that key describes. The key holds all that the template's content depends on. If there is no
// such template yet, create makes it at the path that it is given. Tests in other goroutines and processes wait for that.
func Copy(t testing.TB, key, to string, create func(at string)) {
	t.Helper()
	path := filepath.Join(folder(t), fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:32])
	if _, err := os.Stat(path); err != nil {
		createOnce(t, path, create)
	}
	Duplicate(t, path, to)
}

// Duplicate copies a folder with its owners, modes and holes. It shares blocks where the file system can.
func Duplicate(t testing.TB, from, to string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "cp", "-aT", "--reflink=auto", "--sparse=always", from, to).CombinedOutput()
	if err != nil {
		t.Fatalf("copy %s: %v\n%s", from, err, out)
	}
}

// createOnce has the template made under another name, so that a template that has its name is whole.
func createOnce(t testing.TB, path string, create func(at string)) {
	t.Helper()
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // and with it the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock %s: %v", lock.Name(), err)
	}
	if _, err := os.Stat(path); err == nil {
		return // another test made it meanwhile
	}
	fresh := path + ".new"
	if err := os.RemoveAll(fresh); err != nil { // of a test that was killed
		t.Fatal(err)
	}
	create(fresh)
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
}

// folder of the templates: in LOCAL_DIR, else in the user's cache.
func folder(t testing.TB) string {
	t.Helper()
	base := os.Getenv("LOCAL_DIR")
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		base = filepath.Join(cache, "replab")
	}
	dir := filepath.Join(base, "templates")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// File describes a program in a key: another version of it has another size or time.
func File(t testing.TB, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
}
