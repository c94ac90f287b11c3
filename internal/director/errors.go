package director

import "errors"

var (
	errNotNow     = errors.New("not now")
	errNoSuchNode = errors.New("no such node")
)
