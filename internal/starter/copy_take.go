package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// copyRequested tells that the server ended to become a copy of another.
func (n *Node) copyRequested() bool {
	_, err := os.Stat(filepath.Join(n.Config.DataDir, engine.CopyRequestFile))
	return err == nil
}

// replaceData replaces the data directory by a copy of another server's, when that was asked for. The request lies in the data
// directory and goes with it: a wrapper that is killed in between begins anew.
func (n *Node) replaceData(ctx context.Context) error {
	file := filepath.Join(n.Config.DataDir, engine.CopyRequestFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the request for a copy: %w", err)
	}
	err = n.copyAsRequested(ctx, text)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	slog.Warn("no copy was made: the server keeps its data", "error", err)
	if err := os.WriteFile(filepath.Join(n.Config.DataDir, engine.CopyStateFile), []byte(err.Error()), 0o644); err != nil {
		return fmt.Errorf("note that no copy was made: %w", err)
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove the request for a copy: %w", err)
	}
	return nil
}

func (n *Node) copyAsRequested(ctx context.Context, text []byte) error {
	copier, ok := n.Engine.(engine.Copier)
	if !ok {
		return errors.New("the servers of this engine copy by themselves")
	}
	var r engine.CopyRequest
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("the request for a copy: %w", err)
	}
	slog.Info("replacing the data by a copy", "donor", r.Name)
	var p patience
	for said := ""; ; {
		err := n.copyOnce(ctx, copier, r)
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause, again := p.after(time.Now(), err)
		if !again {
			return err
		}
		if text := err.Error(); text != said { // while it waits for its turn it is the same each second
			slog.Warn("copying the data failed, trying again", "donor", r.Name, "error", err)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// copyOnce fetches a copy into a folder of its own and exchanges that with the data directory.
func (n *Node) copyOnce(ctx context.Context, copier engine.Copier, r engine.CopyRequest) error {
	fresh := n.Config.DataDir + unfinished
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove the unfinished data directory: %w", err)
	}
	if err := os.MkdirAll(fresh, 0o750); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	began := time.Now()
	received, err := n.fetch(ctx, copier.Take(fresh), r)
	if err != nil {
		return &brokenOff{received: received, err: fmt.Errorf("fetch the data of %s: %w", r.Name, err)}
	}
	if err := n.finishCopy(ctx, copier, r, fresh); err != nil {
		return err
	}
	if err := noteFigures(fresh, time.Since(began), received); err != nil {
		return err
	}
	unix.Sync() // before it takes the place of data that are whole
	if err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, n.Config.DataDir, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("put the copy in place: %w", err)
	}
	if err := atomicfile.SyncDir(filepath.Dir(n.Config.DataDir)); err != nil {
		return err
	}
	slog.Info("the data were replaced by a copy", "donor", r.Name, "bytes", received, "took", time.Since(began).Round(time.Millisecond))
	return os.RemoveAll(fresh) // what the server had before
}

// finishCopy makes what was fetched a data directory with an identity of its own.
func (n *Node) finishCopy(ctx context.Context, copier engine.Copier, r engine.CopyRequest, fresh string) error {
	if err := run(ctx, copier.Finish(fresh), nil, os.Stdout); err != nil {
		return fmt.Errorf("finish the copy: %w", err)
	}
	notes, err := copier.Notes(r, func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join(fresh, name))
		return string(text), err
	})
	if err != nil {
		return fmt.Errorf("finish the copy: %w", err)
	}
	notes[engine.CopyStateFile] = ""
	for name, text := range notes {
		if err := os.WriteFile(filepath.Join(fresh, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("finish the copy: %w", err)
		}
	}
	return writeIdentity(fresh)
}

// noteFigures leaves what the copy took in its folder.
func noteFigures(fresh string, took time.Duration, received int64) error {
	text, err := json.Marshal(engine.CopyFigures{Milliseconds: took.Milliseconds(), ReceivedBytes: received})
	if err == nil {
		err = os.WriteFile(filepath.Join(fresh, engine.CopyFiguresFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("note what the copy took: %w", err)
	}
	return nil
}

// fetch has take read the donor's stream, and returns how many bytes that had.
func (n *Node) fetch(ctx context.Context, take []string, r engine.CopyRequest) (int64, error) {
	password, err := process.Secret(n.Config.SecretDir, wire.AccountReplication)
	if err != nil {
		return 0, err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	url := "http://" + net.JoinHostPort(r.Host, strconv.Itoa(r.Port)) + wire.CopyPath
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.SetBasicAuth(wire.AccountReplication, password)
	response, err := copyClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		err := fmt.Errorf("it answers %s: %s", response.Status, text)
		if given, bad := strconv.ParseInt(response.Header.Get(wire.CopyGivenHeader), 10, 64); bad == nil {
			err = &donorBusy{given: given, err: err}
		}
		return 0, err
	}
	stream := &counted{Reader: response.Body, stall: stallMost, giveUp: giveUp}
	err = run(ctx, take, stream, os.Stdout)
	if err == nil {
		// The command may have been content with less than the donor meant to send.
		_, err = io.Copy(io.Discard, stream)
	}
	return stream.bytes, errors.Join(err, stream.err, context.Cause(ctx))
}

// copyClient gives a donor up that does not begin, and a connection over which nothing comes any more: the kernel asks for it. It
// follows no redirect, and no proxy of the environment is in between.
var copyClient = &http.Client{
	Transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Second}).DialContext,
		ResponseHeaderTimeout: 10 * time.Second, DisableKeepAlives: true,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// counted is a stream that knows how much was read and what it ended with, other than its end. It is given up when nothing comes any more
// while somebody waits for it.
type counted struct {
	io.Reader
	stall  time.Duration
	giveUp context.CancelCauseFunc
	bytes  int64
	err    error
}

func (c *counted) Read(p []byte) (int, error) {
	late := time.AfterFunc(c.stall, func() { c.giveUp(fmt.Errorf("nothing came for %s", c.stall)) })
	n, err := c.Reader.Read(p)
	late.Stop()
	c.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
