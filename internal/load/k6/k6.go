// Package k6 holds the load script, knows k6's REST API as far as it takes to begin a run, and reads what runs leave behind.
package k6

import (
	_ "embed"
	"encoding/json"
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
