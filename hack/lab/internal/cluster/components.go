// Package cluster brings the lab up, takes it down, and says how it is.
package cluster

import (
	"fmt"

	"replab.dev/hack/lab/internal/conf"
	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/proc"
)

// component is a daemon and how to see that it works.
type component struct {
	proc.Daemon
	// probe returns nil when the daemon serves.
	probe probe
}

// stages lists the components in the order in which they start: those of one
// stage need all stages before and do not need each other.
func stages(l layout.Layout) [][]component {
	return [][]component{
		{etcd(l), containerd(l)},
		{apiserver(l)},
		{controllerManager(l), scheduler(l), kubelet(l), kubeProxy(l), coredns(l), provisioner(l)},
	}
}

func local(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }

func etcd(l layout.Layout) component {
	health := fmt.Sprintf("http://127.0.0.1:%d", conf.EtcdHealth)
	return component{
		Daemon: proc.Daemon{
			Name: "etcd", Path: l.Bin("etcd"),
			Args: []string{
				"--name=lab", "--data-dir=" + l.Data("etcd"),
				"--listen-client-urls=" + local(conf.EtcdPort), "--advertise-client-urls=" + local(conf.EtcdPort),
				"--listen-peer-urls=" + local(conf.EtcdPeer), "--initial-advertise-peer-urls=" + local(conf.EtcdPeer),
				"--initial-cluster=lab=" + local(conf.EtcdPeer),
				"--cert-file=" + l.PKI("etcd.crt"), "--key-file=" + l.PKI("etcd.key"),
				"--client-cert-auth", "--trusted-ca-file=" + l.PKI("etcd-ca.crt"),
				"--peer-cert-file=" + l.PKI("etcd.crt"), "--peer-key-file=" + l.PKI("etcd.key"),
				"--peer-client-cert-auth", "--peer-trusted-ca-file=" + l.PKI("etcd-ca.crt"),
				"--listen-metrics-urls=" + health,
				// A lab can lose its last seconds at a power cut, and the
				// databases under test want the disk.
				"--unsafe-no-fsync",
				"--auto-compaction-retention=1h", "--log-level=warn",
			},
			Inputs: []string{l.PKI("etcd.crt"), l.PKI("etcd-ca.crt")},
		},
		probe: webProbe(health + "/readyz"),
	}
}

func containerd(l layout.Layout) component {
	return component{
		Daemon: proc.Daemon{
			Name: "containerd", Path: "/usr/bin/containerd",
			Args:   []string{"--config", l.Conf("containerd.toml")},
			Inputs: []string{l.Conf("containerd.toml"), l.Conf("cni", "10-replab.conflist")},
		},
		probe: socketProbe(l.ContainerdSocket()),
	}
}

func apiserver(l layout.Layout) component {
	return component{
		Daemon: proc.Daemon{
			Name: "kube-apiserver", Path: l.Bin("kube-apiserver"),
			Args: []string{
				"--bind-address=" + conf.NodeIP, "--advertise-address=" + conf.NodeIP, fmt.Sprintf("--secure-port=%d", conf.APIPort),
				"--tls-cert-file=" + l.PKI("apiserver.crt"), "--tls-private-key-file=" + l.PKI("apiserver.key"),
				"--client-ca-file=" + l.PKI("ca.crt"),
				"--etcd-servers=" + local(conf.EtcdPort), "--etcd-cafile=" + l.PKI("etcd-ca.crt"),
				"--etcd-certfile=" + l.PKI("apiserver-etcd-client.crt"), "--etcd-keyfile=" + l.PKI("apiserver-etcd-client.key"),
				"--kubelet-certificate-authority=" + l.PKI("ca.crt"),
				"--kubelet-client-certificate=" + l.PKI("apiserver-kubelet-client.crt"),
				"--kubelet-client-key=" + l.PKI("apiserver-kubelet-client.key"),
				"--kubelet-preferred-address-types=InternalIP",
				"--service-cluster-ip-range=" + conf.ServiceCIDR,
				"--service-account-issuer=https://kubernetes.default.svc." + conf.Domain,
				"--service-account-key-file=" + l.PKI("service-account.pub"),
				"--service-account-signing-key-file=" + l.PKI("service-account.key"),
				"--requestheader-client-ca-file=" + l.PKI("front-proxy-ca.crt"), "--requestheader-allowed-names=front-proxy-client",
				"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
				"--requestheader-extra-headers-prefix=X-Remote-Extra-",
				"--proxy-client-cert-file=" + l.PKI("front-proxy-client.crt"), "--proxy-client-key-file=" + l.PKI("front-proxy-client.key"),
				"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
				"--profiling=false",
			},
			Inputs: []string{l.PKI("apiserver.crt"), l.PKI("ca.crt"), l.PKI("apiserver-etcd-client.crt"), l.PKI("service-account.key")},
		},
		probe: apiProbe(l, "/readyz"),
	}
}

