package mysql

import (
	"testing"

	"replab.dev/internal/engine"
)

func TestIsServer(t *testing.T) {
	argv := []string{"mysqld", "--defaults-file=/etc/my.cnf"}
	initialization, err := Server{}.Initialization(argv, "/data.new", "/tmp/init.sql", func(string) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		process []string
		want    bool
	}{
		{"the server as the wrapper starts it", Server{}.Start(argv, engine.StartParams{Ordinal: 2}).Argv, true},
		{"one that makes a data directory is not it", initialization.Argv, false},
		{"one with another configuration is not it", []string{"mysqld", "--defaults-file=/etc/other.cnf"}, false},
		{"a process without arguments, as a zombie is, is not it", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Server{}).IsServer(argv, c.process); got != c.want {
				t.Errorf("got %v for %q", got, c.process)
			}
		})
	}
}
