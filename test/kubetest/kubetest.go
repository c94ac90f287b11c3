// Package kubetest gives tests a real API server: kube-apiserver and etcd from KUBEBUILDER_ASSETS, or from .local/bin of this
// checkout. There are no controllers in it: nothing creates pods or collects garbage.
package kubetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"replab.dev/api/v1alpha1"
)

const missing = "no kube-apiserver and etcd here: run `make local-bin`, or set KUBEBUILDER_ASSETS; -short starts none"

// patience with the start and the end of an API server.
const patience = 2 * time.Minute

// What Main started; nil where there is none.
var (
	config *rest.Config
	server client.Client
)

// Main starts an API server that has the CRDs, runs the tests and stops it. A package calls it from its TestMain:
// os.Exit(kubetest.Main(m)). Without the binaries, and with -short, the tests that ask for a client are skipped. Without
// the binaries all fail when REPLAB_REQUIRE_ENVTEST is set, as `make test` does.
func Main(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	assets := Assets()
	if assets == "" {
		if os.Getenv("REPLAB_REQUIRE_ENVTEST") != "" {
			fmt.Fprintln(os.Stderr, missing)
			return 1
		}
		return m.Run()
	}
	env := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{CRDFile(), SuiteCRDFile()},
		ErrorIfCRDPathMissing: true,
		// On a busy machine they take longer than envtest waits by itself.
		ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience, CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: patience},
	}
	started, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server and install the CRD:", err)
		return 1
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}()
	config = started
	if server, err = newClient(config); err != nil {
		fmt.Fprintln(os.Stderr, "make a client:", err)
		return 1
	}
	return m.Run()
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// Config reaches the API server as an administrator. The test is skipped where there is none.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	if config == nil {
		t.Skip(missing)
	}
	return rest.CopyConfig(config)
}

// Client knows Kubernetes' own types and replab's. The test is skipped where there is no API server.
func Client(t testing.TB) client.Client {
	t.Helper()
	if server == nil {
		t.Skip(missing)
	}
	return server
}

// CRDFile is the generated CRD of experiments.
func CRDFile() string {
	return filepath.Join(Root(), "config", "crd", "replab.dev_replicationexperiments.yaml")
}

// SuiteCRDFile is the generated CRD of suites.
func SuiteCRDFile() string {
	return filepath.Join(Root(), "config", "crd", "replab.dev_replicationsuites.yaml")
}

// Kubeconfig is a file with which commands reach the API server as an administrator.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	config := Config(t)
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Root is the folder of this checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Assets is the folder with kube-apiserver, etcd and kubectl, empty where there is none.
func Assets() string {
	for _, dir := range []string{os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(Root(), ".local", "bin")} {
		if dir != "" && exists(filepath.Join(dir, "kube-apiserver")) && exists(filepath.Join(dir, "etcd")) {
			return dir
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
