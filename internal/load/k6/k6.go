// Package k6 holds the load script, knows k6's REST API as far as it takes to begin a run, and reads what runs leave behind.
package k6

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
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

// Wrapper returns the module to run in place of the user's own script /scripts/user/<file>: it does what that script
// does and writes a wire.K6Summary at the end.
func Wrapper(file string) string { return wrapper(path.Join(userDir, file)) }

func wrapper(file string) string {
	quoted, err := json.Marshal(file)
	if err != nil {
		panic(err) // a string has a JSON form
	}
	return strings.ReplaceAll(userScript, "USER_SCRIPT", string(quoted)) + summaryScript
}

// StatusPath is where k6's REST API tells how it stands, and is told to begin.
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
