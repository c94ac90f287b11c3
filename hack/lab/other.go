//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"replab.dev/hack/lab/internal/layout"
)

// single are the commands of the Kubernetes of one node, which needs Linux.
func single(layout.Layout) []*cobra.Command { return nil }
