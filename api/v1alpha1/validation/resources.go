package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// besideMemoryVolume is what a server needs of its memory beside a volume in memory.
const besideMemoryVolume = 384 << 20

// resources: requests and limits that no pod could have, or with which no server lives.
func resources(s *spec) {
	own := at("topology.resources")
	quantities(s, own, s.Topology.Resources)
	memory(s, own, s.Topology.Resources)
	if s.Pods == nil {
		return
	}
	s.refuse(s.Pods.All != nil && s.Pods.All.Resources != nil, at("pods.all.resources"),
		"a database and a proxy cannot need the same. Remove it, and set pods.nodes.resources or pods.instruments.resources.")
	if i := s.Pods.Instruments; i != nil && i.Resources != nil {
		quantities(s, at("pods.instruments.resources"), *i.Resources)
	}
	if n := s.Pods.Nodes; n != nil && n.Resources != nil {
		path := at("pods.nodes.resources")
		quantities(s, path, *n.Resources)
		s.refuse(s.Topology.Resources.Requests != nil || s.Topology.Resources.Limits != nil, path, "topology.resources says the same. Remove one of them.")
		memory(s, path, *n.Resources)
	}
}

func quantities(s *spec, path *field.Path, r corev1.ResourceRequirements) {
	s.refuse(len(r.Claims) > 0, path.Child("claims"), "claims are not supported. Remove them.")
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, requested := r.Requests[name]
		limit, limited := r.Limits[name]
		s.refuse(requested && request.Sign() < 0, path.Child("requests").Key(string(name)), "a request cannot be negative. Correct or remove it.")
		s.refuse(limited && limit.Sign() <= 0, path.Child("limits").Key(string(name)), "a limit must be above 0. Correct or remove it.")
		s.refuse(requested && limited && request.Cmp(limit) > 0, path.Child("requests").Key(string(name)),
			fmt.Sprintf("the request exceeds the limit, %s. Lower the request, or raise the limit.", limit.String()))
	}
}

// memory: a limit below what the server needs.
func memory(s *spec, path *field.Path, r corev1.ResourceRequirements) {
	limit, limited := r.Limits[corev1.ResourceMemory]
	if !limited || limit.Sign() <= 0 {
		return
	}
	path = path.Child("limits").Key("memory")
	if s.server != nil {
		need := s.server.Memory(s.Topology.Parameters)
		s.refuse(limit.Value() < need.Bytes, path, fmt.Sprintf("%s is too little: a server needs %d MiB with its %s. Raise the limit, or lower %[3]s in topology.parameters.",
			limit.String(), need.Bytes>>20, need.Setting))
	}
	size := s.Topology.Storage.Size
	s.refuse(s.Topology.Storage.Medium == v1alpha1.MediumMemory && limit.Value()-besideMemoryVolume < size.Value(), path,
		fmt.Sprintf("a volume in memory counts too: use at least %d MiB, topology.storage.size and 384Mi. Or make the volume smaller.", (size.Value()+besideMemoryVolume)>>20))
}

// Bytes that a volume holds beside the log of changes.
const (
	emptyServer   = 144 << 20
	emptyPostgres = 128 << 20
	writeSets     = 128 << 20 // the cache of a member of a group
	perUser       = 1500
	leastVolume   = 512 << 20
)

// volume: one that the data set or the load fills.
func volume(s *spec) {
	size := s.Topology.Storage.Size
	if size.IsZero() {
		return
	}
	if tooSmall(size, leastVolume) {
		s.refuse(true, at("topology.storage.size"), "no server fits. Use at least 512Mi.")
		return
	}
	if s.server == nil {
		return
	}
	log := s.server.LogSize(s.Topology.Parameters)
	needs := min(log.Bytes, 1<<60) + emptyServer + perUser*s.Dataset.Users
	if s.postgres() {
		needs += emptyPostgres - emptyServer
	}
	if s.galera() {
		needs += writeSets
	}
	if tooSmall(size, needs) {
		s.refuse(true, at("topology.storage.size"), fmt.Sprintf("%s is too small: a node needs %d MiB with its %s and the data set. Raise it, or lower dataset.users.",
			size.String(), (needs+1<<20-1)>>20, log.Setting))
		return
	}
	needs += written(s)
	s.refuse(tooSmall(size, needs), at("topology.storage.size"),
		fmt.Sprintf("the load fills %s: a node needs %d MiB with what the load and the lag probe write. Raise it, or write less.", size.String(), (needs+1<<20-1)>>20))
}

func tooSmall(size resource.Quantity, needs int64) bool { return size.Value() < needs }

// written is how many bytes a node keeps at least of what is certainly written: users of open loops, and rows of the lag probe in the binary log.
func written(s *spec) (bytes int64) {
	mix := s.Load.Mix
	sum := int64(mix.Register) + int64(mix.Profile) + int64(mix.Search) + int64(mix.Login)
	for _, stage := range s.Load.Stages {
		if s.Load.Script == nil && sum > 0 {
			bytes += stage.RequestsPerSecond * stage.DurationSeconds * int64(mix.Register) / sum * perUser
		}
	}
	if lag := s.Probes.Lag; lag.IntervalMilliseconds > 0 && s.Topology.Nodes > 1 && !s.postgres() {
		payload := lag.PayloadBytes
		if sweep := lag.SweepPayloadBytes; len(sweep) > 0 {
			payload = 0
			for _, p := range sweep {
				payload += p / int64(len(sweep))
			}
		}
		bytes += s.Load.Seconds() * 1000 / lag.IntervalMilliseconds * payload
	}
	return bytes
}
