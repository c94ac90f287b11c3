package recorder

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"replab.dev/internal/wire"
)

func TestTheRecorderTellsWhoWatches(t *testing.T) {
	b := newBench(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) })
	b.cfg.Nodes = []wire.Node{{Name: "x-db-0", Host: "127.0.0.1"}}
	b.run()
	live := func() (l wire.RecorderLive) {
		code, body := b.get(b.control(wire.RecorderPathLive + "?seconds=5"))
		if err := json.Unmarshal(body, &l); code != http.StatusOK || err != nil {
			t.Fatalf("%d %s: %v", code, body, err)
		}
		return l
	}
	if l := live(); l.LoadStartedAt != nil || l.Now == nil || len(l.Stages) != 2 || len(l.Recent) != 0 || len(l.Nodes) != 1 {
		t.Errorf("before the load: %+v", l)
	}
	b.get("http://" + b.cfg.Listen + "/users/1")
	eventually(t, "the first second is over", func() bool {
		l := live()
		return len(l.Recent) > 0 && l.Recent[0].Requests == 1 && l.Stages[0].Requests == 1 && l.LoadStartedAt != nil
	})
	for _, seconds := range []string{"0", "61", "x"} {
		if code, _ := b.get(b.control(wire.RecorderPathLive + "?seconds=" + seconds)); code != http.StatusBadRequest {
			t.Errorf("%s seconds: %d", seconds, code)
		}
	}
}

func TestOnlySomeAreAnsweredAtOnce(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	handler := bounded(2, func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	ask := func() int {
		rw := httptest.NewRecorder()
		handler(rw, httptest.NewRequest(http.MethodGet, "/live", nil))
		return rw.Code
	}
	answered := make(chan int)
	for range 2 {
		go func() { answered <- ask() }()
		<-entered
	}
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("a third one gets %d", code)
	}
	close(leave)
	for range 2 {
		if code := <-answered; code != http.StatusOK {
			t.Errorf("one of two gets %d", code)
		}
	}
	go func() { <-entered }()
	if code := ask(); code != http.StatusOK {
		t.Errorf("one who comes later gets %d", code)
	}
}
