// Package registry finds out whether public images can be pulled.
package registry

import (
	"net/http"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

// hub answers everybody, if only that they have to log in.
const hub = "https://" + name.DefaultRegistry + "/v2/"

// patience is for an answer of hub: it is asked before anything else is done.
const patience = 5 * time.Second

// Reachable tells whether the registry of public images answers this machine.
var Reachable = sync.OnceValue(func() bool { return answers(hub) })

func answers(url string) bool {
	client := http.Client{Timeout: patience}
	response, err := client.Head(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK || response.StatusCode == http.StatusUnauthorized
}
