package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"replab.dev/internal/agent/fault"
	"replab.dev/internal/agent/link"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/wire"
)

// fenceAnswer is how long a request to fence waits for the server before it is answered that it is not fenced yet.
const fenceAnswer = 2 * time.Second

func (a *api) lease(w http.ResponseWriter, r *http.Request) {
	var l wire.Lease
	if err := part.Decode(w, r, &l); err != nil {
		return
	}
	if l.TTLMilliseconds <= 0 {
		http.Error(w, "ttlMilliseconds must be above 0; POST "+wire.AgentPathFence+" ends a lease", http.StatusBadRequest)
		return
	}
	err := a.keeper.renew(time.Duration(l.TTLMilliseconds) * time.Millisecond)
	switch {
	case errors.Is(err, errFencing):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (a *api) fence(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), fenceAnswer)
	defer cancel()
	if err := a.keeper.fence(ctx); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (a *api) putFault(w http.ResponseWriter, r *http.Request) {
	var request wire.FaultRequest
	if err := part.Decode(w, r, &request); err != nil {
		return
	}
	if request.Name != r.PathValue("name") {
		http.Error(w, fmt.Sprintf("the fault's name is %q in the path and %q in the body", r.PathValue("name"), request.Name), http.StatusBadRequest)
		return
	}
	record, err := a.faults.Put(request) // goes on if the client goes away
	answerWith(w, record, err)
}

func (a *api) putLinks(w http.ResponseWriter, r *http.Request) {
	var request wire.Links
	if err := part.Decode(w, r, &request); err != nil {
		return
	}
	s, err := a.links.Set(request) // goes on if the client goes away
	answerWith(w, s, err)
}

func (a *api) roundTrips(w http.ResponseWriter, r *http.Request) {
	var request wire.RoundTripRequest
	if err := part.Decode(w, r, &request); err != nil {
		return
	}
	trips, err := link.Measure(r.Context(), request)
	answerWith(w, trips, err)
}

// answerWith gives a document, or says by the status what was wrong.
func answerWith(w http.ResponseWriter, document any, err error) {
	switch {
	case err == nil:
		part.JSON(w, document)
	case errors.Is(err, fault.ErrInvalid), errors.Is(err, link.ErrInvalid):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, fault.ErrOtherPod), errors.Is(err, link.ErrOtherPod):
		http.Error(w, err.Error(), http.StatusConflict)
	case errors.Is(err, fault.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
