package mariadb

import (
	"context"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// OpenRows implements engine.RowOpener. A server that runs alone may have no binary log, so it is asked for its position.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	return family.OpenSocketReader(ctx, socket, password, family.ReaderWords{Executed: "SELECT @@GLOBAL.gtid_current_pos"})
}
