package postgres_test

import (
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"replab.dev/internal/wire"
)

// backend speaks as a server does, and answers what a test has it answer.
type backend struct {
	listener net.Listener
	// greet, when it is set, answers the start of a connection instead of letting it in.
	greet []pgproto3.BackendMessage
	// answer gets the number of an executed statement, from 1 on, and of the connection, and answers it. It returns false to close the
	// connection then.
	answer func(c *pgproto3.Backend, statement, connection int) bool

	mu          sync.Mutex
	connections int
	statements  int
	closed      chan struct{} // gets one for each connection that the backend closed
	open        []net.Conn
}

// startBackend serves until the test ends.
func startBackend(t *testing.T, b *backend) wire.Endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.listener, b.closed = l, make(chan struct{}, 100)
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, c := range b.open {
			_ = c.Close()
		}
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.open = append(b.open, c)
			b.mu.Unlock()
			go b.serve(c)
		}
	}()
	return wire.Endpoint{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port}
}

// counts are the connections and the executed statements so far.
func (b *backend) counts() (connections, statements int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.connections, b.statements
}

func (b *backend) serve(conn net.Conn) {
	c := pgproto3.NewBackend(conn, conn)
	start, err := c.ReceiveStartupMessage()
	if err != nil {
		return
	}
	if _, ok := start.(*pgproto3.StartupMessage); !ok {
		return // a cancel is left without an answer: the connection stays open
	}
	if b.greet != nil {
		send(c, b.greet...)
		_ = conn.Close()
		return
	}
	b.mu.Lock()
	b.connections++
	connection := b.connections
	b.mu.Unlock()
	send(c, &pgproto3.AuthenticationOk{}, &pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}}, ready)
	for {
		message, err := c.Receive()
		if err != nil {
			_ = conn.Close()
			return
		}
		switch message.(type) {
		case *pgproto3.Query: // the first words of a pool
			send(c, column, &pgproto3.DataRow{Values: [][]byte{[]byte("fake")}}, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, ready)
		case *pgproto3.Sync:
			b.mu.Lock()
			b.statements++
			n := b.statements
			b.mu.Unlock()
			if !b.answer(c, n, connection) {
				_ = conn.Close()
				b.closed <- struct{}{}
				return
			}
		}
	}
}

// Parts of answers.
var (
	ready    = &pgproto3.ReadyForQuery{TxStatus: 'I'}
	column   = &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("id"), DataTypeOID: 20, DataTypeSize: 8}}}
	inserted = []pgproto3.BackendMessage{
		&pgproto3.BindComplete{}, column, &pgproto3.DataRow{Values: [][]byte{[]byte("7")}}, &pgproto3.CommandComplete{CommandTag: []byte("INSERT 0 1")},
	}
)

// refused is an error of a server.
func refused(severity, code, constraint string) *pgproto3.ErrorResponse {
	return &pgproto3.ErrorResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: "refused", ConstraintName: constraint}
}

// noticed is a notice of a server.
func noticed(severity, code string) *pgproto3.NoticeResponse {
	return &pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: "canceling wait for synchronous replication"}
}

func send(c *pgproto3.Backend, messages ...pgproto3.BackendMessage) {
	for _, m := range messages {
		c.Send(m)
	}
	_ = c.Flush() // one that is gone has nothing to read
}

// answers with some messages, and keeps the connection.
func answers(messages ...pgproto3.BackendMessage) func(*pgproto3.Backend, int, int) bool {
	return func(c *pgproto3.Backend, _, _ int) bool {
		send(c, messages...)
		return true
	}
}

// ends answers with some messages, and closes the connection.
func ends(messages ...pgproto3.BackendMessage) func(*pgproto3.Backend, int, int) bool {
	return func(c *pgproto3.Backend, _, _ int) bool {
		send(c, messages...)
		return false
	}
}
