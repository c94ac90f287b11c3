// Package k6 holds the load script, knows k6's REST API as far as it takes to begin a run, and reads what runs leave behind.
package k6

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path"
	"reflect"
	"strings"

	"replab.dev/internal/wire"
)

// userDir is where the plan mounts the user's own script.
const userDir = "/scripts/user"

//go:embed main.js
var mainScript string

//go:embed summary.js
var summaryScript string

//go:embed user.js
var userScript string

// Script returns the built-in load: a k6 module that is configured by wire.LoadEnv and wire.URLEnv.
func Script() string { return mainScript + summaryScript }

// Wrapper returns the module that runs the user's script /scripts/user/<file>, and writes a wire.K6Summary at its end.
func Wrapper(file string) string { return wrapper(path.Join(userDir, file)) }

func wrapper(file string) string {
	quoted, err := json.Marshal(file)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return strings.ReplaceAll(userScript, "USER_SCRIPT", string(quoted)) + summaryScript
}

// StatusPath is the path of k6's REST API that reports its state and starts it.
const StatusPath = "/v1/status"

// State of a k6 that was started with --paused.
type State int

// States of k6.
const (
	Preparing State = iota // it reads the script and makes its virtual users, or does not answer yet
	Paused                 // it is ready and waits to be told to begin
	Begun
)

// pausedBeforeRun is k6's number for "ready, and paused". Told to begin sooner it would not wait for the others.
const pausedBeforeRun = 4

// ParseState reads the answer of GET StatusPath.
func ParseState(answer []byte) (State, error) {
	var status struct {
		Data struct {
			Attributes struct {
				Status *int  `json:"status"`
				Paused *bool `json:"paused"`
			} `json:"attributes"`
		} `json:"data"`
	}
	err := json.Unmarshal(answer, &status)
	a := status.Data.Attributes
	switch {
	case err != nil:
		return Preparing, fmt.Errorf("read the status of k6: %w", err)
	case a.Paused == nil || a.Status == nil:
		return Preparing, fmt.Errorf("read the status of k6: %q tells neither status nor whether it is paused", answer)
	case !*a.Paused:
		return Begun, nil
	case *a.Status < pausedBeforeRun:
		return Preparing, nil
	}
	return Paused, nil
}

// Resume is the body to PATCH to StatusPath so that a paused k6 begins.
func Resume() []byte {
	return []byte(`{"data":{"type":"status","id":"default","attributes":{"paused":false}}}`)
}

// messageBytes is how much of a termination message Kubernetes keeps.
const messageBytes = 4096

// largest bounds a summary's figures: JavaScript counts exactly up to it.
const largest = 1<<53 - 1

// ParseSummary reads a k6 pod's termination message. A missing or impossible figure is an error, never 0.
func ParseSummary(message []byte) (wire.K6Summary, error) {
	var s wire.K6Summary
	if len(bytes.TrimSpace(message)) == 0 {
		return wire.K6Summary{}, errors.New("the k6 pod left no summary: k6 ended before its script's handleSummary")
	}
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	switch err := d.Decode(&s); {
	case errors.Is(err, io.ErrUnexpectedEOF) && len(message) >= messageBytes:
		return wire.K6Summary{}, fmt.Errorf("the k6 pod's message was cut at %d bytes: the summary is too long for it", len(message))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return wire.K6Summary{}, fmt.Errorf("the k6 pod's message was cut: it ends after %d bytes within the summary", len(message))
	case err != nil:
		return wire.K6Summary{}, fmt.Errorf("the k6 pod's message is no summary of replab's script: %w; it begins with %.80q", err, message)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wire.K6Summary{}, errors.New("the k6 pod's message has more after the summary")
	}
	if err := errors.Join(checkComplete(message, s), check(s)); err != nil {
		return wire.K6Summary{}, fmt.Errorf("the k6 pod's summary cannot be right: %w", err)
	}
	return s, nil
}

// checkComplete compares the message with what s is as JSON: encoding/json reads a field that is missing as 0.
func checkComplete(message []byte, s wire.K6Summary) error {
	canonical, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(message, &got), json.Unmarshal(canonical, &want)); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("a field is missing or misspelt; it is %.200q", message)
	}
	return nil
}

