package cluster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"replab.dev/hack/lab/internal/host"
	"replab.dev/hack/lab/internal/image"
	"replab.dev/hack/lab/internal/proc"
	"replab.dev/hack/lab/internal/say"
)

const podPatience = 30 * time.Second

// Down takes the lab down from whatever state it is in. It goes on after a
// failure, since the parts do not need each other to be removed, and reports all
// failures together.
func (l Lab) Down(purge bool) error {
	release, err := l.lock()
	if err != nil {
		return err
	}
	defer release()
	var errs []error
	for _, s := range []struct {
		what string
		do   func() error
	}{
		{"delete pods", l.deletePods},
		{"stop the control plane", func() error { return l.stop("containerd") }},
		{"end what is left of pods", l.endPods},
		{"stop containerd", func() error { return l.stop("") }},
		{"unmount, remove bridge, iptables chains and cgroups", l.clean},
		{"remove the lab's files", func() error { return l.removeFiles(purge) }},
	} {
		if err := say.Step(s.what, s.do); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not all could be removed; running this again is safe:\n%w", err)
	}
	say.Line("The lab is down.")
	return nil
}

// deletePods lets the node take its pods down in order, network included. What
// would make new ones is stopped first.
func (l Lab) deletePods() error {
	t := l.table()
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		if err := t.Stop(name, stopPatience); err != nil {
			return err
		}
	}
	_, kubelet := t.Find("kubelet")
	if !kubelet || apiProbe(l.Layout, "/readyz")() != nil {
		return nil // nobody is there to do it; endPods does it the hard way
	}
	// Not waited for as objects: a finalizer whose controller has been stopped
	// would hold them for ever. What counts is that their processes end.
	if _, err := l.kubectl("delete", "pods", "--all", "--all-namespaces", "--grace-period=1", "--wait=false"); err != nil {
		return err
	}
	return cgroup.AwaitEmpty(podPatience)
}

// stop stops all daemons, the last that started first, down to but without the
// one that is named.
func (l Lab) stop(keep string) error {
	var names []string
	for _, stage := range stages(l.Layout) {
		for _, c := range stage {
			names = append(names, c.Name)
		}
	}
	slices.Reverse(names)
	var errs []error
	for _, name := range names {
		if name != keep {
			errs = append(errs, l.table().Stop(name, stopPatience))
		}
	}
	return errors.Join(errs...)
}

// endPods ends what runs in the pods' cgroups and then containerd's shims: they
// carry the mark that containerd was started with.
func (l Lab) endPods() error {
	if err := cgroup.EndProcesses(podPatience); err != nil {
		return err
	}
	t := l.table()
	daemon, _ := t.Find("containerd")
	var errs []error
	for _, id := range t.Marked("containerd") {
		if id != daemon {
			errs = append(errs, proc.End(id, 2*time.Second))
		}
	}
	return errors.Join(errs...)
}

// endAll ends every process of the lab without regard to order: daemons first, so
// that none of them replaces a pod that has been ended.
func (l Lab) endAll() error {
	var errs []error
	for _, id := range l.table().Marked("") {
		errs = append(errs, proc.End(id, 0))
	}
	return errors.Join(append(errs, cgroup.EndProcesses(podPatience))...)
}

func (l Lab) clean() error {
	errs := []error{
		// Shims of pods that ended while containerd was being stopped.
		l.endPods(),
		host.Unmount(l.Dir),
		l.bridge().Remove(),
		host.RemoveChains(),
		cgroup.Remove(),
	}
	return errors.Join(errs...)
}

// removeFiles removes everything that describes this cluster. The caches stay
// unless they are to go too.
func (l Lab) removeFiles(purge bool) error {
	var errs []error
	journal, err := host.ReadJournal(l.Data("host.json"))
	switch {
	case err == nil:
		errs = append(errs, journal.Restore(l.Dir))
	case !errors.Is(err, os.ErrNotExist):
		errs = append(errs, err)
	}
	gone := []string{l.Run(), l.Data(), l.Conf(), l.PKI(""), l.Volumes(), l.Kubeconfig()}
	if purge {
		gone = append(gone, l.Bin(""), l.Images(), l.Rootfs(""), l.Log(""))
	}
	return errors.Join(append(errs, host.Remove(gone...))...)
}

// EnsureImages assembles and imports images into a lab that is up.
func (l Lab) EnsureImages(only []string) error {
	if _, running := l.table().Find("containerd"); !running {
		return errors.New("the lab is not up: run make lab-up first")
	}
	return image.EnsureAll(l.Layout, only, l.store())
}
