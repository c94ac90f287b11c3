package starter

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
)

// unfinished is the suffix of a data directory that is being made. Only a finished one bears the real name, so a kill
// in the middle is followed by a clean new start.
const unfinished = ".new"

// EnsureData makes the data directory if there is none, or an empty one, and tells whether it did.
func (n *Node) EnsureData(ctx context.Context) (bool, error) {
	dir := n.Config.DataDir
	fresh := dir + unfinished
	if err := os.RemoveAll(fresh); err != nil {
		return false, fmt.Errorf("remove the unfinished data directory: %w", err)
	}
	empty, err := isEmpty(dir)
	if err != nil || !empty {
		return false, err
	}
	slog.Info("initializing the data directory", "path", dir)
	if err := os.MkdirAll(fresh, 0o750); err != nil {
		return false, fmt.Errorf("make the data directory: %w", err)
	}
	if err := n.initialize(ctx, fresh); err != nil {
		return false, err
	}
	if err := writeIdentity(fresh); err != nil {
		return false, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("make room for the data directory (it must be a folder on the volume, not the volume itself): %w", err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		return false, fmt.Errorf("put the data directory in place: %w", err)
	}
	return true, atomicfile.SyncDir(filepath.Dir(dir))
}

// initialize has the server fill the data directory. The script, which holds the accounts' passwords, lies in TMPDIR
// (in memory in a pod) only as long as the server reads it.
func (n *Node) initialize(ctx context.Context, dataDir string) error {
	file := filepath.Join(os.TempDir(), "replab-init.sql") // the same name each time: a kill leaves no second one
	how, err := n.Engine.Initialization(n.Config.Server, dataDir, file, func(account string) (string, error) {
		return process.Secret(n.Config.SecretDir, account)
	})
	if err != nil {
		return fmt.Errorf("write the first statements of the server: %w", err)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the first statements of the server: %w", err)
	}
	defer os.Remove(file)
	if err := os.WriteFile(file, []byte(how.Script), 0o600); err != nil {
		return fmt.Errorf("write the first statements of the server: %w", err)
	}
	if err := Execute(ctx, engine.Start{Argv: how.Argv}, nil); err != nil { // nothing is lost: the next start begins anew
		return fmt.Errorf("make the data directory: %w", err)
	}
	return nil
}

// Empty tells whether the node has no data.
func (n *Node) Empty() (bool, error) { return isEmpty(n.Config.DataDir) }

func isEmpty(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look into the data directory: %w", err)
	}
	return len(entries) == 0, nil
}

// identityFile lies in the data directory and holds the identity of the data: it goes with them.
const identityFile = "replab-identity"

// writeIdentity gives data that were just made an identity that no other data have.
func writeIdentity(dataDir string) error {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	identity := max(1, binary.BigEndian.Uint32(b[:]))
	text := strconv.FormatUint(uint64(identity), 10) + "\n"
	if err := os.WriteFile(filepath.Join(dataDir, identityFile), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the identity of the data: %w", err)
	}
	return nil
}

// readIdentity returns 0 for data that have none, such as those that a member of a group got from another.
func readIdentity(dataDir string) (uint32, error) {
	text, err := os.ReadFile(filepath.Join(dataDir, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the identity of the data: %w", err)
	}
	identity, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || identity == 0 {
		return 0, fmt.Errorf("read the identity of the data: %s holds %q, which is none", identityFile, text)
	}
	return uint32(identity), nil
}
