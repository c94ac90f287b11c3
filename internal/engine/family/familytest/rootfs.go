package familytest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Rootfs is where an image is unpacked: what a variable of the environment says, else .local/rootfs/NAME of this checkout; "" when
// there is none.
func Rootfs(variable, name string) string {
	_, file, _, _ := runtime.Caller(0)
	for _, root := range []string{os.Getenv(variable), filepath.Join(filepath.Dir(file), "..", "..", "..", "..", ".local", "rootfs", name)} {
		if _, err := os.Stat(Linker(root)); root != "" && err == nil {
			return root
		}
	}
	return ""
}

// Linker is the dynamic linker of an unpacked image. The machine's may be too old for its programs.
func Linker(root string) string { return filepath.Join(root, "lib64", "ld-linux-x86-64.so.2") }

// Linked is how to run a program of an unpacked image.
func Linked(root, program string) []string {
	return []string{Linker(root), "--library-path", filepath.Join(root, "usr/lib/x86_64-linux-gnu"), filepath.Join(root, program)}
}

// Missing ends a test that has no server to run.
func Missing(t testing.TB, message string) {
	t.Helper()
	if os.Getenv("REPLAB_REQUIRE_MYSQL") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
}
