package k6

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"replab.dev/test/freeport"
)

// A k6 that was started paused makes no request until it is told to begin, whatever script it runs.
func TestPodsBeginWhenTheyAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"the built-in load", Script()},
		{"a user's script that asks in its setup", `
import http from 'k6/http';
export const options = { vus: 1, iterations: 2 };
export function setup() { http.get(__ENV.REPLAB_URL); }
export default function () { http.get(__ENV.REPLAB_URL); }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startTarget(t)
			var runs []*k6Run
			var urls []string
			for range 2 {
				address := freeport.Address(t)
				runs = append(runs, start(t, s, c.script, load(closed("only", 0, 1, 2)), "--paused", "--address="+address))
				urls = append(urls, "http://"+address+StatusPath)
			}
			for _, url := range urls {
				becomes(t, url, Paused)
			}
			if n := len(s.seen()); n > 0 {
				t.Errorf("%d requests were sent before anybody told k6 to begin", n)
			}
			for _, url := range urls {
				if code := patch(t, url); code != http.StatusOK {
					t.Errorf("told to begin, k6 answers %d", code)
				}
			}
			for _, r := range runs {
				if code, output := r.wait(); code != 0 {
					t.Errorf("k6 ended with %d:\n%s", code, output)
				}
			}
			if len(s.seen()) == 0 {
				t.Error("no request was sent")
			}
		})
	}
}

func TestAK6ThatHasBegunIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	s := startTarget(t)
	address := freeport.Address(t)
	r := start(t, s, Script(), load(closed("only", 0, 6, 1)), "--paused", "--address="+address)
	url := "http://" + address + StatusPath
	becomes(t, url, Paused)
	patch(t, url)
	becomes(t, url, Begun)
	if code := patch(t, url); code/100 == 2 {
		t.Errorf("told to begin a second time, k6 answers %d", code)
	}
	if summary, _ := r.succeed(); summary.Requests != int64(len(s.seen())) {
		t.Errorf("the server saw %d requests, k6 sent %d", len(s.seen()), summary.Requests)
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		want         State
		fails        bool
	}{
		{"virtual users are being made", `{"data":{"attributes":{"status":1,"paused":true}}}`, Preparing, false},
		{"ready and paused", `{"data":{"attributes":{"status":4,"paused":true}}}`, Paused, false},
		{"running", `{"data":{"attributes":{"status":7,"paused":false}}}`, Begun, false},
		{"another answer", `{"data":{}}`, Preparing, true},
		{"not JSON", `404 page not found`, Preparing, true},
	} {
		got, err := ParseState([]byte(c.answer))
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func becomes(t *testing.T, url string, want State) {
	t.Helper()
	var last string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // between two looks
		response, err := http.Get(url)
		if err != nil {
			last = err.Error()
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if state, err := ParseState(body); err == nil && state == want {
			return
		}
		last = string(body)
	}
	t.Fatalf("k6 at %s does not get to state %d: %s", url, want, last)
}

func patch(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPatch, url, bytes.NewReader(Resume()))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
