package v1alpha1

// RoutingSpec is how the app finds the nodes.
type RoutingSpec struct {
	// proxy stands between app and nodes. None uses Services that select pods by their role.
	// +optional
	// +kubebuilder:default=HAProxy
	Proxy Proxy `json:"proxy,omitempty"`
	// image of the proxy; the default is the operator's.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// reads go to the replicas, or to the primary like the writes.
	// +optional
	// +kubebuilder:default=Replicas
	Reads ReadTarget `json:"reads,omitempty"`
	// writes go to the primary, or, where every node takes writes (Galera, DualPrimary), to all of them. Then each is a primary, and none
	// takes over from another: there is no failover to tell of.
	// +optional
	// +kubebuilder:default=Primary
	Writes WriteTarget `json:"writes,omitempty"`
	// check is how the proxy asks the nodes for their role. It decides when a proxy notices a failover, and so an outage's last part.
	// +optional
	// +kubebuilder:default={}
	Check RoutingCheck `json:"check,omitempty"`
	// proxySQL are settings of routing.proxy ProxySQL alone.
	// +optional
	ProxySQL *ProxySQLSpec `json:"proxySQL,omitempty"`
}

// ProxySQLSpec are settings of ProxySQL.
type ProxySQLSpec struct {
	// queryRetries is how often ProxySQL repeats a statement whose server was lost while it ran. ProxySQL's own default is 1: it can
	// commit a write twice. Above 0 the node that acknowledged a write is unknown. Default: 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	QueryRetries int32 `json:"queryRetries,omitempty"`
}

// RoutingCheck is how often the proxy asks each node, and how many answers it takes to believe one.
type RoutingCheck struct {
	// intervalMilliseconds between two checks of a node.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=60000
	IntervalMilliseconds int64 `json:"intervalMilliseconds,omitempty"`
	// fall is how many failed checks in a row take a node out of use.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Fall int32 `json:"fall,omitempty"`
	// rise is how many good checks in a row take a node into use.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Rise int32 `json:"rise,omitempty"`
}

// Proxy stands between app and nodes.
// +kubebuilder:validation:Enum=HAProxy;ProxySQL;None
type Proxy string

// Proxies.
const (
	ProxyHAProxy  Proxy = "HAProxy"
	ProxyProxySQL Proxy = "ProxySQL"
	ProxyNone     Proxy = "None"
)

// ReadTarget is where reads go.
// +kubebuilder:validation:Enum=Replicas;Primary
type ReadTarget string

// Targets of reads.
const (
	ReadsReplicas ReadTarget = "Replicas"
	ReadsPrimary  ReadTarget = "Primary"
)

// WriteTarget is where writes go.
// +kubebuilder:validation:Enum=Primary;All
type WriteTarget string

// Targets of writes.
const (
	WritesPrimary WriteTarget = "Primary"
	WritesAll     WriteTarget = "All"
)
