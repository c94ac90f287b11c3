package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	text "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
)

// besideMemoryVolume is what a server needs of its memory beside a volume in memory.
const besideMemoryVolume = 384 << 20

// leastInstrument is below what any instrument needs.
const leastInstrument = 32 << 20

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
		path := at("pods.instruments.resources")
		quantities(s, path, *i.Resources)
		limit, limited := i.Resources.Limits[corev1.ResourceMemory]
		s.refuse(limited && limit.Sign() > 0 && tooSmall(limit, leastInstrument), path.Child("limits").Key("memory"), "no instrument starts with so little. Use at least 32Mi.")
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
	kinds(s, path, r)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		request, requested := r.Requests[name]
		limit, limited := r.Limits[name]
		s.refuse(requested && request.Sign() < 0, path.Child("requests").Key(string(name)), "a request cannot be negative. Correct or remove it.")
		s.refuse(limited && limit.Sign() <= 0, path.Child("limits").Key(string(name)), "a limit must be above 0. Correct or remove it.")
		s.refuse(requested && limited && request.Cmp(limit) > 0, path.Child("requests").Key(string(name)),
			fmt.Sprintf("the request exceeds the limit, %s. Lower the request, or raise the limit.", limit.String()))
	}
}

// kinds of resources that the API server knows, and their units.
func kinds(s *spec, path *field.Path, r corev1.ResourceRequirements) {
	for _, part := range []struct {
		name string
		list corev1.ResourceList
	}{{"requests", r.Requests}, {"limits", r.Limits}} {
		for _, name := range slices.Sorted(maps.Keys(part.list)) {
			quantity, path := part.list[name], path.Child(part.name).Key(string(name))
			whole, extended := quantity.MilliValue()%1000 == 0, strings.Contains(string(name), "/")
			known := slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, name)
			pages := strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
			s.refuse(!known && !pages && (!extended || len(text.IsQualifiedName(string(name))) > 0), path,
				"unknown resource. Use cpu, memory, ephemeral-storage, hugepages-<size>, or a name with a domain, such as nvidia.com/gpu.")
			s.refuse(name == corev1.ResourceMemory && !whole, path, fmt.Sprintf("%s is a fraction of a byte. Use a suffix such as Mi, as in 500Mi.", quantity.String()))
			if !extended && !pages {
				continue
			}
			s.refuse(extended && !whole, path, fmt.Sprintf("%s counts whole devices. Use a whole number.", name))
			limit, limited := r.Limits[name]
			s.refuse(part.name == "requests" && (!limited || limit.Cmp(quantity) != 0), path, "the limit must be the same. Set it to this, or remove the request.")
		}
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

var largestVolume = resource.MustParse("1Ei")

// volume: one that the data set or the load fills.
func volume(s *spec) {
	size := s.Topology.Storage.Size
	if size == (resource.Quantity{}) { // not defaulted
		return
	}
	if tooSmall(size, leastVolume) {
		s.refuse(true, at("topology.storage.size"), "no server fits. Use at least 512Mi.")
		return
	}
	s.refuse(size.Cmp(largestVolume) > 0, at("topology.storage.size"), "no volume is that large. Use at most 1Ei.")
	if s.server == nil {
		return
	}
	log := s.server.LogSize(s.Topology.Parameters)
	larger := "dataset.users"
	if log.Bytes > perUser*s.Dataset.Users {
		larger = log.Setting
	}
	needs := min(log.Bytes, 1<<60) + emptyServer + perUser*s.Dataset.Users
	if s.postgres() {
		needs += emptyPostgres - emptyServer
	}
	if s.galera() {
		needs += writeSets
	}
	if tooSmall(size, needs) {
		s.refuse(true, at("topology.storage.size"), fmt.Sprintf("%s is too small: a node needs %d MiB with its %s and the data set. Raise it, or lower %s.",
			size.String(), (needs+1<<20-1)>>20, log.Setting, larger))
		return
	}
	needs += written(s)
	s.refuse(tooSmall(size, needs), at("topology.storage.size"),
		fmt.Sprintf("the load fills %s: a node needs %d MiB with what the load and the lag probe write. Raise it, or write less.", size.String(), (needs+1<<20-1)>>20))
}

func tooSmall(size resource.Quantity, needs int64) bool {
	return size.Cmp(*resource.NewQuantity(needs, resource.BinarySI)) < 0
}

// written is how many bytes a node keeps at least of what is certainly written: users of open loops, and rows of the lag probe in the binary log.
func written(s *spec) (bytes int64) {
	mix := s.Load.Mix
	sum := int64(mix.Register) + int64(mix.Profile) + int64(mix.Search) + int64(mix.Login) + int64(mix.Update)
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
