package witness

import (
	"encoding/json"
	"net/http"
	"testing"

	"replab.dev/internal/wire"
)

func TestTheWitnessTellsWhoWatches(t *testing.T) {
	b := newBench(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusOK) })
	b.cfg.Nodes = []wire.Node{{Name: "x-db-0", Host: "127.0.0.1"}}
	b.run()
	live := func() (l wire.WitnessLive) {
		code, body := b.get(b.control(wire.WitnessPathLive + "?seconds=5"))
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
		if code, _ := b.get(b.control(wire.WitnessPathLive + "?seconds=" + seconds)); code != http.StatusBadRequest {
			t.Errorf("%s seconds: %d", seconds, code)
		}
	}
}
