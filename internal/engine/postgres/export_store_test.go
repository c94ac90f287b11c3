package postgres

import "context"

// Rejections are the errors that are told apart by their number alone.
var Rejections = rejections

// Search is the statement of a search.
var Search = search

// Quiet is how a store looks at an idle connection.
var Quiet = quiet

// Show is a setting of a reader's session.
func (r *Reader) Show(ctx context.Context, setting string) (string, error) {
	found, err := row(ctx, r.conn, "SHOW "+setting)
	if err != nil {
		return "", err
	}
	return string(found[0]), nil
}
