package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/httpclient"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// state is what a member's agent says; it is zero while that does not answer.
func (tr *trio) state(m *trioMember) wire.NodeState {
	ctx, cancel := context.WithTimeout(tr.t.Context(), 5*time.Second)
	defer cancel()
	s, _ := client.Agent{HTTP: tr.http, URL: client.URL(m.Host)}.State(ctx)
	return s
}

// group is what a member's agent says of the group, once it says something.
func (tr *trio) group(m *trioMember) (g *wire.GroupState) {
	tr.t.Helper()
	tr.await("the agent of "+m.Name+" answers", time.Minute, func() bool { g = tr.state(m).Group; return g != nil })
	return g
}

// pid of a member's server, once there is one.
func (tr *trio) pid(m *trioMember) (pid int) {
	tr.t.Helper()
	tr.await(m.Name+" has a server", time.Minute, func() bool { pid = int(tr.state(m).ServerPID); return pid != 0 })
	return pid
}

// writer is the member that takes the writes, nil while none says so.
func (tr *trio) writer() *trioMember {
	for _, m := range tr.members {
		if g := tr.state(m).Group; g != nil && g.Writes {
			return m
		}
	}
	return nil
}

// awaitWriter waits for one.
func (tr *trio) awaitWriter() (m *trioMember) {
	tr.t.Helper()
	tr.await("a member takes the writes", time.Minute, func() bool { m = tr.writer(); return m != nil })
	return m
}

// held are the write ids that a member holds, in their order.
func (tr *trio) held(m *trioMember) []uint64 {
	tr.t.Helper()
	rows, err := m.db.Query("SELECT write_id FROM users WHERE write_id IS NOT NULL ORDER BY write_id")
	must(tr.t, err)
	defer rows.Close()
	var ids []uint64
	for rows.Next() {
		var id uint64
		must(tr.t, rows.Scan(&id))
		ids = append(ids, id)
	}
	must(tr.t, rows.Err())
	return ids
}

// inspections are what a member's agent has kept, and the ids that they found.
func (tr *trio) inspections(m *trioMember) (wire.Inspections, ledger.Bitmap) {
	tr.t.Helper()
	var list wire.Inspections
	text, err := httpclient.Do(tr.t.Context(), tr.http, httpclient.Request{Method: http.MethodGet, URL: client.URL(m.Host) + wire.AgentPathInspections})
	must(tr.t, err)
	must(tr.t, json.Unmarshal(text, &list))
	text, err = httpclient.Do(tr.t.Context(), tr.http, httpclient.Request{Method: http.MethodGet, URL: client.URL(m.Host) + wire.AgentPathInspected})
	must(tr.t, err)
	ids, err := ledger.ReadBitmap(bytes.NewReader(text))
	must(tr.t, err)
	return list, ids
}

// missing are those that are in the first list and not in the second, which is in order.
func missing(ids, in []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool {
		_, found := slices.BinarySearch(in, id)
		return found
	})
}
