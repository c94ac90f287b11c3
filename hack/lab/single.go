//go:build linux

package main

import (
	"os"

	"github.com/spf13/cobra"

	"replab.dev/hack/lab/internal/cluster"
	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/preflight"
)

// single are the commands of the Kubernetes of one node.
func single(at layout.Layout) []*cobra.Command {
	l := cluster.Lab{Layout: at}
	return []*cobra.Command{up(l), down(l), status(l), images(l)}
}

func up(l cluster.Lab) *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Bring the lab up, or repair it", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := preflight.Node(l.Layout); err != nil {
				return err
			}
			return l.Up()
		},
	}
}

func down(l cluster.Lab) *cobra.Command {
	var purge bool
	c := &cobra.Command{
		Use: "down", Short: "Take the lab down and leave nothing behind but its caches", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := preflight.Root(); err != nil {
				return err
			}
			return l.Down(purge)
		},
	}
	c.Flags().BoolVar(&purge, "purge", false, "also remove the caches: binaries, images, root file systems")
	return c
}

func status(l cluster.Lab) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say how the lab is and what to do next", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			// Others may not look into the lab's processes and would be told that
			// none of them runs.
			if err := preflight.Root(); err != nil {
				return err
			}
			return l.Status(os.Stdout)
		},
	}
}

func images(l cluster.Lab) *cobra.Command {
	var only []string
	c := &cobra.Command{
		Use: "images", Short: "Assemble the images and import them into the lab", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := preflight.Images(); err != nil {
				return err
			}
			return l.EnsureImages(only)
		},
	}
	c.Flags().StringSliceVar(&only, "only", nil, "only these, by the names of their folders below hack/images")
	return c
}
