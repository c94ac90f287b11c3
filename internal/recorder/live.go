package recorder

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// answersAtOnce bounds the answers to people who watch that are made at the same moment.
const answersAtOnce = 2

// bounded refuses with 503 what would be more than so many answers at the same moment: what is asked for must not slow the load down.
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

// handleLive tells people who watch how the load goes on.
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
	live := wire.RecorderLive{RecorderState: w.state.get(), Stages: w.door.figures.Live(), Recent: w.door.figures.Recent(most)}
	live.Now = new(metav1.NewMicroTime(w.now()))
	for _, n := range w.cfg.Nodes {
		live.Nodes = append(live.Nodes, n.Name)
	}
	live.FormerPrimaries = w.probes.formerPrimaries()
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(live) // a client that is gone needs no answer
}
