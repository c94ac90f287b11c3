package v1alpha1

// Providers of nodes that Patroni runs.
const (
	ProviderStatefulSet = "StatefulSet"
	ProviderZalando     = "ZalandoOperator"
)

// PatroniSpec are the settings of nodes that Patroni runs. Settings of Patroni have Patroni's defaults.
type PatroniSpec struct {
	// provider makes the nodes: replab by a StatefulSet, or the Zalando operator, which must run in the cluster.
	// +optional
	// +kubebuilder:default=StatefulSet
	// +kubebuilder:validation:Enum=StatefulSet;ZalandoOperator
	Provider string `json:"provider,omitempty"`
	// synchronousMode is Patroni's synchronous_mode: Off, On or Quorum. In YAML quote "Off" and "On": without quotes they are booleans.
	// +optional
	// +kubebuilder:default=Quorum
	// +kubebuilder:validation:Enum=Off;On;Quorum
	SynchronousMode string `json:"synchronousMode,omitempty"`
	// synchronousNodeCount is Patroni's synchronous_node_count: the number of standbys that a commit waits for.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	SynchronousNodeCount int32 `json:"synchronousNodeCount,omitempty"`
	// strict is Patroni's synchronous_mode_strict: without a synchronous standby no write is acknowledged.
	// +optional
	Strict bool `json:"strict,omitempty"`
	// ttlSeconds is Patroni's ttl: how long a leader that does not answer keeps its lock. At least loopWaitSeconds + 2 x retryTimeoutSeconds.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=3600
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`
	// loopWaitSeconds is Patroni's loop_wait: the time between two of its checks.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	LoopWaitSeconds int64 `json:"loopWaitSeconds,omitempty"`
	// retryTimeoutSeconds is Patroni's retry_timeout for requests to Kubernetes and to the server.
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
	// primaryStartTimeoutSeconds is Patroni's primary_start_timeout: how long a leader may take to restart its crashed server. With 0 the leader
	// gives up its lock at once. Default: 300.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	PrimaryStartTimeoutSeconds *int64 `json:"primaryStartTimeoutSeconds,omitempty"`
	// failsafeMode is Patroni's failsafe_mode: a leader without the API server stays leader while all other nodes answer. Default: false, the leader
	// steps down.
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
	// suspectTimeoutMilliseconds is Galera's evs.suspect_timeout: after this silence a member counts as lost. Writes stall until then. The member is
	// removed after twice this time. 0 keeps Galera's own 5000 and 15000. Links between members take at most a fifth of it.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600000
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 500",message="members cannot answer faster. Use 0, the library's default, or at least 500."
	SuspectTimeoutMilliseconds int64 `json:"suspectTimeoutMilliseconds"`
	// sendWindowPackets is Galera's evs.send_window: the number of unconfirmed packets of a member. evs.user_send_window is half of it. 0 keeps
	// Galera's own 4 and 2, or 10 and 4 with MySQL. Over a distance Galera's documentation advises 512.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 2",message="a commit needs two packets. Use 0, the library's default, or at least 2."
	SendWindowPackets int32 `json:"sendWindowPackets"`
}

// DualPrimarySpec are the settings of type DualPrimary.
type DualPrimarySpec struct {
	// logReplicaUpdates says whether a node writes replicated changes to its own binary log. The other node then receives its own changes again.
	// +optional
	// +kubebuilder:default=true
	LogReplicaUpdates *bool `json:"logReplicaUpdates,omitempty"`
	// semiSync says whether both directions are semi-synchronous. A commit waits up to 10 seconds for the other node.
	// +optional
	// +kubebuilder:default=true
	SemiSync *bool `json:"semiSync,omitempty"`
}
