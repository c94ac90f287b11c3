// Command local makes the local cluster of kind, also on a machine that has neither
// Docker nor an image registry. It compiles and assembles what that cluster and the
// tests with real servers need.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/engine"
	"replab.dev/hack/local/internal/image"
	"replab.dev/hack/local/internal/kind"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/preflight"
)

func main() {
	if engine.IsRuntime(os.Args[0]) {
		fail("runtime", engine.Runtime(os.Args))
	}
	l, err := layout.Find()
	if err == nil {
		err = command(l).Execute()
	}
	fail("local", err)
}

// fail ends the program if something went wrong.
func fail(who string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", who, err)
		os.Exit(1)
	}
}

func command(l layout.Layout) *cobra.Command {
	root := &cobra.Command{
		Use:           "local",
		Short:         "A local cluster of kind, and the images and binaries that it and the tests need",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(up(l), down(l), images(l), engines(l), binaries(l), rootfs(l))
	return root
}

// alone runs do while no other command changes the cluster or its engine.
func alone(l layout.Layout, do func() error) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	return errors.Join(do(), release())
}

func up(l layout.Layout) *cobra.Command {
	var config string
	var wish kind.Wish
	c := &cobra.Command{
		Use: "up", Short: "Make the cluster, or repair it, and wait until it can be used", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return alone(l, func() error { return kind.Up(l, config, wish) })
		},
	}
	c.Flags().StringVar(&config, "config", "config/kind/one.yaml", "the configuration of kind")
	wishes(c, &wish)
	return c
}

func images(l layout.Layout) *cobra.Command {
	var wish kind.Wish
	c := &cobra.Command{
		Use: "images", Short: "Bring images into all nodes", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return alone(l, func() error { return kind.Images(l, wish) })
		},
	}
	wishes(c, &wish)
	return c
}

func wishes(c *cobra.Command, w *kind.Wish) {
	c.Flags().StringVar(&w.From, "from", "", "images: public or packages; by default, what can be pulled")
	c.Flags().StringSliceVar(&w.Only, "only", nil, "images: only these, by the names of their folders below hack/images")
	c.Flags().StringVar(&w.Experiment, "for", "", "images: only what the experiment of this file needs")
}

func down(l layout.Layout) *cobra.Command {
	var purge bool
	c := &cobra.Command{
		Use: "down", Short: "Remove the cluster, and the engine if it is our own; caches stay", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return alone(l, func() error {
				if err := kind.Down(l, purge); err != nil || !purge {
					return err
				}
				return l.RemoveCaches()
			})
		},
	}
	c.Flags().BoolVar(&purge, "purge", false, "also remove the caches: binaries, images, root file systems")
	return c
}

// engines are the commands of the Docker engine that kind's nodes run on.
func engines(l layout.Layout) *cobra.Command {
	root := &cobra.Command{Use: "engine", Short: "The Docker engine of kind: the machine's, or one of our own"}
	root.AddCommand(&cobra.Command{
		Use: "up", Short: "Make sure that a Docker engine answers; on Debian one is started if need be", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return alone(l, func() error { return engine.Up(l) }) },
	}, &cobra.Command{
		Use: "down", Short: "End our own engine, and leave nothing behind but its images", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return alone(l, func() error { return engine.Down(l, false) })
		},
	})
	return root
}

func binaries(l layout.Layout) *cobra.Command {
	var only []string
	c := &cobra.Command{
		Use: "bin", Short: "Compile the binaries", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return bins.Ensure(l, only) },
	}
	c.Flags().StringSliceVar(&only, "only", nil, "only these")
	return c
}

func rootfs(l layout.Layout) *cobra.Command {
	return &cobra.Command{
		Use: "rootfs IMAGE", Short: "Unpack an image below .local/rootfs, for tests without a container", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := preflight.Rootfs(); err != nil {
				return err
			}
			return image.Unpack(l, args[0])
		},
	}
}
