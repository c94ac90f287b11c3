package cluster

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"replab.dev/hack/lab/internal/bins"
	"replab.dev/hack/lab/internal/conf"
	"replab.dev/hack/lab/internal/host"
	"replab.dev/hack/lab/internal/image"
	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/proc"
	"replab.dev/hack/lab/internal/say"
)

const (
	startPatience = 90 * time.Second
	nodePatience  = 90 * time.Second
	// healthPatience is for a daemon that runs but does not answer at once,
	// before it is taken for hung and restarted.
	healthPatience = 10 * time.Second
	stopPatience   = 15 * time.Second
)

// Lab is one lab.
type Lab struct {
	layout.Layout
}

func (l Lab) table() proc.Table {
	return proc.Table{
		Lab: l.Dir,
		Dir: l.Run("daemons"),
		Log: func(name string) string { return l.Log(name + ".log") },
	}
}

func (l Lab) bridge() host.Bridge {
	return host.Bridge{Name: conf.Bridge, Address: conf.NodePrefix, Owner: l.Dir}
}

func (l Lab) store() image.Store { return image.Local(l.ContainerdSocket()) }

const cgroup = host.Cgroup(conf.CgroupRoot)

// Up brings the lab up from whatever state it is in: nothing yet, half made,
// killed, rebooted, or up already.
func (l Lab) Up() error {
	begin := time.Now()
	release, err := l.lock()
	if err != nil {
		return err
	}
	defer release()
	// Asked before the long work starts.
	if err := l.bridge().Check(); err != nil {
		return err
	}
	if err := l.forgetFormerBoot(); err != nil {
		return err
	}
	kube, images := l.make()
	if kube != nil {
		return kube
	}
	if err := say.Step("prepare the machine: bridge "+conf.Bridge+", cgroup, certificates", l.prepare); err != nil {
		return err
	}
	for i, stage := range stages(l.Layout) {
		if err := l.start(stage); err != nil {
			return err
		}
		if err := l.afterStage(i); err != nil {
			return err
		}
	}
	if err := say.Step("node "+conf.NodeName+" is ready", l.awaitNode); err != nil {
		return err
	}
	// Last, so that source that does not compile leaves a cluster that works.
	if images != nil {
		return images
	}
	if err := image.EnsureAll(l.Layout, nil, l.store()); err != nil {
		return err
	}
	say.Line("The lab is up after %.1f s. Next: export KUBECONFIG=%s", time.Since(begin).Seconds(), l.Kubeconfig())
	return nil
}

// make compiles and assembles everything, in three lanes: the Kubernetes components
// take longest, and the others fit into what they leave idle. The lanes share only
// the standard library, most of which this command's own build has compiled.
func (l Lab) make() (kube, images error) {
	var debian, compiled error
	var lanes sync.WaitGroup
	lanes.Go(func() { kube = bins.Ensure(l.Layout, []string{bins.Kube}) })
	lanes.Go(func() { debian = image.Assemble(l.Layout, true) })
	lanes.Go(func() {
		if compiled = bins.Ensure(l.Layout, []string{bins.K6}); compiled == nil {
			compiled = image.Assemble(l.Layout, false)
		}
	})
	lanes.Wait()
	return kube, errors.Join(debian, compiled)
}

// afterStage does what the next stage relies on: every pod needs the pause image,
// and DNS and storage need the permissions that the addons give them.
func (l Lab) afterStage(i int) error {
	switch i {
	case 0:
		return image.EnsureAll(l.Layout, []string{"pause"}, l.store())
	case 1:
		return say.Step("set up permissions, cluster DNS and the default storage class", l.applyAddons)
	}
	return nil
}

// forgetFormerBoot removes what a reboot made worthless. containerd's state and
// the addresses that were given out describe pods that no longer exist.
func (l Lab) forgetFormerBoot() error {
	boot, err := proc.BootID()
	if err != nil {
		return err
	}
	mark := l.Run("boot")
	known, err := os.ReadFile(mark)
	switch {
	case err == nil && string(known) == boot:
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case err == nil:
		say.Line("The machine was restarted since the lab was last up.")
	}
	// A restart leaves none of these. A run folder that somebody removed does, and
	// nobody could manage them any more.
	if err := l.endAll(); err != nil {
		return err
	}
	if err := host.Unmount(l.Run()); err != nil {
		return err
	}
	if err := host.Remove(l.Run()); err != nil {
		return err
	}
	if err := os.MkdirAll(l.Run(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(mark, []byte(boot), 0o644)
}

// prepare makes everything that the components expect to find. The journal comes
// first: it is what lab-down knows the former state from.
func (l Lab) prepare() error {
	if _, err := host.OpenJournal(l.Data("host.json")); err != nil {
		return err
	}
	for _, dir := range []string{l.Data("volume-plugins"), l.Data("pod-logs"), l.Volumes(), l.Log("")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := host.SetSysctls(); err != nil {
		return err
	}
	if err := l.bridge().Ensure(); err != nil {
		return err
	}
	if err := cgroup.Ensure(); err != nil {
		return err
	}
	if _, err := conf.Certificates(l.Layout).Ensure(time.Now()); err != nil {
		return err
	}
	return conf.Write(l.Layout)
}

// start starts all of a stage and then waits for all of it.
func (l Lab) start(stage []component) error {
	for _, c := range stage {
		if err := l.startOne(c); err != nil {
			return err
		}
	}
	for _, c := range stage {
		if err := c.probe.within(startPatience, l.ended(c.Name)); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// startOne leaves a daemon alone that runs as it should, and replaces one that
// was started with something else or has hung.
func (l Lab) startOne(c component) error {
	t := l.table()
	running, current, err := t.Running(c.Daemon)
	if err != nil {
		return err
	}
	if running && current && c.probe.within(healthPatience, l.ended(c.Name)) == nil {
		return nil
	}
	what := "start " + c.Name
	if running {
		what = "restart " + c.Name
	}
	return say.Step(what, func() error {
		if err := t.Stop(c.Name, stopPatience); err != nil {
			return err
		}
		if err := t.Start(c.Daemon); err != nil {
			return err
		}
		return c.probe.within(startPatience, l.ended(c.Name))
	})
}

// ended says, with the last lines of its log, that a daemon is gone.
func (l Lab) ended(name string) func() error {
	return func() error {
		if _, running := l.table().Find(name); running {
			return nil
		}
		path := l.Log(name + ".log")
		return fmt.Errorf("it ended; %s says last:\n%s", path, lastLines(path, 8))
	}
}
