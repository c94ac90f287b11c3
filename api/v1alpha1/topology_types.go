package v1alpha1

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// TopologySpec is the database under test.
type TopologySpec struct {
	// type is how the nodes replicate.
	// +required
	Type TopologyType `json:"type"`
	// engine is the database server. Default: PostgreSQL for Patroni, MariaDB for Galera, MySQL for all other types.
	// +optional
	Engine Engine `json:"engine,omitempty"`
	// nodes is the number of database nodes. Single has 1, DualPrimary 2, Galera 1 or more, every other type 2 or more.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Nodes int32 `json:"nodes"`
	// image of the database server. Default: the operator's image for the type and engine. Any image that contains the server works.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// failover says whether a replica is promoted when the primary fails.
	// +optional
	// +kubebuilder:default=Automatic
	Failover FailoverPolicy `json:"failover,omitempty"`
	// director is the timing of the failover manager of MySQL and MariaDB, for types Single, Async and SemiSync. With PostgreSQL use patroni.
	// +optional
	// +kubebuilder:default={periodMilliseconds: 250, failureThreshold: 3, leaseMilliseconds: 5000}
	Director DirectorSpec `json:"director,omitempty"`
	// durability is how many acknowledged commits a crash may take. Full: none. Relaxed: up to a second of them at a power failure. Volatile: up
	// to a second of them when the server is killed.
	// +optional
	// +kubebuilder:default=Full
	Durability Durability `json:"durability,omitempty"`
	// parameters are extra settings in the server's configuration file. The operator refuses settings that other fields decide or that replab needs.
	// +optional
	// +kubebuilder:validation:MaxProperties=30
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_-]*$'))",message="invalid parameter name. Use lower-case names of server settings, such as innodb_buffer_pool_size."
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 500 && !self[k].contains('\\n'))",message="a value does not fit into a configuration file. Use one line of at most 500 characters."
	Parameters map[string]string `json:"parameters,omitempty"`
	// semiSync are the settings of type SemiSync.
	// +optional
	SemiSync *SemiSyncSpec `json:"semiSync,omitempty"`
	// patroni are the settings of type Patroni. Types Single and Async with engine PostgreSQL use its timings, with synchronousMode "Off".
	// +optional
	Patroni *PatroniSpec `json:"patroni,omitempty"`
	// galera are the settings of type Galera.
	// +optional
	Galera *GaleraSpec `json:"galera,omitempty"`
	// dualPrimary are the settings of type DualPrimary.
	// +optional
	DualPrimary *DualPrimarySpec `json:"dualPrimary,omitempty"`
	// zones group nodes by place. A node is in at most one zone. A node without a zone has no distance to other nodes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5
	Zones []Zone `json:"zones,omitempty"`
	// links delay packets between the nodes of two zones during the load. Zones without a link have no distance. status.distance has the measured
	// round trips.
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
	// TopologySingle has one node without replication.
	TopologySingle TopologyType = "Single"
	// TopologyAsync has one primary. Commits wait for no replica.
	TopologyAsync TopologyType = "Async"
	// TopologySemiSync has one primary. Commits wait until semiSync.ackReplicas replicas have received them.
	TopologySemiSync TopologyType = "SemiSync"
	// TopologyDualPrimary has two primaries that replicate from each other. The proxy chooses which of them takes writes.
	TopologyDualPrimary TopologyType = "DualPrimary"
	// TopologyGalera is a Galera cluster: every node takes writes.
	TopologyGalera TopologyType = "Galera"
	// TopologyPatroni is PostgreSQL streaming replication that Patroni manages.
	TopologyPatroni TopologyType = "Patroni"
)

// Engine is a database server.
// +kubebuilder:validation:Enum=MySQL;MariaDB;PostgreSQL
type Engine string

