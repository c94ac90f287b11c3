// Package preflight checks the machine and installs missing Debian packages.
package preflight

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// imagePackages are what assembling images needs.
var imagePackages = []string{"mmdebstrap"}

// enginePackages are what an engine of our own needs. nft shows which tables of rules are empty.
var enginePackages = []string{"docker.io", "iptables", "nftables"}

// needed is the free space that a cold start takes, caches included.
const needed = 12 << 30

// warm is the free space that a start with caches takes.
const warm = 2 << 30

// Root refuses everybody who may not change the machine.
func Root() error {
	if runtime.GOOS != "linux" {
		return errors.New("this needs Linux")
	}
	if os.Geteuid() != 0 {
		return errors.New("this needs root, for mounts and cgroups: run it with sudo")
	}
	return nil
}

// Kubectl makes sure that what the Makefile applies things with is there: on the
// PATH, or compiled with the other binaries.
func Kubectl(l layout.Layout) error {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return nil
	}
	if _, err := os.Stat(l.Bin("kubectl")); err == nil {
		return nil
	}
	return errors.New("kubectl is missing: install it, or compile it with make local-bin")
}

// Engine makes sure that a Docker engine can be started here.
func Engine(l layout.Layout) error {
	if err := Root(); err != nil {
		return err
	}
	if err := space(l); err != nil {
		return err
	}
	missing, err := missingPackages(enginePackages)
	if err != nil {
		return err
	}
	// Debian's would take its place.
	if path, err := exec.LookPath("dockerd"); err == nil && slices.Contains(missing, "docker.io") {
		return fmt.Errorf("%s is installed and does not answer: start it, or set DOCKER_HOST", path)
	}
	if err := packages(enginePackages); err != nil {
		return err
	}
	if _, err := os.Stat("/usr/bin/docker"); err == nil {
		return nil
	}
	return packages([]string{"docker-cli"}) // newer releases have it apart
}

// Images makes sure that images can be assembled here and imported.
func Images() error {
	if err := Root(); err != nil {
		return err
	}
	return packages(imagePackages)
}

// Rootfs makes sure that root file systems can be assembled here, which needs no
// root where users may have namespaces of their own.
func Rootfs() error {
	if runtime.GOOS != "linux" {
		return errors.New("root file systems of Debian packages need Linux")
	}
	return packages(imagePackages)
}

func space(l layout.Layout) error {
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the cluster: %w", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(l.Dir, &fs); err != nil {
		return fmt.Errorf("look for space in %s: %w", l.Dir, err)
	}
	want := uint64(needed)
	for _, cached := range []string{l.Images("mysql"), l.Engine("data")} {
		if _, err := os.Stat(cached); err == nil {
			want = warm
		}
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < want {
		return fmt.Errorf("%s has %.1f GiB free and the cluster needs %.0f: make space, or set LOCAL_DIR to a folder on another disk",
			l.Dir, float64(free)/(1<<30), float64(want)/(1<<30))
	}
	return nil
}

// installing lets one caller at a time install: the lock of dpkg refuses a second.
var installing sync.Mutex

func packages(wanted []string) error {
	installing.Lock()
	defer installing.Unlock()
	missing, err := missingPackages(wanted)
	if err != nil || len(missing) == 0 {
		return err
	}
	list := strings.Join(missing, " ")
	var refused error
	err = say.Step("install Debian packages: "+list, func() error {
		refused = install(missing)
		return refused
	})
	if err != nil {
		return fmt.Errorf("the Debian packages %s are missing and could not be installed: %w", list, refused)
	}
	return nil
}

func missingPackages(wanted []string) ([]string, error) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return nil, errors.New("dpkg-query is missing: use Debian, or start a Docker engine")
	}
	// It fails when it does not know one of them, and still lists the others.
	out, _ := exec.Command("dpkg-query", append([]string{"-W", "-f=${Package} ${db:Status-Status}\n"}, wanted...)...).Output()
	return missingFrom(wanted, string(out)), nil
}

// missingFrom reads dpkg-query's answer: a package can be known and not installed.
func missingFrom(wanted []string, answer string) []string {
	installed := strings.Split(answer, "\n")
	var missing []string
	for _, name := range wanted {
		if !slices.Contains(installed, name+" installed") {
			missing = append(missing, name)
		}
	}
	return missing
}

// install forbids services meanwhile. An interrupt ends this process once apt-get has
// ended and services are allowed again; a second one ends it at once.
func install(names []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	allow, err := forbidServices()
	if err != nil {
		return err
	}
	err = errors.Join(installQuietly(ctx, names), allow())
	if ctx.Err() != nil {
		os.Exit(130) // as shells say of an interrupt: other lanes would go on
	}
	return err
}

// PolicyFile says whether packages may start their services; tests have another.
var PolicyFile = "/usr/sbin/policy-rc.d"

const policy = "#!/bin/sh\n# replab: packages start no services while they are installed\nexit 101\n"

// forbidServices keeps packages from starting their services, until the returned
// function is called. A policy that the machine has stays, but for one of ours that
// was left behind.
func forbidServices() (allow func() error, err error) {
	if err := AllowServices(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(PolicyFile); err == nil {
		return func() error { return nil }, nil
	}
	return AllowServices, os.WriteFile(PolicyFile, []byte(policy), 0o755)
}

// AllowServices removes the policy of an installation that was killed. Another
// policy stays.
func AllowServices() error {
	text, err := os.ReadFile(PolicyFile)
	if errors.Is(err, os.ErrNotExist) || err == nil && string(text) != policy {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(PolicyFile)
}

// installQuietly tries with the package lists that are there and renews them only when
// that fails, since renewing takes longer than all the rest.
func installQuietly(ctx context.Context, names []string) error {
	// Other people's packages stay: Docker's own conflicts with Debian's.
	args := append([]string{"install", "--yes", "--no-remove", "--no-install-recommends"}, names...)
	if _, err := apt(ctx, args...); err == nil {
		return nil
	}
	if out, err := apt(ctx, "update"); err != nil {
		return errors.New(lastLine(out))
	}
	if out, err := apt(ctx, args...); err != nil {
		return errors.New(lastLine(out))
	}
	return nil
}

// apt interrupts apt-get with ctx, and waits until it has ended.
func apt(ctx context.Context, args ...string) ([]byte, error) {
	// The machine may be at its daily update.
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet", "--option=DPkg::Lock::Timeout=120"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGINT) }
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return cmd.CombinedOutput()
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
