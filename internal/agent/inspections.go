package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"replab.dev/internal/agent/inspect"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// keepInspections has the agent read servers that are about to be started.
func (a *api) keepInspections(cfg wire.AgentConfig, e engine.Local, password string) error {
	if !cfg.Inspect {
		return nil
	}
	opener, ok := e.(engine.RowOpener)
	if !ok {
		return fmt.Errorf("engine %s cannot read a server that runs alone, and the configuration wants it inspected", cfg.Engine)
	}
	var err error
	a.inspector, err = inspect.New(cfg.StateDir, cfg.HoldDir, cfg.RunDir, func(ctx context.Context, socket string) (engine.Rows, error) {
		return opener.OpenRows(ctx, socket, password)
	})
	return err
}

func (a *api) inspections(w http.ResponseWriter, _ *http.Request) { part.JSON(w, a.inspector.All()) }

func (a *api) inspectedIDs(w http.ResponseWriter, _ *http.Request) {
	ids, err := a.inspector.IDs()
	switch {
	case errors.Is(err, inspect.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		defer ids.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.Copy(w, ids) // the client may be gone, and knows how many ids there are
	}
}
