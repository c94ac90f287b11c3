package director

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// writer inserts rows through whichever node is writable, one at a time, and keeps which were acknowledged.
type writer struct {
	lab   *lab
	mu    sync.Mutex
	acked []int
	next  int
	stop  func()
}

func (l *lab) write() *writer {
	w := &writer{lab: l}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				w.insert()
			}
		}
	})
	w.stop = sync.OnceFunc(func() { close(done); running.Wait() })
	l.t.Cleanup(w.stop)
	return w
}

// insert tries the nodes in turn: all but a primary refuse.
func (w *writer) insert() {
	w.next++
	for _, n := range w.lab.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, err := n.app.ExecContext(ctx, "INSERT INTO probe_writes VALUES (?, REPEAT('x', 200))", w.next)
		cancel()
		if err == nil {
			w.mu.Lock()
			w.acked = append(w.acked, w.next)
			w.mu.Unlock()
			return
		}
		var refused *driver.MySQLError
		if !errors.As(err, &refused) && !errors.Is(err, syscall.ECONNREFUSED) {
			return // it may have been done
		}
	}
	time.Sleep(5 * time.Millisecond) // before it tries them all again
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

// lost returns the acknowledged rows that a node has not.
func (w *writer) lost(n *testNode) []int {
	n.t.Helper()
	result, err := n.db.Query("SELECT id FROM probe_writes")
	if err != nil {
		n.t.Fatal(err)
	}
	defer result.Close()
	present := map[int]bool{}
	for result.Next() {
		var id int
		if err := result.Scan(&id); err != nil {
			n.t.Fatal(err)
		}
		present[id] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.acked), func(id int) bool { return present[id] })
}
