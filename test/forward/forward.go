// Package forward lets tests reach a port of a pod through the API server.
package forward

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// Port returns the port of this machine that leads to a pod's port until the test ends.
func Port(t *testing.T, config *rest.Config, namespace, pod string, port int) uint16 {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	check(t, err)
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(config)
	check(t, err)
	stop, ready := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop) })
	f, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url),
		[]string{fmt.Sprintf("0:%d", port)}, stop, ready, io.Discard, io.Discard)
	check(t, err)
	failed := make(chan error, 1)
	go func() { failed <- f.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		t.Fatalf("forward port %d of pod %s: %v", port, pod, err)
	}
	ports, err := f.GetPorts()
	check(t, err)
	return ports[0].Local
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
