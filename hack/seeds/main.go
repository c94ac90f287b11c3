// Command seeds prints the tables of a seed document beside what the experiments that reproduce it have measured, on the cluster of
// KUBECONFIG: `go run ./hack/seeds 001`, or with a namespace other than default behind it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := show(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(1)
	}
}

func show(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 0 || len(args) > 2 || args[0] != "001" {
		return errors.New("name a seed, 001, and the namespace of its experiments if that is not default")
	}
	namespace := "default"
	if len(args) == 2 {
		namespace = args[1]
	}
	cluster, err := connect()
	if err != nil {
		return err
	}
	runs := map[string]run{}
	for _, p := range seed001 {
		var m corev1.ConfigMap
		switch err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: report.Name(p.experiment)}, &m); {
		case client.IgnoreNotFound(err) != nil:
			return err
		case err != nil:
			continue
		}
		results, err := read(m)
		if err != nil {
			return fmt.Errorf("results of experiment %s: %w", p.experiment, err)
		}
		runs[p.experiment] = figuresOf(results)
	}
	fmt.Fprint(out, text(seed001, runs))
	return nil
}

func connect() (client.Client, error) {
	ctrl.SetLogger(logr.Discard()) // the library's own log is not for people
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w; set KUBECONFIG", err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

func read(m corev1.ConfigMap) (report.Results, error) {
	var r report.Results
	if packed, ok := m.BinaryData[report.KeyCompressed]; ok {
		return r, report.Unpack(packed, &r)
	}
	return r, json.Unmarshal([]byte(m.Data[report.Key]), &r)
}
