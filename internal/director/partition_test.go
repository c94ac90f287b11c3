package director

import (
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// passage forwards TCP connections to one address until it is cut; what is sent then stays unanswered, as in a partition.
type passage struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	open  *sync.Cond
	isCut bool
}

func newPassage(t *testing.T, target string) *passage {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &passage{listener: listener, target: target}
	p.open = sync.NewCond(&p.mu)
	t.Cleanup(func() { listener.Close(); p.cut(false) })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go p.forward(in)
		}
	}()
	return p
}

func (p *passage) forward(in net.Conn) {
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		in.Close()
		return
	}
	go p.pump(in, out)
	p.pump(out, in)
}

// pump copies one direction, held up while the passage is cut.
func (p *passage) pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if p.wait() && gone(from) {
			return
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// wait returns once the passage is open, and whether it was cut.
func (p *passage) wait() (wasCut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.isCut; wasCut = true {
		p.open.Wait()
	}
	return wasCut
}

// gone tells that the sender reset its connection meanwhile: the kernel that had not got through would send no more.
func gone(from net.Conn) bool {
	_ = from.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := from.Read(make([]byte, 1))
	_ = from.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func (p *passage) cut(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = yes
	p.open.Broadcast()
}

func (p *passage) port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// throughPassages puts a passage before a node's server and one before its agent, for the director and the replicas.
func (l *lab) throughPassages(i int) (cut func(bool)) {
	l.t.Helper()
	a := &l.places[i]
	target, err := url.Parse(a.AgentURL)
	if err != nil {
		l.t.Fatal(err)
	}
	server, agent := newPassage(l.t, a.hostPort()), newPassage(l.t, target.Host)
	a.Port, a.AgentURL = server.port(), "http://127.0.0.1:"+strconv.Itoa(agent.port())
	return func(yes bool) { server.cut(yes); agent.cut(yes) }
}
