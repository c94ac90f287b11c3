package v1alpha1

// Providers of nodes that Patroni runs.
const (
	ProviderStatefulSet = "StatefulSet"
	ProviderZalando     = "ZalandoOperator"
)

// PatroniSpec are the settings of nodes that Patroni runs. Those that Patroni has too have its own defaults.
type PatroniSpec struct {
	// provider is who makes the nodes: replab, in a StatefulSet, or the Zalando operator, which the cluster then has to have, of a resource
	// that replab states.
	// +optional
	// +kubebuilder:default=StatefulSet
	// +kubebuilder:validation:Enum=StatefulSet;ZalandoOperator
	Provider string `json:"provider,omitempty"`
	// synchronousMode is Patroni's synchronous_mode: Off, On or Quorum. In YAML put "Off" and "On" into quotes, else they are booleans.
	// +optional
	// +kubebuilder:default=Quorum
	// +kubebuilder:validation:Enum=Off;On;Quorum
	SynchronousMode string `json:"synchronousMode,omitempty"`
	// synchronousNodeCount is Patroni's synchronous_node_count.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	SynchronousNodeCount int32 `json:"synchronousNodeCount,omitempty"`
	// strict is Patroni's synchronous_mode_strict: without a synchronous standby no write is acknowledged.
	// +optional
	Strict bool `json:"strict,omitempty"`
	// ttlSeconds is Patroni's ttl: how long a leader that does not answer keeps its lock.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=3600
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`
	// loopWaitSeconds is Patroni's loop_wait.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	LoopWaitSeconds int64 `json:"loopWaitSeconds,omitempty"`
	// retryTimeoutSeconds is Patroni's retry_timeout, of its requests to Kubernetes and to the server.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=600
	RetryTimeoutSeconds int64 `json:"retryTimeoutSeconds,omitempty"`
	// maximumLagOnFailoverBytes is Patroni's maximum_lag_on_failover: a replica that is further behind is not promoted.
	// +optional
	// +kubebuilder:default=1048576
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1099511627776
	MaximumLagOnFailoverBytes int64 `json:"maximumLagOnFailoverBytes"`
	// primaryStartTimeoutSeconds is Patroni's primary_start_timeout: how long a leader whose server died may take to start it again. With 0
	// it gives its lock up at once. The default is Patroni's own, 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	PrimaryStartTimeoutSeconds *int64 `json:"primaryStartTimeoutSeconds,omitempty"`
	// failsafeMode is Patroni's failsafe_mode: a leader that cannot reach the API server goes on while all other nodes answer it. Without, it
	// takes no more writes then.
	// +optional
	FailsafeMode bool `json:"failsafeMode,omitempty"`
}

// GaleraSpec are the settings of type Galera.
type GaleraSpec struct {
	// syncWait is wsrep_sync_wait: which statements wait until the node has caught up. 0: none, 1: reads.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=15
	SyncWait int32 `json:"syncWait"`
	// suspectTimeoutMilliseconds is the library's evs.suspect_timeout: for how long a member may be silent until the others take it for
	// lost, which decides how long writes stand still after one has died. Its other times follow: a member is taken out after
	// twice as long. 0: the library's own, 5000 and 15000. Links between members are at most a fifth of it.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600000
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 500",message="members cannot answer faster. Use 0, the library's default, or at least 500."
	SuspectTimeoutMilliseconds int64 `json:"suspectTimeoutMilliseconds"`
	// sendWindowPackets is the library's evs.send_window: how many packets a member may have under way that not all others have
	// confirmed; evs.user_send_window, of those that carry commits, is half of it. 0: the library's own, 4 and 2 (of MySQL's 10 and 4). Over a distance
	// so few make commits wait for one another: its documentation advises 512 there.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 2",message="a commit needs two packets. Use 0, the library's default, or at least 2."
	SendWindowPackets int32 `json:"sendWindowPackets"`
}

// DualPrimarySpec are the settings of type DualPrimary.
type DualPrimarySpec struct {
	// logReplicaUpdates tells whether what a node received is written to its own binary log.
	// +optional
	// +kubebuilder:default=true
	LogReplicaUpdates *bool `json:"logReplicaUpdates,omitempty"`
	// semiSync tells whether both directions are semi-synchronous.
	// +optional
	// +kubebuilder:default=true
	SemiSync *bool `json:"semiSync,omitempty"`
}
