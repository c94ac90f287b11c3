package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// TopologySpec is the database under test.
type TopologySpec struct {
	// type is how the nodes replicate.
	// +required
	Type TopologyType `json:"type"`
	// engine is the database server; the default depends on the type: MySQL, of Galera MariaDB, of Patroni PostgreSQL. MySQL of type Galera is
	// Percona XtraDB Cluster. Patroni runs every PostgreSQL server, also with types Single and Async.
	// +optional
	Engine Engine `json:"engine,omitempty"`
	// nodes is the number of all database nodes. Single has 1, Galera 1 or more, all other types 2 or more.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Nodes int32 `json:"nodes"`
	// image of the server; the default is the operator's image for the engine, or for the type and the engine. Any image that has the server in it will do.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// failover tells whether a replica is promoted when the primary fails.
	// +optional
	// +kubebuilder:default=Automatic
	Failover FailoverPolicy `json:"failover,omitempty"`
	// director is the timing of the failover manager of types Single, Async and SemiSync with MySQL and MariaDB: it decides how long an outage
	// takes. With PostgreSQL that is patroni.
	// +optional
	// +kubebuilder:default={periodMilliseconds: 250, failureThreshold: 3, leaseMilliseconds: 5000}
	Director DirectorSpec `json:"director,omitempty"`
	// durability is what a crash takes of acknowledged commits. Full: each is flushed to disk, nothing is lost. Relaxed: each is
	// handed to the system, which flushes about once a second: a killed server loses nothing, a machine that loses power up to
	// a second. Volatile: each stays in the server's memory for up to a second, which a killed server loses too.
	// +optional
	// +kubebuilder:default=Full
	Durability Durability `json:"durability,omitempty"`
	// parameters are extra settings of the server, as its configuration file has them. Settings that other fields decide, or that
	// replab depends on, are refused: the commonest here, all others when the experiment is accepted.
	// +optional
	// +kubebuilder:validation:MaxProperties=30
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_-]*$'))",message="invalid parameter name. Use lower-case names of server settings, such as innodb_buffer_pool_size."
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 500 && !self[k].contains('\\n'))",message="a value does not fit into a configuration file. Use one line of at most 500 characters."
	Parameters map[string]string `json:"parameters,omitempty"`
	// semiSync are the settings of type SemiSync.
	// +optional
	SemiSync *SemiSyncSpec `json:"semiSync,omitempty"`
	// patroni are the settings of type Patroni. Types Single and Async with engine PostgreSQL take its timings, and with them synchronousMode
	// "Off".
	// +optional
	Patroni *PatroniSpec `json:"patroni,omitempty"`
	// galera are the settings of type Galera.
	// +optional
	Galera *GaleraSpec `json:"galera,omitempty"`
	// dualPrimary are the settings of type DualPrimary.
	// +optional
	DualPrimary *DualPrimarySpec `json:"dualPrimary,omitempty"`
	// zones group nodes by place. A node is in one zone at most; one in no zone is at no distance from anybody.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5
	Zones []Zone `json:"zones,omitempty"`
	// links are the distances between zones: each packet between their nodes is held up. Zones without a link are at no distance.
	// The distance is there from before the load until after it, and its round trips are measured before and after: status.distance.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Links []Link `json:"links,omitempty"`
	// storage of each node.
	// +optional
	// +kubebuilder:default={}
	Storage StorageSpec `json:"storage,omitempty"`
	// resources of each node's server container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// TopologyType is how the nodes replicate.
// +kubebuilder:validation:Enum=Single;Async;SemiSync;DualPrimary;Galera;Patroni
type TopologyType string

// Types of topology.
const (
	TopologySingle      TopologyType = "Single"
	TopologyAsync       TopologyType = "Async"
	TopologySemiSync    TopologyType = "SemiSync"
	TopologyDualPrimary TopologyType = "DualPrimary"
	TopologyGalera      TopologyType = "Galera"
	TopologyPatroni     TopologyType = "Patroni"
)

