package v1alpha1

// RoutingSpec is how the app finds the nodes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.proxy) || self.proxy != 'ProxySQL'",fieldPath=".proxy",message="routing.proxy ProxySQL is not supported by this version: use HAProxy or None"
// +kubebuilder:validation:XValidation:rule=`!has(self.proxy) || self.proxy != 'None' || (self.check.intervalMilliseconds == 250 && self.check.fall == 2 && self.check.rise == 1)`,fieldPath=`.check`,message=`routing.check belongs to a proxy: remove it, or set routing.proxy to HAProxy`
type RoutingSpec struct {
	// proxy stands between app and nodes. None uses Services that select pods by their role.
	// +optional
	// +kubebuilder:default=HAProxy
	Proxy Proxy `json:"proxy,omitempty"`
	// reads go to the replicas, or to the primary like the writes.
	// +optional
	// +kubebuilder:default=Replicas
	Reads ReadTarget `json:"reads,omitempty"`
	// writes go to the primary, or, where every node takes writes (Galera, DualPrimary), to all of them.
	// +optional
	// +kubebuilder:default=Primary
	Writes WriteTarget `json:"writes,omitempty"`
	// check is how the proxy asks the nodes for their role. It decides when a proxy notices a failover, and so an outage's last part.
	// +optional
	// +kubebuilder:default={}
	Check RoutingCheck `json:"check,omitempty"`
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
