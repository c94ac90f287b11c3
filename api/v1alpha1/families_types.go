package v1alpha1

// Providers of nodes that Patroni runs.
const (
	ProviderStatefulSet = "StatefulSet"
	ProviderZalando     = "ZalandoOperator"
)

// PatroniSpec are the settings of nodes that Patroni runs. Those that Patroni has too have its own defaults.
//
// +kubebuilder:validation:XValidation:rule=`self.loopWaitSeconds + 2 * self.retryTimeoutSeconds <= self.ttlSeconds`,fieldPath=`.ttlSeconds`,message=`topology.patroni.ttlSeconds must be at least loopWaitSeconds + 2 x retryTimeoutSeconds: else a leader loses its lock in a loop that takes its time`
// +kubebuilder:validation:XValidation:rule=`self.provider != 'ZalandoOperator' || self.synchronousMode != 'Quorum'`,fieldPath=`.synchronousMode`,message=`topology.patroni.synchronousMode Quorum needs provider StatefulSet: the Zalando operator knows On and Off`
// +kubebuilder:validation:XValidation:rule=`!has(self.strict) || !self.strict || self.synchronousMode != 'Off'`,fieldPath=`.strict`,message=`topology.patroni.strict needs synchronousMode On or Quorum: set one, or remove strict`
// +kubebuilder:validation:XValidation:rule=`self.synchronousNodeCount == 1 || self.synchronousMode != 'Off'`,fieldPath=`.synchronousNodeCount`,message=`topology.patroni.synchronousNodeCount above 1 needs synchronousMode On or Quorum: set one, or remove synchronousNodeCount`
// +kubebuilder:validation:XValidation:rule=`self.provider != 'ZalandoOperator' || !has(self.primaryStartTimeoutSeconds) || self.primaryStartTimeoutSeconds == 300`,fieldPath=`.primaryStartTimeoutSeconds`,message=`topology.patroni.primaryStartTimeoutSeconds needs provider StatefulSet: the Zalando operator leaves it at Patroni's own, 300`
// +kubebuilder:validation:XValidation:rule=`self.provider != 'ZalandoOperator' || (self.maximumLagOnFailoverBytes >= 1 && self.maximumLagOnFailoverBytes <= 16777216)`,fieldPath=`.maximumLagOnFailoverBytes`,message=`topology.patroni.maximumLagOnFailoverBytes must be 1 to 16777216 with provider ZalandoOperator, which leaves 0 out and rounds what is more: choose one of these, or use provider StatefulSet`
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
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 500",message="topology.galera.suspectTimeoutMilliseconds must be 0, for the library's own, or at least 500"
	SuspectTimeoutMilliseconds int64 `json:"suspectTimeoutMilliseconds"`
	// sendWindowPackets is the library's evs.send_window: how many packets a member may have under way that not all others have
	// confirmed; evs.user_send_window, of those that carry commits, is half of it. 0: the library's own, 4 and 2 (of MySQL's 10 and 4). Over a distance
	// so few make commits wait for one another: its documentation advises 512 there.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65536
	// +kubebuilder:validation:XValidation:rule="self == 0 || self >= 2",message="topology.galera.sendWindowPackets must be 0, for the library's own, or at least 2"
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
