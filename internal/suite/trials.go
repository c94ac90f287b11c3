// Package suite plans the trials of a ReplicationSuite and says what can be concluded from them. It is pure.
package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// Trial is one variant in one round.
type Trial struct {
	Variant string
	Round   int32 // from 1
}

// Streams of random numbers of a round.
const (
	orderStream = iota
	faultStream
	streams
)

func random(seed int64, round int32, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), uint64(round)*streams+stream))
}

// Trials of a suite in their order. The same spec gives the same trials.
func Trials(spec *v1alpha1.ReplicationSuiteSpec) []Trial {
	var all []Trial
	if spec.Order == v1alpha1.OrderSequential {
		for _, v := range spec.Variants {
			for round := range spec.Trials {
				all = append(all, Trial{v.Name, round + 1})
			}
		}
		return all
	}
	for round := int32(1); round <= spec.Trials; round++ {
		for _, i := range random(spec.Seed, round, orderStream).Perm(len(spec.Variants)) {
			all = append(all, Trial{spec.Variants[i].Name, round})
		}
	}
	return all
}

// Name of the experiment of a trial. No two runs of a suite have the same.
func (t Trial) Name(suite string, attempt int32) string {
	name := fmt.Sprintf("%s-%s-%d", suite, t.Variant, t.Round)
	if attempt > 1 {
		name += fmt.Sprintf("-r%d", attempt)
	}
	return name
}

// run of the trial, by its attempt from 1.
func (t Trial) run(suite string, attempt int32) v1alpha1.TrialRun {
	return v1alpha1.TrialRun{Name: t.Name(suite, attempt), Variant: t.Variant, Round: t.Round, Attempt: attempt}
}

// Next is the run that follows those that have ended, nil after the last. An Inconclusive trial is run again while there are retries.
func Next(suite *v1alpha1.ReplicationSuite) *v1alpha1.TrialRun {
	trials := Trials(&suite.Spec)
	ended := final(suite.Status.Runs)
	if n := len(suite.Status.Runs); n > 0 {
		last := suite.Status.Runs[n-1]
		if last.Verdict == v1alpha1.VerdictInconclusive && repeated(suite.Status.Runs) < suite.Spec.Retries {
			return ptr.To(Trial{last.Variant, last.Round}.run(suite.Name, last.Attempt+1))
		}
	}
	for _, t := range trials {
		if _, done := ended[t]; !done {
			return ptr.To(t.run(suite.Name, 1))
		}
	}
	return nil
}

// Current is the run under way, nil between two.
func Current(status *v1alpha1.ReplicationSuiteStatus) *v1alpha1.TrialRun {
	if n := len(status.Runs); n > 0 && status.Runs[n-1].Verdict == "" {
		return &status.Runs[n-1]
	}
	return nil
}

// final is the last run of each trial, which is the one that counts.
func final(runs []v1alpha1.TrialRun) map[Trial]v1alpha1.TrialRun {
	last := map[Trial]v1alpha1.TrialRun{}
	for _, r := range runs {
		last[Trial{r.Variant, r.Round}] = r
	}
	return last
}

// repeated counts runs that were replaced.
func repeated(runs []v1alpha1.TrialRun) int32 {
	return int32(len(runs) - len(final(runs)))
}

// Hash of the fields of a spec that are fixed once the suite has started.
func Hash(spec *v1alpha1.ReplicationSuiteSpec) (string, error) {
	fixed := spec.DeepCopy()
	fixed.KeepTrials, fixed.Suspend, fixed.Abort, fixed.TTLSecondsAfterFinished = 0, false, false, nil
	return hash(fixed)
}

// HashTrial is the hash of the fields of a trial's spec that decide what it measures.
func HashTrial(spec *v1alpha1.ReplicationExperimentSpec) (string, error) {
	fixed := spec.DeepCopy()
	fixed.Keep, fixed.Suspend, fixed.Abort, fixed.TTLSecondsAfterFinished = "", false, false, nil
	return hash(fixed)
}

// Edited tells whether an experiment measured another spec than its run's trial has. Then it proves nothing of the variant.
func Edited(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) (bool, error) {
	hash, err := HashTrial(&x.Spec)
	return hash != run.SpecHash, err
}

func hash(spec any) (string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	var whole any // the keys of template and patches are sorted
	if err := json.Unmarshal(text, &whole); err != nil {
		return "", fmt.Errorf("decode the spec: %w", err)
	}
	if text, err = json.Marshal(whole); err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
