//go:build linux

package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

func TestTame(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"a container": {
			spec: `{"process": {"oomScoreAdj": -998, "capabilities": {"bounding": ["CAP_KILL", "CAP_SYS_RESOURCE"], "ambient": []}}, "linux": {"resources": {"memory": {"limit": 9223372036854771712}}}}`,
			want: `{"process": {"oomScoreAdj": 0, "capabilities": {"bounding": ["CAP_KILL"], "ambient": []}}, "linux": {"resources": {"memory": {"limit": 9223372036854771712}}}}`,
		},
		"a process in a container": {
			spec: `{"args": ["sh"], "capabilities": {"effective": ["CAP_SYS_RESOURCE"]}}`,
			want: `{"args": ["sh"], "capabilities": {"effective": []}}`,
		},
		"nothing to take": {
			spec: `{"process": {"oomScoreAdj": 100, "args": ["CAP_SYS_RESOURCE"]}}`,
			want: `{"process": {"oomScoreAdj": 100, "args": ["CAP_SYS_RESOURCE"]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tame([]byte(c.spec))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(parsed(t, string(got)), parsed(t, c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func parsed(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	sorted := map[string]json.RawMessage{}
	for name := range all {
		b, err := json.Marshal(all[name])
		if err != nil {
			t.Fatal(err)
		}
		sorted[name] = b
	}
	return sorted
}

func TestSpecs(t *testing.T) {
	for want, args := range map[string][]string{
		"/b/config.json": {"--root", "/r", "--log-format", "json", "create", "--bundle", "/b", "--pid-file", "/b/pid", "id"},
		"/c/config.json": {"create", "--bundle=/c", "id"},
		"/p":             {"exec", "--process", "/p", "--detach", "id"},
	} {
		if got := specs(args); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
	if got := specs([]string{"delete", "--force", "id"}); got != nil {
		t.Errorf("got %q", got)
	}
}