func controllerManager(l layout.Layout) component {
	kubeconfig := l.Conf("kube-controller-manager.kubeconfig")
	return component{
		Daemon: proc.Daemon{
			Name: "kube-controller-manager", Path: l.Bin("kube-controller-manager"),
			Args: []string{
				"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
				"--bind-address=127.0.0.1", "--leader-elect=false", "--use-service-account-credentials",
				"--root-ca-file=" + l.PKI("ca.crt"), "--service-account-private-key-file=" + l.PKI("service-account.key"),
				"--cluster-signing-cert-file=" + l.PKI("ca.crt"), "--cluster-signing-key-file=" + l.PKI("ca.key"),
				"--flex-volume-plugin-dir=" + l.Data("volume-plugins"), "--profiling=false",
			},
			Inputs: []string{kubeconfig, l.PKI("service-account.key")},
		},
		probe: webProbe("https://127.0.0.1:10257/healthz"),
	}
}

func scheduler(l layout.Layout) component {
	kubeconfig := l.Conf("kube-scheduler.kubeconfig")
	return component{
		Daemon: proc.Daemon{
			Name: "kube-scheduler", Path: l.Bin("kube-scheduler"),
			Args: []string{
				"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
				"--bind-address=127.0.0.1", "--leader-elect=false", "--profiling=false",
			},
			Inputs: []string{kubeconfig},
		},
		probe: webProbe("https://127.0.0.1:10259/healthz"),
	}
}

func kubelet(l layout.Layout) component {
	return component{
		Daemon: proc.Daemon{
			Name: "kubelet", Path: l.Bin("kubelet"),
			Args: []string{
				"--config=" + l.Conf("kubelet.yaml"), "--kubeconfig=" + l.Conf("kubelet.kubeconfig"),
				"--root-dir=" + l.Data("kubelet"), "--cert-dir=" + l.Data("kubelet", "pki"),
				"--hostname-override=" + conf.NodeName, "--node-ip=" + conf.NodeIP,
			},
			Inputs: []string{l.Conf("kubelet.yaml"), l.Conf("kubelet.kubeconfig"), l.PKI("kubelet-serving.crt")},
		},
		probe: webProbe("http://127.0.0.1:10248/healthz"),
	}
}

func kubeProxy(l layout.Layout) component {
	return component{
		Daemon: proc.Daemon{
			Name: "kube-proxy", Path: l.Bin("kube-proxy"),
			Args:   []string{"--config=" + l.Conf("kube-proxy.yaml")},
			Inputs: []string{l.Conf("kube-proxy.yaml"), l.Conf("kube-proxy.kubeconfig")},
		},
		probe: webProbe("http://127.0.0.1:10256/healthz"),
	}
}

func coredns(l layout.Layout) component {
	return component{
		Daemon: proc.Daemon{
			Name: "coredns", Path: l.Bin("coredns"),
			Args:   []string{"-conf", l.Conf("Corefile")},
			Inputs: []string{l.Conf("Corefile"), l.Conf("coredns.kubeconfig")},
		},
		probe: webProbe(fmt.Sprintf("http://%s:%d/ready", conf.NodeIP, conf.DNSReadyPort)),
	}
}

func provisioner(l layout.Layout) component {
	kubeconfig := l.Conf("provisioner.kubeconfig")
	return component{
		Daemon: proc.Daemon{
			Name: "provisioner", Path: l.Bin("provisioner"),
			Args:   []string{"-kubeconfig=" + kubeconfig, "-root=" + l.Volumes()},
			Inputs: []string{kubeconfig},
		},
		probe: func() error { return nil },
	}
}
