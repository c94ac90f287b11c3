package wire

import (
	"replab.dev/api/v1alpha1"
)

// OperatorConfig configures `replab operator`; the chart writes it from its values.
type OperatorConfig struct {
	// Images is the catalogue: what an experiment gets that names no image of its own.
	Images Images `json:"images"`
	// Pods are settings of all experiments' pods; an experiment's own go before.
	Pods *v1alpha1.PodsSpec `json:"pods,omitempty"`
	// PlatformUser leaves the pods' users to the platform, which gives each namespace its own, as OpenShift does.
	PlatformUser bool `json:"platformUser,omitempty"`
	// ForeignOperators are those that make nodes, by the name of the provider that experiments ask for, or run k6, by that of the runner. What is not
	// said of one is as its driver or runner takes it.
	ForeignOperators map[string]ForeignOperator `json:"foreignOperators,omitempty"`
	// Prometheus is let in to the metrics of experiments' processes; absent: no pod is.
	Prometheus *PodPeer `json:"prometheus,omitempty"`
	// WatchNamespaces are those whose experiments are carried out; empty for all.
	WatchNamespaces []string `json:"watchNamespaces,omitempty"`
	// OneAtATime lets experiments wait for one another: "Always", "Never", or "SingleNode": while the cluster has a
	// single schedulable node, since two at once would disturb each other's figures.
	OneAtATime string `json:"oneAtATime"`
	// Workers is how many experiments may be worked on at the same moment; 0 for DefaultWorkers.
	Workers int `json:"workers,omitempty"`
	// ClusterDomain is the DNS suffix of Services; proxies need full names.
	ClusterDomain string `json:"clusterDomain"`
	// Name of this installation among others in its namespace: of the lock by which its replicas elect one.
	Name string `json:"name"`
	// LeaderElection makes several replicas of the operator safe.
	LeaderElection bool `json:"leaderElection"`
	// Listen addresses; empty turns one off.
	MetricsAddress string `json:"metricsAddress"`
	// MetricsSecure has metrics read by TLS, and only by those whom the API server lets.
	MetricsSecure bool   `json:"metricsSecure,omitempty"`
	HealthAddress string `json:"healthAddress"`
}

// PodPeer are pods of one namespace that have all of some labels. Neither is empty.
type PodPeer struct {
	Namespace string            `json:"namespace"`
	PodLabels map[string]string `json:"podLabels"`
}

// ForeignOperator is another operator of the cluster, which makes the nodes of experiments that ask for it, or runs their k6.
type ForeignOperator struct {
	// Namespace is where its pods run; empty for where its own chart's documentation has it.
	Namespace string `json:"namespace,omitempty"`
	// PodLabels are labels of its pods; empty for those that its own chart gives them.
	PodLabels map[string]string `json:"podLabels,omitempty"`
	// ControllerID is that of the one of several such operators that is to make the nodes, where there can be several; empty for the one that has none.
	ControllerID string `json:"controllerID,omitempty"`
}

// Images is the catalogue of container images.
type Images struct {
	Replab     string `json:"replab"`
	PullPolicy string `json:"pullPolicy,omitempty"`
	K6         string `json:"k6"`
	// Servers by engine; "Type/Engine" is for one type of topology alone and goes before the engine's, "Provider/Engine" for nodes that another
	// operator makes, and goes before both.
	Servers map[string]string `json:"servers"`
	Proxies map[string]string `json:"proxies"` // by routing.proxy
}

// DefaultWorkers is OperatorConfig.Workers where it is not given.
const DefaultWorkers = 4

// Values of OperatorConfig.OneAtATime beside SingleNode, which is what every other is taken for.
const (
	OneAtATimeAlways = "Always"
	OneAtATimeNever  = "Never"
)

// Every process of an experiment that lasts answers Prometheus at a port of its own, where there is nothing else: whoever may read the
// figures can reach neither the app behind the recorder's back nor what acts on a node.
const (
	// EnvMetrics is the environment variable with the address at which a process answers Prometheus; without it, it does nowhere.
	EnvMetrics  = "REPLAB_METRICS"
	MetricsPath = "/metrics"
	// MetricsPortName names the container's port, by which monitors find it.
	MetricsPortName = "metrics"
)
