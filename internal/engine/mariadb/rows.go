package mariadb

import (
	"context"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// aloneRows implements engine.Rows.
type aloneRows struct{ *family.Reader }

// OpenRows implements engine.RowOpener.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	r, err := family.OpenSocketReader(ctx, socket, password, family.ReaderWords{})
	if err != nil {
		return nil, err
	}
	return aloneRows{r}, nil
}

// Executed implements engine.Rows.
func (r aloneRows) Executed(ctx context.Context) (string, error) {
	var position string
	err := r.Row(ctx, "SELECT @@GLOBAL.gtid_current_pos", nil, &position)
	return position, err
}
