package controllers

import (
	"fmt"
	"net/http"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	"replab.dev/controllers/metrics"
)

// addHealth serves /healthz and /readyz. Both are 200 as long as the operator runs (docs/adr/0034).
func addHealth(mgr ctrl.Manager, address string, undecodable func() (int, error)) error {
	if address == "" {
		return nil
	}
	patience := time.Second
	return mgr.Add(&ctrlmanager.Server{Name: "health", ShutdownTimeout: &patience, Server: &http.Server{
		Addr: address, Handler: health(undecodable), ReadHeaderTimeout: 5 * time.Second,
	}})
}

// health says how many experiments cannot be decoded, and not which: everybody who reaches the port may ask.
func health(undecodable func() (int, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
		switch n, err := undecodable(); {
		case err != nil:
			fmt.Fprintln(w, "experiments:", err)
		case n > 0:
			fmt.Fprintf(w, "experiments: %d cannot be decoded; the log, their events and the metric %s name them\n", n, metrics.UndecodableFamily.Name)
		}
	})
	return mux
}
