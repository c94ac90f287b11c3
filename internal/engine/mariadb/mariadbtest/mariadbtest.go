// Package mariadbtest starts real MariaDB servers for tests: see familytest.
package mariadbtest

import (
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/wire"
	"replab.dev/test/freeport"
	"replab.dev/test/unit"
)

// Flavor is MariaDB as tests run it.
var Flavor = familytest.Flavor{
	Engine:      "MariaDB",
	Roles:       mariadb.Server{},
	OpenAdmin:   mariadb.OpenAdmin,
	NewStore:    mariadb.NewStore,
	NewLoader:   mariadb.NewLoader,
	NewCounters: mariadb.NewCounters,
	Binary:      binary,
	Parameters:  map[string]string{"innodb-log-file-size": "33554432", "innodb-buffer-pool-size": "67108864"},
	OpenSQL:     "SET GLOBAL read_only=OFF",
	CloseSQL:    "SET GLOBAL read_only=ON",
	ClosedSQL:   "SELECT @@GLOBAL.read_only",
	AwaitSQL:    "SET GLOBAL rpl_semi_sync_master_enabled=ON",
	AwaitsSQL:   "SELECT @@GLOBAL.rpl_semi_sync_master_enabled",
	ReceiverSQL: "SELECT Slave_IO_Running FROM information_schema.SLAVE_STATUS",
	SourceSQL:   "SELECT COUNT(*) FROM information_schema.SLAVE_STATUS",
	ReplicateSQL: func(port int) string {
		return fmt.Sprintf(`CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='%s', MASTER_PASSWORD='%s',
MASTER_USE_GTID=slave_pos, MASTER_SSL=0, MASTER_CONNECT_RETRY=1; START SLAVE`, port, wire.AccountReplication, familytest.Password)
	},
	ExecutedSQL: "SELECT @@GLOBAL.gtid_binlog_pos",
	CatchUpSQL:  "SELECT MASTER_GTID_WAIT(?, 50)",
	LockWaitSQL: "SELECT COUNT(*) FROM information_schema.INNODB_LOCK_WAITS",
	// It counts from the beginning of the second of the commit, by a difference of clocks that may be off by a second.
	DelaySQL: "STOP REPLICA; CHANGE MASTER TO MASTER_DELAY=3; START REPLICA IO_THREAD",

	FlushTogether: []familytest.Option{
		familytest.Parameter("binlog_commit_wait_count", "16"), familytest.Parameter("binlog_commit_wait_usec", "5000"),
	},
	EachWaits:    true,
	AlwaysCounts: true,
	MemberLines:  memberLines,
}

// memberLines put the library where the image is unpacked, all that a member listens at to an address of its own, and leave it a small
// cache of what others may have missed.
func memberLines(t testing.TB, address, config string) []string {
	const options = "wsrep-provider-options="
	// The program that receives a transfer listens at every address, so its port must be its own.
	_, port, err := net.SplitHostPort(freeport.Address(t))
	check(err)
	lines := []string{"wsrep-sst-receive-address=" + net.JoinHostPort(address, port)}
	if root := familytest.Rootfs("REPLAB_MARIADB_ROOTFS", "mariadb"); root != "" {
		lines = append(lines, "wsrep-provider="+root+"/usr/lib/galera/libgalera_smm.so")
	}
	for line := range strings.Lines(config) {
		if own, found := strings.CutPrefix(strings.TrimSpace(line), options); found {
			return append(lines, options+own+";gmcast.listen_addr=tcp://"+address+":4567;ist.recv_addr="+address+":4568;gcache.size=16M")
		}
	}
	t.Fatal("the members' configuration has no options of the library")
	return nil
}

// StartGroup starts servers as members of a group: see familytest.
func StartGroup(t testing.TB, name string, count int, opts ...familytest.Option) []*familytest.Member {
	t.Helper()
	return Flavor.StartGroup(t, name, count, opts...)
}

// Start makes and starts a server and waits until it answers.
func Start(t testing.TB, name string, opts ...familytest.Option) *familytest.Server {
	t.Helper()
	return Flavor.Start(t, name, opts...)
}

