package witness

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// handleLive tells people who watch how the load goes on.
func (w *witness) handleLive(rw http.ResponseWriter, r *http.Request) {
	most := wire.WitnessLiveMost
	if asked := r.URL.Query().Get(wire.WitnessLiveSeconds); asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 || n > wire.WitnessLiveMost {
			refuse(rw, http.StatusBadRequest, wire.WitnessLiveSeconds+" must be a number from 1 to "+strconv.Itoa(wire.WitnessLiveMost))
			return
		}
		most = n
	}
	live := wire.WitnessLive{WitnessState: w.state.get(), Stages: w.door.figures.Live(), Recent: w.door.figures.Recent(most)}
	live.Now = new(metav1.NewMicroTime(w.now()))
	for _, n := range w.cfg.Nodes {
		live.Nodes = append(live.Nodes, n.Name)
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(live) // a client that is gone needs no answer
}
