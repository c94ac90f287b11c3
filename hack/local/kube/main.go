// Command kube is every daemon of a control plane and a node in one binary,
// with kubectl and kubeadm. It runs the one whose name it was started under, so the code that
// they share is compiled and linked once and lies in the page cache once.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmutil "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"replab.dev/hack/local/kube/provisioner"
)

// servers are built only when they are asked for: building one of them already
// registers flags and feature gates that are global to the process.
var servers = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              proxy.NewProxyCommand,
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

// others end the process in their own way.
var others = map[string]func(){
	"coredns":     runCoreDNS,
	"etcd":        func() { etcdmain.Main(os.Args) },
	"kubeadm":     runKubeadm,
	"kubectl":     runKubectl,
	"provisioner": provisioner.Main,
}

func main() {
	name := filepath.Base(os.Args[0])
	if server, ok := servers[name]; ok {
		os.Exit(cli.Run(server()))
	}
	if other, ok := others[name]; ok {
		other()
		return
	}
	fmt.Fprintf(os.Stderr, "%s: start this binary under one of these names: %s\n", name, strings.Join(names(), ", "))
	os.Exit(1)
}

// runKubectl ends the process as kubectl does: its errors are meant for people
// and carry exit codes of their own.
func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func runKubeadm() { kubeadmutil.HandleError(kubeadm.Run()) }

func names() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(servers)), maps.Keys(others))
	slices.Sort(all)
	return all
}
