package agent

import (
	"fmt"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

// lookInterval is the time between two looks at the server.
const lookInterval = 200 * time.Millisecond

// watcher looks at what the server says of its group.
type watcher struct {
	watch.Watcher[engine.GroupLook]
}

func newWatcher(finder *proc.Finder, client engine.Member) *watcher {
	var stable Stability
	return &watcher{watch.Watcher[engine.GroupLook]{Finder: finder, Question: client.Group, Interval: lookInterval, Seen: func(a *watch.Answer[engine.GroupLook]) {
		if a.Err != nil {
			stable.Silent()
			return
		}
		a.Value.StableMilliseconds = stable.Follow(fmt.Sprint(a.Of), a.Value, a.At).Milliseconds()
	}}}
}

// Look implements Server.
func (w *watcher) Look() (Look, error) {
	server, err := w.Finder.Find()
	if err != nil {
		return Look{}, err
	}
	a := w.Last()
	if err := a.Stands(server, time.Now()); err != nil {
		return Look{Server: server.ID()}, err
	}
	return Look{Server: server.ID(), View: a.Value.GroupView, Asked: a.Asked}, nil
}