// Engine is a database server.
// +kubebuilder:validation:Enum=MySQL;MariaDB;PostgreSQL
type Engine string

// Engines.
const (
	EngineMySQL      Engine = "MySQL"
	EngineMariaDB    Engine = "MariaDB"
	EnginePostgreSQL Engine = "PostgreSQL"
)

// FailoverPolicy tells whether a replica is promoted when the primary fails.
// +kubebuilder:validation:Enum=Automatic;None
type FailoverPolicy string

// Policies of failover.
const (
	FailoverAutomatic FailoverPolicy = "Automatic"
	FailoverNone      FailoverPolicy = "None"
)

// DirectorSpec is when the failover manager takes a primary for lost, and until when it waits for one that it cannot reach.
//
// +kubebuilder:validation:XValidation:rule="self.leaseMilliseconds >= self.periodMilliseconds * self.failureThreshold + 1000",fieldPath=".leaseMilliseconds",message="the lease ends before a primary counts as lost. Use at least periodMilliseconds x failureThreshold + 1000."
type DirectorSpec struct {
	// periodMilliseconds is the time between two looks at the nodes.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=10000
	PeriodMilliseconds int64 `json:"periodMilliseconds,omitempty"`
	// failureThreshold is how many looks in a row must fail until a node counts as lost.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
	// leaseMilliseconds is how long a primary may take writes without hearing from the director. Before another node is opened, a
	// primary that cannot be reached is waited for until its lease has certainly ended.
	// +optional
	// +kubebuilder:default=5000
	// +kubebuilder:validation:Minimum=1100
	// +kubebuilder:validation:Maximum=600000
	LeaseMilliseconds int64 `json:"leaseMilliseconds,omitempty"`
}

// Durability is what a crash takes of acknowledged commits.
// +kubebuilder:validation:Enum=Full;Relaxed;Volatile
type Durability string

// Durabilities.
const (
	DurabilityFull     Durability = "Full"
	DurabilityRelaxed  Durability = "Relaxed"
	DurabilityVolatile Durability = "Volatile"
)

// SemiSyncSpec are the settings of semi-synchronous replication.
type SemiSyncSpec struct {
	// ackReplicas is how many replicas must have received a commit before it is acknowledged.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	AckReplicas int32 `json:"ackReplicas,omitempty"`
	// timeoutMilliseconds is how long a commit waits for them before replication goes on asynchronously. The default is the server's own.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
	// waitPoint AfterSync waits before the commit is visible to others; AfterCommit waits after.
	// +optional
	// +kubebuilder:default=AfterSync
	WaitPoint WaitPoint `json:"waitPoint,omitempty"`
}

// WaitPoint is where a semi-synchronous commit waits.
// +kubebuilder:validation:Enum=AfterSync;AfterCommit
type WaitPoint string

// Wait points.
const (
	WaitAfterSync   WaitPoint = "AfterSync"
	WaitAfterCommit WaitPoint = "AfterCommit"
)

// Zone is a place with nodes.
type Zone struct {
	// name of the zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="invalid zone name. Use lower-case letters, digits and '-', a letter first."
	Name string `json:"name"`
	// nodes by number, the first primary being 0. A zone may have none: then the app can live there, away from all nodes.
	// +required
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	Nodes []int32 `json:"nodes"`
}

// Link is the distance between two zones, in both directions.
//
// +kubebuilder:validation:XValidation:rule=`self.from != self.to`,fieldPath=`.to`,message="the link leads to where it comes from. Name another zone."
type Link struct {
	// from is a zone.
	// +required
	// +kubebuilder:validation:MaxLength=30
	From string `json:"from"`
	// to is another zone.
	// +required
	// +kubebuilder:validation:MaxLength=30
	To string `json:"to"`
	// roundTripMilliseconds between them: half of it in each direction. With 0 nothing is held up, and the round trip is measured all
	// the same: the control of a distance.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	RoundTripMilliseconds int32 `json:"roundTripMilliseconds"`
}
