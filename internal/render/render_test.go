package render

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/wire"
)

// prepared is a configuration whose template is text, with two secrets.
func prepared(t *testing.T, text string) wire.LaunchConfig {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"template": text, "app": "S3cret-x\n", "odd": `a"b`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return wire.LaunchConfig{
		Argv: []string{"true", "-c", "x"}, Template: filepath.Join(dir, "template"), File: filepath.Join(dir, "whole"), SecretDir: dir,
	}
}

func TestTheProgramFindsTheSecretsInItsFile(t *testing.T) {
	cfg := prepared(t, "user=\"a@b\"\npassword=\"@secret:app@\"\nagain=@secret:app@\n")
	if err := os.WriteFile(cfg.File, []byte("half a"), 0o444); err != nil { // of an earlier start
		t.Fatal(err)
	}
	var ran []string
	if err := run(cfg, func(program string, argv, _ []string) error {
		ran = append([]string{filepath.Base(program)}, argv...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"true", "true", "-c", "x"}, ran); diff != "" {
		t.Errorf("it runs (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("user=\"a@b\"\npassword=\"S3cret-x\"\nagain=S3cret-x\n", string(text)); diff != "" {
		t.Errorf("its file (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(cfg.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the file: %v, %v", info.Mode(), err)
	}
}

func TestNothingRunsWithoutItsSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change func(*wire.LaunchConfig)
		says   string
	}{
		"a secret that is not there":            {"@secret:none@", func(*wire.LaunchConfig) {}, "none"},
		"a secret that would have to be quoted": {"@secret:odd@", func(*wire.LaunchConfig) {}, "letters, digits"},
		"no template":                           {"", func(c *wire.LaunchConfig) { c.Template += ".none" }, "template.none"},
		"no program":                            {"", func(c *wire.LaunchConfig) { c.Argv[0] = "no-such-program" }, "the image has no no-such-program"},
		"no command line":                       {"", func(c *wire.LaunchConfig) { c.Argv = nil }, `"argv"`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := prepared(t, c.text)
			c.change(&cfg)
			err := run(cfg, func(string, []string, []string) error {
				t.Error("the program was started")
				return nil
			})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v, want one with %q", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), `a"b`) {
				t.Error("the error tells the secret")
			}
		})
	}
}

func TestAProgramThatCannotBeStartedIsAnError(t *testing.T) {
	broken := errors.New("broken")
	if err := run(prepared(t, ""), func(string, []string, []string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}
