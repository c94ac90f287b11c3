// Package atomicfile writes files that outlive a crash of the machine.
package atomicfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path, so that after a crash at any moment it has either its old content or all of the
// new, and once it returns the content outlives a crash of the machine. The folder must exist. A file left over from a
// crash in the middle is named path + ".new" and is replaced by the next call; calls for one path must not overlap.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	return Write(path, bytes.NewReader(content), mode)
}

// Write is WriteFile of content that is not in memory as one piece.
func Write(path string, content io.WriterTo, mode os.FileMode) error {
	fresh := path + ".new"
	err := writeSynced(fresh, content, mode)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = os.Remove(fresh) // it takes room, which may be what is missing
		return fmt.Errorf("write %s durably: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes renames and removals in a folder outlive a crash of the machine.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}

func writeSynced(path string, content io.WriterTo, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriter(f)
	if _, err = content.WriteTo(buffer); err == nil {
		err = buffer.Flush()
	}
	return errors.Join(err, f.Sync(), f.Close())
}
