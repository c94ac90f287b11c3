package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type config struct {
	Listen string `json:"listen"`
	Nodes  []struct {
		Name string `json:"name"`
	} `json:"nodes"`
}

func TestLoadConfig(t *testing.T) {
	for _, c := range []struct{ name, text, failure string }{
		{"a document that fits is loaded", `{"listen": ":1", "nodes": [{"name": "a"}]}` + "\n", ""},
		{"an unknown field is an error that names it", `{"listen": ":1", "lisTenControl": ":2"}`, "lisTenControl"},
		{"an unknown field inside a list is an error", `{"listen": ":1", "nodes": [{"nmae": "a"}]}`, "nmae"},
		{"a second document is an error", `{"listen": ":1"}{}`, "more after the document"},
		{"a file that is cut off is an error", `{"listen": ":1"`, "EOF"},
		{"an empty file is an error", ``, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c.json")
			write(t, file, c.text)
			var got config
			err := LoadConfig(file, &got)
			if c.failure == "" {
				if err != nil || got.Listen != ":1" || len(got.Nodes) != 1 {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.failure) || !strings.Contains(err.Error(), file) {
				t.Fatalf("error is %v, want one with %q and the file's name", err, c.failure)
			}
		})
	}
}

func TestLoadConfigNamesAMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.json")
	if err := LoadConfig(file, &config{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("error is %v", err)
	}
}

func TestSecret(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a file without a newline is the secret", "abc", "abc"},
		{"the newline at the end is not part of it", "abc\n", "abc"},
		{"other blanks are part of it", " a b \n", " a b "},
		{"an empty file is refused", "", ""},
		{"a lone newline is refused", "\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "token"), c.text)
			got, err := Secret(dir, "token")
			if got != c.want || (err == nil) != (c.want != "") {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