// check finds what no run can have counted.
func check(s wire.K6Summary) error {
	if s.Version != 1 {
		return fmt.Errorf("its version is %d, this replab reads 1", s.Version)
	}
	for _, n := range []int64{s.Requests, s.FailedRequests, s.Registered, s.DroppedIterations} {
		if n < 0 || n > largest {
			return fmt.Errorf("it counts %d", n)
		}
	}
	switch {
	case s.FailedRequests > s.Requests:
		return fmt.Errorf("%d of %d requests failed", s.FailedRequests, s.Requests)
	case s.Registered > s.Requests-s.FailedRequests:
		return fmt.Errorf("%d users were registered by %d requests of which %d failed", s.Registered, s.Requests, s.FailedRequests)
	case s.Registered > 0 && !s.RegisteredKnown:
		return errors.New("it counts registered users and says that it does not")
	}
	return checkStages(s.Stages)
}

func checkStages(stages []wire.K6StageSummary) error {
	seen := map[string]bool{}
	for _, stage := range stages {
		if stage.Name == "" || seen[stage.Name] {
			return fmt.Errorf("stage %q has no name or stands twice", stage.Name)
		}
		seen[stage.Name] = true
		for _, n := range []int64{stage.Requests, stage.FailedRequests, stage.Iterations, stage.IterationMeanMicroseconds, stage.DroppedIterations} {
			if n < 0 || n > largest {
				return fmt.Errorf("stage %s counts %d", stage.Name, n)
			}
		}
		if stage.FailedRequests > stage.Requests {
			return fmt.Errorf("%d of %d requests of stage %s failed", stage.FailedRequests, stage.Requests, stage.Name)
		}
	}
	return nil
}

// Merge sums the summaries of pods that shared one load. Registered is known if every pod knew it.
func Merge(pods []wire.K6Summary) wire.K6Summary {
	merged := wire.K6Summary{Version: 1, RegisteredKnown: len(pods) > 0}
	index := map[string]int{}
	var sums []stageSum
	for _, p := range pods {
		merged.Requests += p.Requests
		merged.FailedRequests += p.FailedRequests
		merged.Registered += p.Registered
		merged.DroppedIterations += p.DroppedIterations
		merged.RegisteredKnown = merged.RegisteredKnown && p.RegisteredKnown
		for _, stage := range p.Stages {
			i, ok := index[stage.Name]
			if !ok {
				i = len(sums)
				index[stage.Name] = i
				sums = append(sums, stageSum{name: stage.Name})
			}
			sums[i].add(stage)
		}
	}
	if !merged.RegisteredKnown {
		merged.Registered = 0
	}
	for _, s := range sums {
		merged.Stages = append(merged.Stages, s.summary())
	}
	return merged
}

// stageSum adds up a stage. The time of all iterations takes 128 bits.
type stageSum struct {
	name                string
	requests, failed    int64
	iterations, dropped int64
	timeHigh, timeLow   uint64 // microseconds
}

func (s *stageSum) add(stage wire.K6StageSummary) {
	s.requests += stage.Requests
	s.failed += stage.FailedRequests
	s.iterations += stage.Iterations
	s.dropped += stage.DroppedIterations
	high, low := bits.Mul64(uint64(stage.Iterations), uint64(stage.IterationMeanMicroseconds))
	var carry uint64
	s.timeLow, carry = bits.Add64(s.timeLow, low, 0)
	s.timeHigh, _ = bits.Add64(s.timeHigh, high, carry)
}

func (s *stageSum) summary() wire.K6StageSummary {
	out := wire.K6StageSummary{Name: s.name, Requests: s.requests, FailedRequests: s.failed, Iterations: s.iterations, DroppedIterations: s.dropped}
	if s.iterations > 0 {
		time := float64(s.timeHigh)*math.Pow(2, 64) + float64(s.timeLow)
		out.IterationMeanMicroseconds = int64(math.Round(time / float64(s.iterations)))
	}
	return out
}
