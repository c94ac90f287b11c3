package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// emulators run programs of other processors, by Debian's qemu-user-static.
var emulators = map[string]string{"amd64": "qemu-x86_64-static", "arm64": "qemu-aarch64-static"}

// check starts the image's binary. For another processor than this machine's it also runs the tests by which the recorder forwards writes and keeps
// their ledger; `make test` runs those for this machine's.
func (r *release) check(p platform, binary []byte) error {
	what := "check of the image for " + p.String()
	var emulator []string
	if p.arch != runtime.GOARCH {
		path, err := exec.LookPath(emulators[p.arch])
		if err != nil {
			return r.skip(what, fmt.Errorf("%s is missing", emulators[p.arch]))
		}
		emulator = []string{path}
	}
	folder, err := os.MkdirTemp("", "replab-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "replab")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		return err
	}
	words := append(emulator, program, "version")
	said, err := output(words[0], words[1:]...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if text := string(said); !strings.HasPrefix(text, "replab "+r.version+" ") || !strings.HasSuffix(text, p.String()+"\n") {
		return fmt.Errorf("%s: `replab version` says %q", what, text)
	}
	fmt.Fprintf(r.said, "%s: %s", what, said)
	if emulator == nil {
		return nil
	}
	cmd := exec.Command("go", "test", "-trimpath", "-vet=off", "-count=1", "-short", "-v", "-exec", emulator[0],
		"-run", "^("+strings.Join(recorderTests, "|")+")$", "./internal/recorder")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if said, err = finished(cmd); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := allPassed(said); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Fprintf(r.said, "%s: recorder: %d tests passed\n", what, len(recorderTests))
	return nil
}

// recorderTests start no other programs, which an emulator would not run.
var recorderTests = []string{
	"TestTheOutcomeOfAWrite", "TestAnAnswerIsRelayedAsItIs", "TestTheOutcomeIsInTheLedgerBeforeTheClientHasItsAnswer",
	"TestWritesOfManyClientsAtOnceAreEachInTheLedgerOnce",
}

// allPassed looks for each test in what `go test -v` said: a test that was renamed or skipped fails nothing there.
func allPassed(said []byte) error {
	for _, name := range recorderTests {
		if !strings.Contains("\n"+string(said), "\n--- PASS: "+name+" (") {
			return fmt.Errorf("recorder: %s did not run: was it renamed? recorderTests in hack/release/check.go names it\n%s", name, said)
		}
	}
	return nil
}
