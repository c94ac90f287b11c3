package starter

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

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
