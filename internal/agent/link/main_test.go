package link

import (
	"os"
	"testing"

	"replab.dev/test/netns"
)

func TestMain(m *testing.M) { os.Exit(netns.Main(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
