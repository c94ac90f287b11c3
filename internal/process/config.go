package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// LoadConfig reads the JSON document at path into cfg, a pointer. An unknown field and anything after the document are
// errors: a setting that is silently ignored would be measured as if it had been applied.
func LoadConfig(path string, cfg any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("load configuration: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(cfg); err != nil {
		return fmt.Errorf("load configuration %s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("load configuration %s: there is more after the document; the file must hold exactly one", path)
	}
	return nil
}

// Secret reads the file name in dir, such as an account's password or the token. One newline at the end does not
// belong to it. An empty secret is an error: it would let everybody in.
func Secret(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	secret := strings.TrimSuffix(string(text), "\n")
	if secret == "" {
		return "", fmt.Errorf("read secret %s: the file is empty", path)
	}
	return secret, nil
}
