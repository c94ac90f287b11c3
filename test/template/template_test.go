package template

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// templates has the test's templates in a folder of their own, and creates one whose only file holds a text.
func templates(t *testing.T, text string) (create func(at string), created *atomic.Int64) {
	t.Helper()
	t.Setenv("LOCAL_DIR", t.TempDir())
	created = &atomic.Int64{}
	return func(at string) {
		created.Add(1)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(at, "file"), []byte(text), 0o640); err != nil {
			t.Error(err)
		}
	}, created
}

func content(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestConcurrentCopiesShareOneCreation(t *testing.T) {
	create, created := templates(t, "data")
	var all sync.WaitGroup
	dirs := make([]string, 8)
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), "data")
		all.Go(func() { Copy(t, "key", dirs[i], create) })
	}
	all.Wait()
	if created.Load() != 1 {
		t.Errorf("created %d times, want once", created.Load())
	}
	for _, dir := range dirs {
		if text := content(t, dir); text != "data" {
			t.Errorf("%s holds %q", dir, text)
		}
	}
}

func TestOtherKeysHaveOtherTemplates(t *testing.T) {
	create, created := templates(t, "data")
	for _, key := range []string{"one", "two", "one"} {
		Copy(t, key, filepath.Join(t.TempDir(), "data"), create)
	}
	if created.Load() != 2 {
		t.Errorf("created %d times for 2 keys", created.Load())
	}
}

func TestChangingACopyLeavesTheTemplate(t *testing.T) {
	create, _ := templates(t, "data")
	first, second := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "data")
	Copy(t, "key", first, create)
	if err := os.WriteFile(filepath.Join(first, "file"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	Copy(t, "key", second, create)
	if text := content(t, second); text != "data" {
		t.Errorf("the second copy holds %q", text)
	}
}

func TestAnUnfinishedTemplateIsCreatedAnew(t *testing.T) {
	create, created := templates(t, "data")
	func() {
		defer func() { _ = recover() }()
		Copy(t, "key", filepath.Join(t.TempDir(), "data"), func(at string) {
			create(at)
			panic("as a test that ends in the middle")
		})
	}()
	dir := filepath.Join(t.TempDir(), "data")
	Copy(t, "key", dir, create)
	if text := content(t, dir); text != "data" || created.Load() != 2 {
		t.Errorf("%q, created %d times; want it to be created again", text, created.Load())
	}
}

func TestAnotherProgramHasAnotherDescription(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	described := map[string]bool{}
	for _, size := range []int{1, 2} {
		if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		described[File(t, path)] = true
	}
	if len(described) != 2 {
		t.Errorf("two programs are described as %v", described)
	}
}
