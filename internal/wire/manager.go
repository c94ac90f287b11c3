package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EnvPodIP is the environment variable with the pod's address, for nodes whose servers a manager runs.
const EnvPodIP = "POD_IP"

// ManagerConfig is for nodes whose servers a manager runs: a process beside each, in the same container, which starts the server, and
// decides with the other nodes' managers which server takes the writes. Start wrapper and agent are told the same.
type ManagerConfig struct {
	Argv    []string `json:"argv"`    // the manager's, by which it is known among the pod's processes
	Process string   `json:"process"` // comm of its process
	URL     string   `json:"url"`     // where it answers on its node
	// Template is the manager's configuration file, without what differs between nodes and without passwords; the wrapper reads it.
	Template string `json:"template,omitempty"`
	// First answer 200 once there are data that this node may copy: the others' managers. The wrapper of a node without data waits for one
	// of them, unless it is the first node, so that the first makes them.
	First []string `json:"first,omitempty"`
	// PauseAt has the agent of the writer pause the managers once this many nodes have their places: from then on none of them decides
	// anything. 0: never.
	PauseAt int `json:"pauseAt,omitempty"`
}

// ManagerState is what the agent of such a node knows of it, as its manager and its server say.
type ManagerState struct {
	NodeHistory
	// Answers: the manager has, within the last second. What it said stands longer.
	Answers bool `json:"answers"`
	// Holds: by its own account the node holds the lock, and its server is the one that takes the writes.
	Holds bool `json:"holds"`
	// Streaming: the server is a standby that is connected with a server that it takes its log from.
	Streaming bool `json:"streaming"`
	// Waits: the server has commits wait for standbys.
	Waits bool `json:"waits"`
	// Synchronous: the managers count the node among the standbys that have every commit that was waited for, and may be promoted.
	Synchronous bool `json:"synchronous"`
	Paused      bool `json:"paused"` // the managers decide nothing
	// Furnished: the agent has seen to it, while its server took the writes, that it has the app's accounts and tables; of RemoteConfig alone,
	// others are made with them.
	Furnished bool `json:"furnished,omitempty"`
	// Runs: a server does, as far as its address tells; of RemoteConfig alone, whose agent sees no process. Of others NodeState.ServerPID tells.
	Runs bool `json:"runs,omitempty"`

	State string `json:"state,omitempty"` // of the server, in the manager's words
	Role  string `json:"role,omitempty"`  // likewise
	// Members are the nodes whose servers run, as the manager sees it: those that have died a moment ago among them.
	Members int `json:"members"`
	// Config are settings in the managers' store, as it has them, and "version", the manager's own. Absent until they are known.
	Config map[string]string `json:"config,omitempty"`

	// Timeline that the server writes or receives, and positions in its log, in bytes since the log began; of a writer Written alone. All are
	// 0 while the server does not answer.
	Timeline int64  `json:"timeline,omitempty"`
	Written  uint64 `json:"written,omitempty"`
	Received uint64 `json:"received,omitempty"`
	Applied  uint64 `json:"applied,omitempty"`
}

// RewindNote is of one attempt to take back what a node has that the writer has not. `replab rewind` leaves them in RewindsFile, one JSON
// document a line.
type RewindNote struct {
	BeganAt metav1.MicroTime `json:"beganAt"` // the manager asked for it
	EndedAt metav1.MicroTime `json:"endedAt"`
	// InspectedMilliseconds of it were spent on reading what the node held, before anything was taken back.
	InspectedMilliseconds int64 `json:"inspectedMilliseconds"`
	ExitCode              int   `json:"exitCode"` // of the server's own program
}

// Notes in RunDir of such a node. They go with the pod.
const (
	RewindsFile = "rewinds"
	// PromotionsFile has a line for each time that the manager had decided to promote its server: seconds of Unix time, with a fraction.
	PromotionsFile = "promotions"
)
