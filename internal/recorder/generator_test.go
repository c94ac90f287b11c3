package recorder

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

func TestTheLoadsFirstRequestNamesItsK6(t *testing.T) {
	for agent, want := range map[string]string{
		"k6/1.8.1 (https://k6.io/)": "1.8.1",
		"Grafana k6/2.0.0-rc1":      "2.0.0-rc1",
		"Grafana k6/v2.2.0":         "2.2.0",
		"mine/1.0":                  "",
		"task6/1.0":                 "",
		"":                          "",
	} {
		var g generator
		g.saw(agent)
		if g.name() != want {
			t.Errorf("%q names k6 %q, want %q", agent, g.name(), want)
		}
	}
	var g generator
	g.saw("curl/8")
	g.saw("k6/1.8.1")
	g.saw("k6/2.2.0")
	if g.name() != "1.8.1" {
		t.Errorf("k6 is %q, want the first that names itself", g.name())
	}
}

func TestTheRecorderNotesTheLoadsK6(t *testing.T) {
	a := newApp(t, answering(200))
	d, _ := newForwarder(t, a.Listener.Addr().String(), time.Minute)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+serveForwarder(t, d)+wire.SocialPathRegister, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "k6/1.8.1")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if d.generator.name() != "1.8.1" {
		t.Errorf("the recorder knows k6 %q", d.generator.name())
	}
}