// Read has a server read its configuration file and end. The error says what it does not take.
func Read(t testing.TB, config string) error {
	t.Helper()
	argv, arguments := binary(t)
	file := filepath.Join(t.TempDir(), "read.cnf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(argv[1:], []string{"--defaults-file=" + file}, arguments, []string{"--user=nobody", "--help", "--verbose"})
	output, err := exec.CommandContext(t.Context(), argv[0], all...).CombinedOutput() //nolint:gosec // the tests' own server
	if err != nil {
		wrong := slices.DeleteFunc(strings.Split(string(output), "\n"), func(line string) bool { return !strings.Contains(line, "ERROR") })
		return fmt.Errorf("%w: %s", err, strings.Join(wrong, "; "))
	}
	return nil
}

// binary runs the server of REPLAB_MARIADB_ROOTFS, else that of .local/rootfs/mariadb, else that of PATH. The programs that the
// server's own scripts and the start wrapper run are then found in PATH.
func binary(t testing.TB) (argv, arguments []string) {
	t.Helper()
	unit.Leave(t)
	if root := familytest.Rootfs("REPLAB_MARIADB_ROOTFS", "mariadb"); root != "" {
		base := linkedOnce(root)
		share := filepath.Join(base, "share", filepath.Base(filepath.Dir(only(t, root+"/usr/share/*/errmsg-utf8.txt", root+"/usr/share/*/fill_help_tables.sql"))))
		return familytest.Linked(root, "usr/sbin/mariadbd"), []string{
			"--basedir=" + base, "--plugin-dir=" + root + "/usr/lib/mysql/plugin",
			"--lc-messages-dir=" + share, "--character-sets-dir=" + filepath.Join(share, "charsets"),
			"--ssl-cert=" + filepath.Join(base, certificateFile), "--ssl-key=" + filepath.Join(base, keyFile),
		}
	}
	if path, err := exec.LookPath("mariadbd"); err == nil {
		return []string{path}, nil
	}
	familytest.Missing(t, "no MariaDB server here: run `make local-rootfs`, or install mariadbd")
	return nil, nil
}

// only is the first file that a pattern finds.
func only(t testing.TB, patterns ...string) string {
	t.Helper()
	for _, p := range patterns {
		if found, _ := filepath.Glob(p); len(found) > 0 {
			return found[0]
		}
	}
	t.Fatalf("the unpacked image has none of %q", patterns)
	return ""
}

var linkedOnce = func() func(root string) string {
	var once sync.Once
	var base string
	return func(root string) string {
		once.Do(func() { base = linkPrograms(root) })
		return base
	}
}()

// programs that are run by their names, and where an image has them.
var programs = map[string]string{
	"bin/my_print_defaults": "usr/bin/my_print_defaults", "bin/resolveip": "usr/bin/resolveip", "sbin/mariadbd": "usr/sbin/mariadbd",
	"bin/mariadb-backup": "usr/bin/mariadb-backup", "bin/mbstream": "usr/bin/mbstream", "bin/socat": "usr/bin/socat",
	"bin/mariadb": "usr/bin/mariadb",
}

// transferScripts look for programs where they themselves are.
var transferScripts = []string{"wsrep_sst_mariabackup", "wsrep_sst_common"}

// tellsOfSELinux is a program that says it is there: the transfer scripts then ask the kernel who listens. Else they look for socat by its
// process's name, which here is the linker's, and wait for half a minute.
const tellsOfSELinux = "selinuxenabled"

// linkPrograms makes a folder like /usr whose programs run those of an unpacked image by its own dynamic linker, puts it first in
// PATH and returns it.
func linkPrograms(root string) string {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("replab-mariadb-%x", sha256.Sum256([]byte(root+fmt.Sprint(programs, transferScripts, tellsOfSELinux, certificateFile))))[:40])
	if _, err := os.Stat(base); err != nil { // one for all processes: the first to be done puts its own there
		made := makePrograms(root)
		if os.Rename(made, base) != nil {
			check(os.RemoveAll(made))
		}
	}
	check(os.Setenv("PATH", base+"/bin:"+base+"/sbin:"+os.Getenv("PATH")))
	return base
}

func makePrograms(root string) string {
	base, err := os.MkdirTemp("", "replab-mariadb")
	check(err)
	check(os.Chmod(base, 0o755))
	for _, dir := range []string{"bin", "sbin"} {
		check(os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	check(os.Symlink(root+"/usr/share", base+"/share"))
	check(os.Symlink(root+"/usr/lib", base+"/lib"))
	for path, program := range programs {
		script := "#!/bin/sh\nexec " + strings.Join(familytest.Linked(root, program), " ") + ` "$@"` + "\n"
		check(os.WriteFile(filepath.Join(base, path), []byte(script), 0o755))
	}
	check(os.WriteFile(base+"/bin/"+tellsOfSELinux, []byte("#!/bin/sh\n"), 0o755))
	check(os.WriteFile(base+"/bin/mariadb-install-db", []byte("#!/bin/sh\nexec sh "+root+`/usr/bin/mariadb-install-db "$@"`+"\n"), 0o755))
	for _, script := range transferScripts {
		text, err := os.ReadFile(root + "/usr/bin/" + script)
		check(err)
		check(os.WriteFile(base+"/bin/"+script, text, 0o755))
	}
	writeCertificate(base)
	return base
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
