package conf

import (
	"net"

	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/pki"
)

// Admin is the leaf that the lab itself and its user hold.
const Admin = "admin"

// Client is a holder of a kubeconfig.
type Client struct {
	Leaf, CommonName string
	Groups           []string
}

// Clients are all holders of a kubeconfig.
var Clients = []Client{
	{Leaf: Admin, CommonName: "lab:admin", Groups: []string{"system:masters"}},
	{Leaf: "kube-controller-manager", CommonName: "system:kube-controller-manager"},
	{Leaf: "kube-scheduler", CommonName: "system:kube-scheduler"},
	{Leaf: "kube-proxy", CommonName: "system:kube-proxy"},
	{Leaf: "kubelet", CommonName: "system:node:" + NodeName, Groups: []string{"system:nodes"}},
	{Leaf: "coredns", CommonName: "lab:coredns"},
	{Leaf: "provisioner", CommonName: "lab:provisioner"},
}

// Certificates is every certificate and key of the lab.
func Certificates(l layout.Layout) pki.Set {
	node, service, local := net.ParseIP(NodeIP), net.ParseIP(ServiceIP), net.ParseIP("127.0.0.1")
	leaves := []pki.Leaf{
		{Name: "apiserver", Authority: "ca", CommonName: "kube-apiserver", Addresses: []net.IP{node, service}, Hosts: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc." + Domain,
		}},
		{Name: "apiserver-kubelet-client", Authority: "ca", CommonName: "kube-apiserver-kubelet-client"},
		{Name: "kubelet-serving", Authority: "ca", CommonName: "system:node:" + NodeName, Addresses: []net.IP{node}, Hosts: []string{NodeName}},
		{Name: "etcd", Authority: "etcd-ca", CommonName: "etcd", Addresses: []net.IP{local}},
		{Name: "apiserver-etcd-client", Authority: "etcd-ca", CommonName: "kube-apiserver"},
		{Name: "front-proxy-client", Authority: "front-proxy-ca", CommonName: "front-proxy-client"},
	}
	for _, c := range Clients {
		leaves = append(leaves, pki.Leaf{Name: c.Leaf, Authority: "ca", CommonName: c.CommonName, Groups: c.Groups})
	}
	return pki.Set{
		Authorities: []string{"ca", "etcd-ca", "front-proxy-ca"},
		Leaves:      leaves,
		Keys:        []string{"service-account"},
		Path:        l.PKI,
	}
}
