package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// control returns the handler of the control port.
func (w *recorder) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.RecorderPathHealth, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "ok\n") // a client that is gone needs no answer
	})
	mux.HandleFunc("GET "+wire.RecorderPathState, w.handleState)
	mux.HandleFunc("GET "+wire.RecorderPathLive, bounded(answersAtOnce, w.handleLive))
	mux.Handle("POST "+wire.RecorderPathFinish, process.RequireToken(w.token, http.HandlerFunc(w.handleFinish)))
	mux.HandleFunc("GET "+wire.RecorderPathLedger, w.handleLedger)
	mux.Handle("GET "+wire.RecorderPathMetrics, metrics.Handler(w.shown))
	return mux
}

func (w *recorder) handleState(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "application/json")
	state := w.state.get()
	state.Now = new(metav1.NewMicroTime(w.now()))
	_ = json.NewEncoder(rw).Encode(state) // a client that is gone needs no answer
}

// handleFinish answers the results as JSON. The end comes even if the client does not wait for it.
func (w *recorder) handleFinish(rw http.ResponseWriter, r *http.Request) {
	packed, err := w.finish(context.WithoutCancel(r.Context()))
	if err != nil {
		slog.Error("finishing the measurement failed", "error", err)
		refuse(rw, http.StatusServiceUnavailable, err.Error())
		return
	}
	if r.Header.Get("Prefer") == httpclient.Minimal {
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		rw.Header().Set("Content-Encoding", "gzip")
		_, _ = rw.Write(packed) // a client that is gone asks again
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		refuse(rw, http.StatusInternalServerError, err.Error())
		return
	}
	_, _ = io.Copy(rw, z) // a client that is gone asks again
}

// handleLedger streams the ledger once it is complete.
func (w *recorder) handleLedger(rw http.ResponseWriter, r *http.Request) {
	if w.results.Load() == nil {
		refuse(rw, http.StatusConflict, "the ledger is still being written: POST "+wire.RecorderPathFinish+" first")
		return
	}
	f, err := os.Open(w.cfg.LedgerPath)
	if err != nil {
		refuse(rw, http.StatusInternalServerError, err.Error())
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		refuse(rw, http.StatusInternalServerError, err.Error())
		return
	}
	rw.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(rw, r, "", info.ModTime(), f)
}

// answersAtOnce bounds concurrent answers to people who watch.
const answersAtOnce = 2

// bounded refuses more than so many concurrent answers with 503, so that they do not slow the load.
func bounded(most int, answer http.HandlerFunc) http.HandlerFunc {
	places := make(chan struct{}, most)
	return func(rw http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			answer(rw, r)
		default:
			refuse(rw, http.StatusServiceUnavailable, strconv.Itoa(most)+" others are being answered: ask again")
		}
	}
}

// handleLive reports the progress of the load.
func (w *recorder) handleLive(rw http.ResponseWriter, r *http.Request) {
	most := wire.RecorderLiveMost
	if asked := r.URL.Query().Get(wire.RecorderLiveSeconds); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 || n > wire.RecorderLiveMost {
			refuse(rw, http.StatusBadRequest, wire.RecorderLiveSeconds+" must be a number from 1 to "+strconv.Itoa(wire.RecorderLiveMost))
			return
		}
		most = n
	}
	live := wire.RecorderLive{RecorderState: w.state.get(), Stages: w.forwarder.figures.Live(), Recent: w.forwarder.figures.Recent(most)}
	live.Now = new(metav1.NewMicroTime(w.now()))
	for _, n := range w.cfg.Nodes {
		live.Nodes = append(live.Nodes, n.Name)
	}
	live.FormerPrimaries = w.probes.formerPrimaries()
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(live) // a client that is gone needs no answer
}
