package family_test

import (
	"reflect"
	"testing"

	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
)

// The wrapper must offer every method that the driver's connection has: database/sql looks for some of them at run time
// and does without what it does not find. Those in deprecated are looked for only where the newer ones are missing.
func wrapperHidesNothing(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, nil)
	conn, err := a.WritePool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	deprecated := map[string]bool{"Exec": true, "Query": true}
	err = conn.Raw(func(c any) error {
		wrapped, inner := reflect.TypeOf(c), reflect.TypeOf(family.DriverConn(c))
		for i := range inner.NumMethod() {
			name := inner.Method(i).Name
			if _, ok := wrapped.MethodByName(name); !ok && !deprecated[name] {
				t.Errorf("the wrapper hides %s of %s", name, inner)
			}
		}
		if inner.NumMethod() < 9 {
			t.Errorf("%s has %d methods: is it the driver's connection?", inner, inner.NumMethod())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func namelessConnectionIsNotUsed(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), "SELECT no_such_column", nil)
	if r := a.register(1); r.rejected != "not-sent" || r.node != "" {
		t.Fatalf("answered %+v", r)
	}
	if n := a.WritePool().Stats().OpenConnections; n != 0 {
		t.Fatalf("%d connections stay open", n)
	}
}

// The driver's liveness check is what finds connections to a server that was killed while they were idle. It must act
// through the wrapper, without a request being spent on each of them.
func deadIdleConnectionsAreFoundOut(t *testing.T, server *familytest.Server) {
	r, endpoint := startRelay(t, server)
	a := openStore(t, server, endpoint, "SELECT @@port", nil)
	warm(t, a.WritePool())
	r.cut()
	for id := range a.WritePool().Stats().MaxOpenConnections {
		if got := a.register(uint64(8000 + id)); got.err != nil {
			t.Fatalf("write %d after the connections were lost answered %+v", id, got)
		}
	}
}
