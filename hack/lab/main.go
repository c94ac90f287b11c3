// Command lab runs a real Kubernetes of one node on a machine that has neither
// Docker nor an image registry, and assembles the images that it needs.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"replab.dev/hack/lab/internal/bins"
	"replab.dev/hack/lab/internal/cluster"
	"replab.dev/hack/lab/internal/image"
	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/preflight"
)

func main() {
	l, err := layout.Find()
	if err == nil {
		err = command(cluster.Lab{Layout: l}).Execute()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func command(l cluster.Lab) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "A real single-node Kubernetes from packages alone",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(up(l), down(l), status(l), images(l), binaries(l), rootfs(l))
	return root
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

func binaries(l cluster.Lab) *cobra.Command {
	var only []string
	c := &cobra.Command{
		Use: "bin", Short: "Compile the binaries", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return bins.Ensure(l.Layout, only) },
	}
	c.Flags().StringSliceVar(&only, "only", nil, "only these")
	return c
}

func rootfs(l cluster.Lab) *cobra.Command {
	return &cobra.Command{
		Use: "rootfs IMAGE", Short: "Unpack an image below .lab/rootfs, for tests without a container", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := preflight.Rootfs(); err != nil {
				return err
			}
			return image.Unpack(l.Layout, args[0])
		},
	}
}
