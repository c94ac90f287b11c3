package v1alpha1

// AppSpec is the social app.
type AppSpec struct {
	// replicas of the app.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas,omitempty"`
	// passwordHashCost is bcrypt's cost. Each step doubles the CPU time of a register and of a login, which soon would be
	// all that is measured: 4 is the least that there is.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=15
	PasswordHashCost int32 `json:"passwordHashCost,omitempty"`
}

// DatasetSpec is what the database holds before the load begins. The same seed and locale give the same users.
type DatasetSpec struct {
	// users to load before the load begins.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50000000
	Users int64 `json:"users,omitempty"`
	// seed of the generator.
	// +optional
	// +kubebuilder:default=1
	Seed int64 `json:"seed,omitempty"`
	// locale of the names.
	// +optional
	// +kubebuilder:default=en
	// +kubebuilder:validation:Enum=en;ru
	Locale string `json:"locale,omitempty"`
}

// LoadSpec is what k6 does.
//
// +kubebuilder:validation:XValidation:rule="self.runner != 'K6Operator'",message="load.runner K6Operator is not supported by this version: use Job"
// +kubebuilder:validation:XValidation:rule="self.stages.exists(s, !has(s.discard) || !s.discard)",message="load.stages are all discarded: leave discard out of at least one"
type LoadSpec struct {
	// runner of k6.
	// +optional
	// +kubebuilder:default=Job
	// +kubebuilder:validation:Enum=Job;K6Operator
	Runner string `json:"runner,omitempty"`
	// parallelism is the number of k6 pods that share the load.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Parallelism int32 `json:"parallelism,omitempty"`
	// image of k6; the default is the operator's.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	Image string `json:"image,omitempty"`
	// mix are the weights of the built-in script's operations.
	// +optional
	// +kubebuilder:default={}
	Mix MixSpec `json:"mix,omitempty"`
	// script is a k6 script to run instead of the built-in one. It finds the app at __ENV.REPLAB_URL. Its own options decide on the
	// load. Of stages only the name, the duration and discard are taken: they divide the figures and bound how long the script may
	// run. A request belongs to the stage that its header Replab-Stage names, and without one to the stage in whose planned time it
	// arrives, counted from the first request of the load; what comes after the last stage's end belongs to the last.
	// +optional
	Script *ScriptSource `json:"script,omitempty"`
	// stages follow one another.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Stages []Stage `json:"stages"`
}

// MixSpec are weights: an operation is chosen with its weight over the sum.
//
// +kubebuilder:validation:XValidation:rule="!has(self.register) || self.register + self.profile + self.search + self.login > 0",message="load.mix needs at least one weight above 0"
type MixSpec struct {
	// register creates a user: the write.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Register int32 `json:"register"`
	// profile reads one user by id.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Profile int32 `json:"profile"`
	// search finds users by prefixes of their names.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Search int32 `json:"search"`
	// login checks a password.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Login int32 `json:"login"`
}

// ScriptSource is a key of a ConfigMap in the experiment's namespace.
type ScriptSource struct {
	// configMap that holds the script.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap"`
	// file is the key of the script in it.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_.-]*$`
	// +kubebuilder:validation:MaxLength=100
	File string `json:"file"`
}

// Stage is a part of the load: closed loop with users, or open loop with requestsPerSecond.
//
// +kubebuilder:validation:XValidation:rule="has(self.users) != has(self.requestsPerSecond)",message="a stage of load.stages needs either users (closed loop) or requestsPerSecond (open loop), not both"
// +kubebuilder:validation:XValidation:rule="!has(self.maxUsers) || has(self.requestsPerSecond)",message="load.stages[].maxUsers belongs to requestsPerSecond: remove it from a stage with users"
type Stage struct {
	// name of the stage.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=20
	Name string `json:"name"`
	// durationSeconds of the stage.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds int64 `json:"durationSeconds"`
	// users send one request after another, as in wrk and locust: a closed loop, which stops asking while nothing answers.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Users int64 `json:"users,omitempty"`
	// requestsPerSecond are sent whether or not earlier ones were answered: an open loop. Use it around faults.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	RequestsPerSecond int64 `json:"requestsPerSecond,omitempty"`
	// maxUsers bounds the requests under way in an open loop; more are dropped and counted. The default is 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxUsers int64 `json:"maxUsers,omitempty"`
	// discard leaves the stage out of the load's figures: warm-up. Its writes are counted all the same.
	// +optional
	Discard bool `json:"discard,omitempty"`
}

// ProbesSpec are measurements beside the load.
type ProbesSpec struct {
	// lag writes rows and watches every node for them.
	// +optional
	// +kubebuilder:default={}
	Lag LagProbeSpec `json:"lag,omitempty"`
	// availability writes through the app when the load does not, so that an outage is seen whatever the load does.
	// +optional
	// +kubebuilder:default={}
	Availability AvailabilityProbeSpec `json:"availability,omitempty"`
}

// LagProbeSpec is the lag probe.
type LagProbeSpec struct {
	// intervalMilliseconds between two rows; 0 turns the probe off. Each row is a commit on every node: 50 a second take a
	// small cluster a tenth of its throughput. A stall between two rows that is shorter than the interval may go unseen.
	// +optional
	// +kubebuilder:default=200
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
	// payloadBytes of each row.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65000
	PayloadBytes int64 `json:"payloadBytes"`
	// sweepPayloadBytes are sizes to write in turn instead, each reported apart.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=0
	// +kubebuilder:validation:items:Maximum=65000
	SweepPayloadBytes []int64 `json:"sweepPayloadBytes,omitempty"`
}

// AvailabilityProbeSpec is the availability probe.
type AvailabilityProbeSpec struct {
	// intervalMilliseconds between two writes, and so the resolution of an outage; 0 turns the probe off. A write is left out
	// while writes of the load are acknowledged within the interval, since those prove as much.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	IntervalMilliseconds int64 `json:"intervalMilliseconds"`
}

// Goal is a limit that decides between Passed and Failed.
//
// +kubebuilder:validation:XValidation:rule="has(self.max) || has(self.min)",message="goals[] needs a limit: give max, min or both"
// +kubebuilder:validation:XValidation:rule="!has(self.max) || !has(self.min) || self.min <= self.max",message="goals[].min is above goals[].max, which no value can meet: exchange them, or leave one out"
type Goal struct {
	// metric is what is limited.
	// +required
	Metric Metric `json:"metric"`
	// max is the largest value that meets the goal.
	// +optional
	Max *int64 `json:"max,omitempty"`
	// min is the smallest value that meets the goal.
	// +optional
	Min *int64 `json:"min,omitempty"`
}

// Metric names a measured figure: the field of the status, with its unit, and where fields of several parts have one name, the part
// before it. lostWrites to rejectedWrites are fields of writes, lag is that of replication, the percentiles are those of load.
// +kubebuilder:validation:Enum=lostWrites;ghostWrites;indeterminateWrites;rejectedWrites;staleReads;failedRequests;requestsPerSecond;p50Microseconds;p95Microseconds;p99Microseconds;maxMicroseconds;outageMilliseconds;lagP50Microseconds;lagP99Microseconds;lagMaxMicroseconds;droppedIterations;unacknowledgedCommits
type Metric string
