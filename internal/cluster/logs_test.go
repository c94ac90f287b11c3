package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// TestLogTailSteersNoTerminal: it goes into conditions, reasons and events, which kubectl prints as they are.
func TestLogTailSteersNoTerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "one\x1b]0;title\a\ntwo\r\n\tthree \xc3")
	}))
	t.Cleanup(server.Close)
	core, err := typedcorev1.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "semisync-db-0"}}
	if got, want := (&Cluster{Core: core}).LogTail(t.Context(), pod, "server", false), "one ]0;title \ntwo \n\tthree \ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
