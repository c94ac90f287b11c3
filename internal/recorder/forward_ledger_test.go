package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// TestTheOutcomeIsInTheLedgerBeforeTheClientHasItsAnswer reads the file the moment the first byte of the answer comes.
func TestTheOutcomeIsInTheLedgerBeforeTheClientHasItsAnswer(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	c, err := net.Dial("tcp", serveForwarder(t, d))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for id := range uint64(200) {
		if _, err := io.WriteString(c, "POST /user/register HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if got := outcomes(t, path); got[id+1] != ledger.Acknowledged {
			t.Fatalf("the answer to write %d has come, the ledger has %v", id+1, got[id+1])
		}
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAClientThatGoesAwayDoesNotEndItsWrite(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.SocialPathRegister {
			close(arrived)
			select {
			case <-goOn:
			case <-r.Context().Done():
				t.Error("the write was given up with its client")
			}
		}
		w.WriteHeader(201)
	})
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+serveForwarder(t, d)+wire.SocialPathRegister, strings.NewReader("{}"))
		if err == nil {
			_, err = http.DefaultClient.Do(r) //nolint:bodyclose // it fails
		}
		gone <- err
	}()
	<-arrived
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Fatalf("the client left with %v", err)
	}
	if got := outcomes(t, path); len(got) != 0 {
		t.Errorf("ledger %v while the write is under way", got)
	}
	close(goOn)
	if err := d.requests.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := outcomes(t, path); got[1] != ledger.Acknowledged {
		t.Errorf("ledger %v, want write 1 acknowledged", got)
	}
}

func TestAClientThatGoesAwayWhileItSendsLeavesNoWrite(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	c, err := net.Dial("tcp", serveForwarder(t, d))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST /user/register HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
		t.Errorf("answer %q, %v", answer, err)
	}
	if len(a.requests()) != 0 || len(outcomes(t, path)) != 0 {
		t.Errorf("the app has %d requests, the ledger %v", len(a.requests()), outcomes(t, path))
	}
}

func TestAPanicLeavesNoIDWithoutAnOutcome(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	d.outage = nil // what comes after the app's answer panics
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic: the test tests nothing")
			}
		}()
		ask(d, http.MethodPost, wire.SocialPathRegister, "{}")
	}()
	if got := outcomes(t, path); len(got) != 1 {
		t.Errorf("ledger %v, want an outcome of write 1", got)
	}
	if got := d.figures.Total(); got.Requests != 1 || got.Failures != 1 {
		t.Errorf("figures: %d requests, %d failures, want one failed", got.Requests, got.Failures)
	}
	if err := d.requests.drain(t.Context()); err != nil {
		t.Errorf("the request still counts as in flight: %v", err)
	}
}

// TestALedgerThatCannotBeWritten limits the size of files as a full disk would.
func TestALedgerThatCannotBeWritten(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	url := "http://" + serveForwarder(t, d)
	if r := register(t, url); r.StatusCode != 201 {
		t.Fatalf("status %d", r.StatusCode)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	restore := limitFileSize(t, uint64(info.Size())+ledger.RecordBytes/2)
	r := register(t, url)
	body, err := io.ReadAll(r.Body)
	restore()
	if err != nil || r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "record that write 2 was acknowledged") {
		t.Errorf("status %d, %s", r.StatusCode, body)
	}
	if got := d.state.get().Failed; !strings.Contains(got, "ledger") {
		t.Errorf("failed: %q", got)
	}
	select {
	case <-d.state.changed:
	default:
		t.Error("the failure does not wait to be published")
	}
	if r := register(t, url); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the next write has status %d", r.StatusCode)
	}
	if n := len(a.requests()); n != 2 {
		t.Errorf("the app got %d writes, want 2: none after the failure", n)
	}
	if got := outcomes(t, path); len(got) != 1 || got[1] != ledger.Acknowledged {
		t.Errorf("ledger %v, want write 1 alone", got)
	}
}

func limitFileSize(t *testing.T, bytes uint64) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	// The limit is the process's, so that it holds for the log which `go test` has it write of the variables that it reads, too.
	// A line longer than that log's buffer leaves the buffer empty: nothing of it is due to be written meanwhile.
	_ = os.Getenv(strings.Repeat("x", 3*4096))
	limit := before
	limit.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWritesOfManyClientsAtOnceAreEachInTheLedgerOnce(t *testing.T) {
	a := newApp(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Got", r.Header.Get(wire.HeaderWriteID))
		w.WriteHeader(201)
	})
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	url := "http://" + serveForwarder(t, d)
	var mu sync.Mutex
	ids := map[string]int{}
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 100 {
				r, err := http.Post(url+wire.SocialPathRegister, "", strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				r.Body.Close()
				mu.Lock()
				ids[r.Header.Get("Got")]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	got := outcomes(t, path)
	if len(ids) != 2000 || len(got) != 2000 || len(a.requests()) != 2000 {
		t.Fatalf("%d ids at the app, %d in the ledger, %d requests, want 2000 each", len(ids), len(got), len(a.requests()))
	}
	for id := range got {
		if ids[fmt.Sprint(id)] != 1 {
			t.Errorf("write %d reached the app %d times", id, ids[fmt.Sprint(id)])
		}
	}
}

func TestALedgerThatIsClosedWhileTheRecorderStopsIsNoFailure(t *testing.T) {
	a := newApp(t, answering(201))
	d, path := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	if r := register(t, "http://"+serveForwarder(t, d)); r.StatusCode != 201 {
		t.Fatalf("status %d", r.StatusCode)
	}
	if err := d.ledger.(*ledger.Writer).Close(); err != nil {
		t.Fatal(err)
	}
	if r := register(t, "http://"+serveForwarder(t, d)); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d", r.StatusCode)
	}
	if d.state.failure() != "" || len(a.requests()) != 1 || len(outcomes(t, path)) != 1 {
		t.Errorf("failed %q, the app has %d requests", d.state.failure(), len(a.requests()))
	}
}
