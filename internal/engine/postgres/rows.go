package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var _ engine.RowOpener = Server{}

// OpenRows implements engine.RowOpener. A server that runs alone has its socket in the folder of this one: see AloneSocket.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	r, err := openReader(ctx, administrator(socket, password))
	if err != nil {
		return nil, err
	}
	if err := r.Begin(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return held{r}, nil
}

// administrator of a server that runs alone.
func administrator(socket, password string) account {
	return account{
		name: wire.AccountAdmin, password: password, database: wire.Database, program: "replab-inspection",
		endpoint: wire.Endpoint{Host: filepath.Dir(socket), Port: alonePort},
	}
}

// held is what a server that runs alone holds, at one moment.
type held struct{ *Reader }

// Executed is the timeline and how far the log was carried out, which is to its end. What a standby has followed since its last checkpoint
// may be of a later timeline than that.
func (h held) Executed(ctx context.Context) (executed string, err error) {
	err = scan(ctx, h.conn, `SELECT (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r)
 || ':' || CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END`, &executed)
	return executed, err
}

// Tables implements engine.Log. A file is named as in the log: tablespace, database and number.
func (Server) Tables(ctx context.Context, socket, password string, tables ...string) (map[string]string, error) {
	r, err := openReader(ctx, administrator(socket, password))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var names []string
	for _, table := range tables {
		names = append(names, quote(table))
	}
	found, err := rows(ctx, r.conn, `SELECT c.relname, format('%s/%s/%s', coalesce(nullif(c.reltablespace, 0), d.dattablespace), d.oid, pg_relation_filenode(c.oid))
FROM pg_class c, pg_database d WHERE d.datname = current_database() AND c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
 AND c.relname IN (`+strings.Join(names, ", ")+`)`)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, f := range found {
		files[string(f[0])] = string(f[1])
	}
	if len(files) != len(tables) {
		return nil, fmt.Errorf("of the tables %s the server has %d", strings.Join(tables, ", "), len(files))
	}
	return files, nil
}
