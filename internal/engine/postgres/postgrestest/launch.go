package postgrestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"replab.dev/test/unit"
)

// user is whom programs of an unpacked image run as: neither the servers nor the program that makes their data directories run as root.
const user = 1001

// enter makes the unpacked image $1 a program's root, with the machine's processes, devices and temporary folders, and with a list of users
// that has user $2: PostgreSQL's programs want to know their user's name. It becomes the program, so that the process that was started is
// the program's, and goes when the one that started it goes. What is mounted here nobody else sees. Shared memory is the program's own, since a
// server that is killed leaves some; the tests' temporary folder may lie there. The folder SERVICE_ACCOUNT, if there is one, lies where a pod has
// its token.
const enter = `root=$1 user=$2; shift 2
for d in proc dev tmp; do mount --rbind /$d "$root/$d" || exit; done
mount -t tmpfs tmpfs "$root/dev/shm" &&
case $TESTS_DIR in /dev/shm/*) mkdir -p "$root$TESTS_DIR" && mount --bind "$TESTS_DIR" "$root$TESTS_DIR" || exit;; esac
mount -t tmpfs tmpfs "$root/run" &&
{ cat "$root/etc/passwd"; echo "replab:x:$user:$user::/tmp:/bin/sh"; } >"$root/run/passwd" &&
mount --bind "$root/run/passwd" "$root/etc/passwd" &&
if [ -n "$SERVICE_ACCOUNT" ]; then
  mkdir -p "$root/run/secrets/kubernetes.io/serviceaccount" && mount --bind "$SERVICE_ACCOUNT" "$root/run/secrets/kubernetes.io/serviceaccount"
fi &&
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups --pdeathsig=KILL -- "$@"`

// binaries is where an image has the servers' programs.
const binaries = "/usr/lib/postgresql/17/bin"

// Need skips a test that has no server to run, unless REPLAB_REQUIRE_POSTGRES is set, as `make test` does: then it fails. Start does the
// same; this is for those that start servers in goroutines, which may do neither.
func Need(t testing.TB) {
	t.Helper()
	unit.Leave(t)
	if root() != "" || installed() != "" {
		return
	}
	const message = "no PostgreSQL server here: run `make local-rootfs` and the tests as root, or be somebody else with postgres in PATH"
	if os.Getenv("REPLAB_REQUIRE_POSTGRES") != "" {
		t.Fatal(message)
	}
	t.Skip(message)
}

// Command is how to run a program of the servers' image, such as psql or pg_waldump, as the servers' user. Of the machine's files it sees
// those below /tmp alone, and those of a temporary folder in /dev/shm.
func Command(t testing.TB, program string, args ...string) *exec.Cmd {
	t.Helper()
	Need(t)
	argv := append([]string{filepath.Join(installed(), program)}, args...)
	if root := root(); root != "" {
		argv = append([]string{"unshare", "--mount", "sh", "-c", enter, "sh", root, strconv.Itoa(user), program}, args...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + binaries + ":" + os.Getenv("PATH") + ":/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8", "TESTS_DIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Image tells whether Command runs programs of an image, which alone has Patroni and finds a pod's token in its place.
func Image() bool { return root() != "" }

// Dir makes a folder that Command's programs may write to, and that goes with the test. Its path is short, for sockets.
func Dir(t testing.TB) string {
	t.Helper()
	parent := "/tmp"
	if memory := os.TempDir(); strings.HasPrefix(memory, "/dev/shm/") && len(memory) < 40 {
		parent = memory
	}
	dir, err := os.MkdirTemp(parent, "pg")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	Own(t, dir)
	return dir
}

// Own gives a file to whom Command's programs run as.
func Own(t testing.TB, path string) {
	t.Helper()
	if root() != "" {
		must(t, os.Chown(path, user, user))
	}
}

// root is the unpacked image: what REPLAB_POSTGRES_ROOTFS says, else .local/rootfs/patroni of this checkout; "" when there is none, or for
// those who may not make it a program's root.
var root = sync.OnceValue(func() string {
	if os.Geteuid() != 0 {
		return ""
	}
	_, file, _, _ := runtime.Caller(0)
	checkout := filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
	for _, root := range []string{os.Getenv("REPLAB_POSTGRES_ROOTFS"), filepath.Join(checkout, ".local", "rootfs", "patroni")} {
		if _, err := os.Stat(filepath.Join(root, binaries, "postgres")); root != "" && err == nil {
			return root
		}
	}
	return ""
})

// installed is the folder of the machine's own programs, "" where there are none or root would have to run them.
var installed = sync.OnceValue(func() string {
	path, err := exec.LookPath("postgres")
	if err != nil || os.Geteuid() == 0 {
		return ""
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return filepath.Dir(path)
})
