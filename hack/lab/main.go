// Command lab brings up the local cluster, kind or a real Kubernetes of one node,
// also on a machine that has neither Docker nor an image registry, and assembles
// the images that it needs.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"replab.dev/hack/lab/internal/bins"
	"replab.dev/hack/lab/internal/engine"
	"replab.dev/hack/lab/internal/image"
	"replab.dev/hack/lab/internal/kind"
	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/nodeimage"
	"replab.dev/hack/lab/internal/preflight"
)

func main() {
	if engine.IsRuntime(os.Args[0]) {
		fail("runtime", engine.Runtime(os.Args))
	}
	l, err := layout.Find()
	if err == nil {
		err = command(l).Execute()
	}
	fail("lab", err)
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
		Use:           "lab",
		Short:         "A local Kubernetes, and the images that it needs, from packages alone",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(binaries(l), rootfs(l), engines(l), nodeImage(l), kinds(l))
	root.AddCommand(single(l)...)
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
		Use: "rootfs IMAGE", Short: "Unpack an image below .lab/rootfs, for tests without a container", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := preflight.Rootfs(); err != nil {
				return err
			}
			return image.Unpack(l, args[0])
		},
	}
}

// engines are the commands of the Docker engine that kind's nodes run on.
func engines(l layout.Layout) *cobra.Command {
	root := &cobra.Command{Use: "engine", Short: "The Docker engine of kind: the machine's, or one of our own"}
	var purge bool
	down := &cobra.Command{
		Use: "down", Short: "End our own engine, and leave nothing behind but its images", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return engine.Down(l, purge) },
	}
	down.Flags().BoolVar(&purge, "purge", false, "also remove its images")
	root.AddCommand(down, &cobra.Command{
		Use: "up", Short: "Make sure that a Docker engine answers; on Debian one is started if need be", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return engine.Up(l) },
	})
	return root
}

func nodeImage(l layout.Layout) *cobra.Command {
	return &cobra.Command{
		Use: "node-image", Short: "Pull or assemble the image of kind's nodes, and print its name", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			reached, err := engine.Use(l)
			if err != nil {
				return err
			}
			if !reached {
				return errors.New("no Docker engine answers: run lab engine up")
			}
			ref, err := nodeimage.Ensure(l)
			if err == nil {
				fmt.Println(ref)
			}
			return err
		},
	}
}

// kinds are the commands of the cluster of kind.
func kinds(l layout.Layout) *cobra.Command {
	root := &cobra.Command{Use: "kind", Short: "A cluster of kind, with an engine and a node image of our own where there are none"}
	var config string
	var wish kind.Wish
	up := &cobra.Command{
		Use: "up", Short: "Make the cluster, or repair it, and wait until it can be used", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return kind.Up(l, config, wish) },
	}
	up.Flags().StringVar(&config, "config", "config/kind/one.yaml", "the configuration of kind")
	down := &cobra.Command{
		Use: "down", Short: "Remove the cluster, and the engine if it is our own", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return kind.Down(l) },
	}
	images := &cobra.Command{
		Use: "images", Short: "Bring images into all nodes", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return kind.Images(l, wish) },
	}
	for _, c := range []*cobra.Command{up, images} {
		c.Flags().StringVar(&wish.From, "from", "", "images: public or packages; by default, what can be pulled")
		c.Flags().StringSliceVar(&wish.Only, "only", nil, "images: only these, by the names of their folders below hack/images")
		c.Flags().StringVar(&wish.Experiment, "for", "", "images: only what the experiment of this file needs")
	}
	root.AddCommand(up, down, images)
	return root
}
