package mysql

import (
	"context"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// OpenRows implements engine.RowOpener.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	r, err := family.OpenSocketReader(ctx, socket, password, dialect.Reader)
	if err != nil {
		return nil, err
	}
	return Reader{r}, nil
}
