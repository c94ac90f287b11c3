package validation

import (
	"cmp"
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
)

// standardMix are the weights by default.
var standardMix = v1alpha1.MixSpec{Register: 1, Profile: 1, Search: 1}

// load: stages that measure nothing, and settings that a script of one's own ignores.
func load(s *spec) {
	l := s.Load
	s.refuse(!slices.ContainsFunc(l.Stages, func(stage v1alpha1.Stage) bool { return !stage.Discard && !stage.AtRest() }), at("load.stages"),
		"all stages are discarded or at rest, so no load is measured. Remove discard from one, or add a stage with users.")
	own := l.Script != nil
	s.refuse(own && l.Mix != standardMix && l.Mix != v1alpha1.MixSpec{}, at("load.mix"), "your own script ignores the mix. Remove mix or script.")
	for i, stage := range l.Stages {
		path := at("load.stages", i)
		if own {
			s.refuse(stage.Users != nil || stage.RequestsPerSecond > 0, path, "your own script ignores users and requestsPerSecond. Remove them, and put options into the script.")
			continue
		}
		s.refuse(stage.Users == nil && stage.RequestsPerSecond == 0, path, "the stage has no load. Set users (closed loop; 0 is rest) or requestsPerSecond (open loop).")
		if stage.AtRest() {
			atRest(s, i)
			continue
		}
		users := cmp.Or(stage.ClosedUsers(), stage.MaxUsers, 100)
		s.refuse(int64(l.Parallelism) > users, at("load.parallelism"),
			fmt.Sprintf("stage %s has %d users, too few for %d k6 pods. Lower parallelism, or raise users or maxUsers.", stage.Name, users, l.Parallelism))
		s.refuse(stage.SpawnPerSecond > 0 && stage.ClosedUsers()-1 >= stage.SpawnPerSecond*stage.DurationSeconds, path.Child("spawnPerSecond"),
			"the stage ends before all users have come. Raise spawnPerSecond, or make the stage longer.")
	}
	hashes := l.Mix.Register > 0 || l.Mix.Login > 0
	s.refuse(!own && !hashes && s.App.PasswordHash == v1alpha1.PasswordBcrypt, at("app.passwordHash"), "the load neither registers nor logs in, so no password is hashed. Remove it, or change load.mix.")
	s.refuse(s.App.PasswordHash != v1alpha1.PasswordBcrypt && s.App.PasswordHashCost != 0, at("app.passwordHashCost"), "only Bcrypt has a cost. Remove it, or set passwordHash: Bcrypt.")
}

// atRest: a rest that would be taken for an outage, or that nobody can tell the beginning of.
func atRest(s *spec, i int) {
	stage, path := s.Load.Stages[i], at("load.stages", i, "users")
	s.refuse(i == 0, path, "the load begins with its first request, so its first stage cannot be at rest. Put a stage with users before it.")
	s.refuse(stage.SpawnPerSecond > 0, at("load.stages", i, "spawnPerSecond"), "the stage is at rest, so no users come. Remove spawnPerSecond.")
	end := v1alpha1.LoadSpec{Stages: s.Load.Stages[:i+1]}.Seconds()
	for j, f := range s.Faults {
		s.refuse(f.AtSeconds < end, path, fmt.Sprintf("faults[%d] at %d s comes before the end of this rest, which would hide its outage. Start the fault at %d s or later.",
			j, f.AtSeconds, end))
	}
}

// linkSeconds is how long the stage takes at least in which the links are set.
const linkSeconds = 10

// stagesWithoutDistance: they come first, are discarded, and the last of them is compared with the later stages.
func stagesWithoutDistance(s *spec) {
	stages := s.Load.Stages
	first := s.Load.StagesWithoutDistance()
	some := slices.ContainsFunc(stages, v1alpha1.Stage.WithoutDistance)
	if !some {
		return
	}
	s.refuse(len(s.Topology.Links) == 0, at("load.stages"), "distance None needs topology.links, without which no stage is at a distance. Add links, or remove distance.")
	s.refuse(s.Load.Script != nil, at("load.stages"), "distance None belongs to the built-in script. Remove distance or script.")
	for i, stage := range stages {
		if !stage.WithoutDistance() {
			continue
		}
		s.refuse(!stage.Discard, at("load.stages", i, "discard"), "a stage with distance None does not count. Set discard to true.")
		if i > first {
			s.refuse(true, at("load.stages", i, "distance"), "stages with distance None come first, since the links are set once. Move the stage to the front.")
			return
		}
	}
	last := first - 1
	setting := first < len(stages) && stages[first].Discard && stages[first].DurationSeconds >= linkSeconds
	s.refuse(!setting, at("load.stages", last), "the links are set in the next stage. Add one after it with discard and at least 10 seconds.")
	compared(s, last)
}

// compared: the last stage without distance tells what a request takes, so that none may wait there for others.
func compared(s *spec, last int) {
	stages := s.Load.Stages
	if s.Load.Script != nil {
		return
	}
	s.refuse(stages[last].AtRest(), at("load.stages", last, "users"), "the last stage with distance None shows what one request takes. Use users of 1 or more.")
	s.refuse(stages[last].RequestsPerSecond > 0, at("load.stages", last, "requestsPerSecond"),
		"the last stage with distance None shows what one request takes, so it needs a closed loop. Use users instead.")
	for _, later := range stages[min(last+2, len(stages)):] {
		if later.ClosedUsers() > 0 && stages[last].ClosedUsers() > later.ClosedUsers() {
			s.refuse(true, at("load.stages", last, "users"),
				fmt.Sprintf("the last stage with distance None has more users than stage %s, so they cannot be compared. Use at most %d.", later.Name, later.ClosedUsers()))
			return
		}
	}
}
