// Package secrettest has what tests give to processes in place of a node's Secret.
package secrettest

import (
	"os"
	"path/filepath"
	"testing"

	"replab.dev/internal/wire"
)

// Password of all accounts of test servers.
const Password = "test-secret"

// Token that agents of tests ask for.
const Token = "test-token"

// SecretDir writes the accounts' password files and the token into a folder and returns it.
func SecretDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range wire.Accounts() {
		write(account, Password)
	}
	write(wire.AgentTokenFile, Token)
	return dir
}
