package controllers

import (
	"sync"
	"testing"
)

// TestAtOnce comes to its end only if each call is there before any returns.
func TestAtOnce(t *testing.T) {
	var there sync.WaitGroup
	there.Add(3)
	seen := make([]bool, 3)
	atOnce(3, func(i int) {
		seen[i] = true
		there.Done()
		there.Wait()
	})
	for i, s := range seen {
		if !s {
			t.Errorf("%d was not called", i)
		}
	}
}
