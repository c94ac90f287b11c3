package v1alpha1

// AppSpec is the social app.
type AppSpec struct {
	// image of the app instead of the built-in one: an app of your own that keeps to the contract of docs/how-to/own-app.md.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// replicas of the app.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Replicas int32 `json:"replicas,omitempty"`
	// passwordHash is how the app hashes passwords. SHA256, with a salt, leaves the processors to the database. Bcrypt is what a real app uses.
	// +optional
	// +kubebuilder:default=SHA256
	PasswordHash PasswordHash `json:"passwordHash,omitempty"`
	// passwordHashCost is bcrypt's cost; default: 4, the least. Each step doubles the CPU time of a register and of a login.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=15
	PasswordHashCost int32 `json:"passwordHashCost,omitempty"`
	// zone of topology.zones where the app lives, and the proxy with it. Absent: at no distance from any node. The failover manager
	// and the instruments are in no zone.
	// +optional
	// +kubebuilder:validation:MaxLength=30
	Zone string `json:"zone,omitempty"`
}

// PasswordHash of the app's users.
// +kubebuilder:validation:Enum=SHA256;Bcrypt
type PasswordHash string

// Password hashes.
const (
	PasswordSHA256 PasswordHash = "SHA256"
	PasswordBcrypt PasswordHash = "Bcrypt"
)

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
type LoadSpec struct {
	// runner of k6: K6Operator is another operator, which has to be there.
	// +optional
	// +kubebuilder:default=Job
	Runner LoadRunner `json:"runner,omitempty"`
	// parallelism is the number of k6 pods that share the load.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Parallelism int32 `json:"parallelism,omitempty"`
	// image of k6; the default is the operator's.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// mix are the weights of the built-in script's operations.
	// +optional
	// +kubebuilder:default={}
	Mix MixSpec `json:"mix,omitempty"`
	// script is a k6 script that replaces the built-in one. It finds the app at __ENV.REPLAB_URL, and its own options decide on the load.
	// Stages divide the figures and bound its time: their name, duration and discard count. A request belongs to the stage in its header
	// Replab-Stage, else to the stage at its arrival.
	// +optional
	Script *ScriptSource `json:"script,omitempty"`
	// timeoutMilliseconds has the figures count the requests that took longer as timeouts. Clients wait for their answers all the same,
	// and the app gives up after 10 seconds. Absent: not counted.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
	// stages follow one another.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Stages []Stage `json:"stages"`
}

// LoadRunner has k6 run.
// +kubebuilder:validation:Enum=Job;K6Operator
type LoadRunner string

// Runners.
const (
	RunnerJob        LoadRunner = "Job"
	RunnerK6Operator LoadRunner = "K6Operator"
)

// MixSpec are weights: an operation is chosen with its weight over the sum.
//
// +kubebuilder:validation:XValidation:rule="!has(self.register) || self.register + self.profile + self.search + self.login + self.update > 0",message="all weights are 0. Set at least one above 0."
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
	// update gives a user of the dataset a new biography of 1,000 characters. Such writes are not accounted for.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Update int32 `json:"update"`
}

// Stage is a part of the load: closed loop with users, or open loop with requestsPerSecond.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.users) || !has(self.requestsPerSecond)`,message="users make a closed loop and requestsPerSecond an open one. Remove one of them."
// +kubebuilder:validation:XValidation:rule=`!has(self.maxUsers) || has(self.requestsPerSecond)`,fieldPath=`.maxUsers`,message="maxUsers belongs to requestsPerSecond. Remove it from a stage with users."
// +kubebuilder:validation:XValidation:rule=`!has(self.spawnPerSecond) || has(self.users)`,fieldPath=`.spawnPerSecond`,message="spawnPerSecond needs users. Set users, or remove it."
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
	// 0 is rest: no request is sent and the probes pause, to show what the pods use without load. Such a stage is not the first one,
	// and comes before the first fault.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Users *int64 `json:"users,omitempty"`
	// spawnPerSecond is the rate at which the users come, the first at once; without it all come at the stage's beginning. The stage's
	// figures are of its whole time: put the coming into a stage of its own, with discard, to have those of all users alone.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	SpawnPerSecond int64 `json:"spawnPerSecond,omitempty"`
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
	// distance None sets topology.links only after this stage, so that it measures requests without distance. Such stages come first, are
	// discarded, and have no more users than the others. The stage after them is discarded too, and takes 10 seconds or more. Default:
	// Links.
	// +optional
	Distance StageLinks `json:"distance,omitempty"`
}

// StageLinks says whether topology.links stand during a stage.
// +kubebuilder:validation:Enum=Links;None
type StageLinks string

// Distances of a stage.
const (
	StageLinked          StageLinks = "Links"
	StageWithoutDistance StageLinks = "None"
)

// WithoutDistance says whether topology.links do not stand during the stage.
func (s Stage) WithoutDistance() bool { return s.Distance == StageWithoutDistance }

// StagesWithoutDistance is how many stages without distance the load begins with. The one after them is that in which the links are set.
func (l LoadSpec) StagesWithoutDistance() int {
	for i, s := range l.Stages {
		if !s.WithoutDistance() {
			return i
		}
	}
	return len(l.Stages)
}

// AtRest says whether the stage sends no request.
func (s Stage) AtRest() bool { return s.Users != nil && *s.Users == 0 }

// ClosedUsers are the users of a closed loop, 0 of any other stage.
func (s Stage) ClosedUsers() int64 {
	if s.Users == nil {
		return 0
	}
	return *s.Users
}

// Seconds is how long the stages take together.
func (l LoadSpec) Seconds() int64 {
	var sum int64
	for _, s := range l.Stages {
		sum += s.DurationSeconds
	}
	return sum
}