// Engines.
const (
	// EngineMySQL is MySQL. For type Galera it is Percona XtraDB Cluster.
	EngineMySQL Engine = "MySQL"
	// EngineMariaDB is MariaDB.
	EngineMariaDB Engine = "MariaDB"
	// EnginePostgreSQL is PostgreSQL. Patroni runs every server, also for types Single and Async.
	EnginePostgreSQL Engine = "PostgreSQL"
)

// FailoverPolicy says whether a replica is promoted when the primary fails.
// +kubebuilder:validation:Enum=Automatic;None
type FailoverPolicy string

// Policies of failover.
const (
	// FailoverAutomatic promotes a replica when the primary fails.
	FailoverAutomatic FailoverPolicy = "Automatic"
	// FailoverNone promotes no replica.
	FailoverNone FailoverPolicy = "None"
)

// DirectorSpec is the timing of the failover manager.
//
// +kubebuilder:validation:XValidation:rule="self.leaseMilliseconds >= self.periodMilliseconds * self.failureThreshold + 1000",fieldPath=".leaseMilliseconds",message="the lease ends before a primary counts as lost. Use at least periodMilliseconds x failureThreshold + 1000."
type DirectorSpec struct {
	// periodMilliseconds is the time between two checks of the nodes.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=10000
	PeriodMilliseconds int64 `json:"periodMilliseconds,omitempty"`
	// failureThreshold is the number of consecutive failed checks after which a node counts as lost.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	FailureThreshold int32 `json:"failureThreshold,omitempty"`
	// leaseMilliseconds is how long a primary takes writes without hearing from the director. The director promotes a replica of an unreachable
	// primary only after the primary's lease has ended.
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
	// DurabilityFull flushes every commit to disk. A crash loses nothing.
	DurabilityFull Durability = "Full"
	// DurabilityRelaxed flushes about once a second. A power failure loses up to a second of commits; a killed server loses nothing.
	DurabilityRelaxed Durability = "Relaxed"
	// DurabilityVolatile keeps commits in the server's memory for up to a second. A killed server loses them.
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
	// timeoutMilliseconds is how long a commit waits for these replicas. Then replication goes on asynchronously.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
	// waitPoint says whether a commit waits before or after other clients can see it.
	// +optional
	// +kubebuilder:default=AfterSync
	WaitPoint WaitPoint `json:"waitPoint,omitempty"`
}

// WaitPoint is where a semi-synchronous commit waits.
// +kubebuilder:validation:Enum=AfterSync;AfterCommit
type WaitPoint string

// Wait points.
const (
	// WaitAfterSync waits before other clients can see the commit.
	WaitAfterSync WaitPoint = "AfterSync"
	// WaitAfterCommit waits after other clients can see the commit.
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
	// nodes by number. The first primary is 0. A zone without nodes can hold the app.
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
	// roundTripMilliseconds is added, half in each direction; 0 only measures. Most: 300 with Galera, 500 with Patroni, 900 to the app, 600 with
	// ProxySQL.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	RoundTripMilliseconds int32 `json:"roundTripMilliseconds"`
}

// ImageName is the name of a container image. Empty is the operator's own.
// +kubebuilder:validation:MaxLength=500
// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches('^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]{1,5})?/)?[a-z0-9]+((\\.|_{1,2}|-+)[a-z0-9]+)*(/[a-z0-9]+((\\.|_{1,2}|-+)[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,128})?$')`,message="this is no image name. Write registry/name:tag or registry/name@sha256:digest, in lower case, without a scheme."
type ImageName string

// defaultEngines are those of topologies that name none.
var defaultEngines = map[TopologyType]Engine{
	TopologySingle:      EngineMySQL,
	TopologyAsync:       EngineMySQL,
	TopologySemiSync:    EngineMySQL,
	TopologyDualPrimary: EngineMySQL,
	TopologyGalera:      EngineMariaDB,
	TopologyPatroni:     EnginePostgreSQL,
}

// EffectiveEngine is the engine of a topology, its type's default where it names none; "" for a type without one.
func (t TopologySpec) EffectiveEngine() Engine { return cmp.Or(t.Engine, defaultEngines[t.Type]) }
