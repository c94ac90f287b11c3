package host

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"replab.dev/hack/local/internal/proc"
)

// dockerLink is a name that Docker gives to a bridge, or to the host's end of a pair whose other end is in a container.
var dockerLink = regexp.MustCompile(`^(docker0|br-[0-9a-f]{12}|veth[0-9a-f]{7})$`)

// savedRules are the rules of both families, as iptables-save prints them.
func savedRules() map[string]string {
	rules := map[string]string{}
	for _, family := range []string{"iptables", "ip6tables"} {
		// The kernel may have no such family.
		if out, err := exec.Command(family + "-save").Output(); err == nil {
			rules[family] = string(out)
		}
	}
	return rules
}

func links() ([]string, error) {
	all, err := netlink.LinkList()
	var names []string
	for _, l := range all {
		names = append(names, l.Attrs().Name)
	}
	return names, err
}

// RemoveDocker removes the links, chains and rules that a Docker engine made
// since the journal was opened. Those of one that was there before get back what
// they held then.
func (j Journal) RemoveDocker() error {
	// A restart of the machine has removed them: what is there is another engine's.
	if boot, err := proc.BootID(); err != nil || boot != j.Boot {
		return err
	}
	all, err := netlink.LinkList()
	if err != nil {
		return err
	}
	var ours []string
	var errs []error
	for _, l := range all {
		if name := l.Attrs().Name; dockerLink.MatchString(name) && !slices.Contains(j.Links, name) {
			ours = append(ours, name)
			errs = append(errs, remove(l))
		}
	}
	for family, now := range savedRules() {
		script := dockerRemoval(j.Rules[family], now, ours)
		if script == "" {
			continue
		}
		cmd := exec.Command(family+"-restore", "--noflush")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("remove Docker's chains with %s: %w: %s", family, err, bytes.TrimSpace(out)))
		}
	}
	return errors.Join(errs...)
}

// remove removes a link. One that is gone is well: an end of a pair goes with the
// network of a container that has ended, and the kernel takes that away in its own time.
func remove(link netlink.Link) error {
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("link %s: %w", link.Attrs().Name, err)
	}
	return nil
}

// dockerRemoval is the input of iptables-restore --noflush that takes Docker's
// part of the rules back to what it was before. It is empty if it is that already.
func dockerRemoval(before, now string, links []string) string {
	former := map[string]table{}
	for _, t := range parseTables(before) {
		former[t.name] = t
	}
	var script strings.Builder
	for _, t := range parseTables(now) {
		if changes := t.dockerChanges(former[t.name], links); changes != "" {
			fmt.Fprintf(&script, "*%s\n%sCOMMIT\n", t.name, changes)
		}
	}
	return script.String()
}

func (t table) dockerChanges(former table, links []string) string {
	own, had := t.dockerPart(links), former.dockerPart(nil)
	if slices.Equal(own.chains, had.chains) && slices.Equal(own.texts(), had.texts()) {
		return ""
	}
	var script strings.Builder
	chains := slices.Concat(own.chains, had.chains)
	slices.Sort(chains)
	for _, chain := range slices.Compact(chains) {
		// This empties the chain, or makes it.
		fmt.Fprintf(&script, ":%s - [0:0]\n", chain)
	}
	for _, r := range own.rules {
		if !isDocker(r.chain) && !slices.Contains(had.texts(), r.text) {
			fmt.Fprintf(&script, "-D %s\n", strings.TrimPrefix(r.text, "-A "))
		}
	}
	for _, r := range had.rules {
		if isDocker(r.chain) || !slices.Contains(own.texts(), r.text) {
			fmt.Fprintf(&script, "%s\n", r.text)
		}
	}
	for _, chain := range own.chains {
		if !slices.Contains(had.chains, chain) {
			fmt.Fprintf(&script, "-X %s\n", chain)
		}
	}
	return script.String()
}

// dockerPart is what of the table is Docker's: its chains, and rules that are in
// them, lead into them, name one of the links, or are for a published port.
func (t table) dockerPart(links []string) table {
	part := table{name: t.name}
	for _, chain := range t.chains {
		if isDocker(chain) {
			part.chains = append(part.chains, chain)
		}
	}
	for _, r := range t.rules {
		names := strings.Fields(r.text)
		if isDocker(r.chain) || isDocker(r.target()) || r.isPublished() || slices.ContainsFunc(links, func(l string) bool { return slices.Contains(names, l) }) {
			part.rules = append(part.rules, r)
		}
	}
	return part
}

// isPublished tells whether the rule is the one that Docker makes for a container
// that reaches itself through a published port. It names no bridge.
func (r rule) isPublished() bool {
	fields := strings.Fields(r.text)
	return len(fields) > 5 && r.chain == "POSTROUTING" && r.target() == "MASQUERADE" &&
		fields[2] == "-s" && fields[4] == "-d" && fields[3] == fields[5] && strings.HasSuffix(fields[3], "/32")
}

func (t table) texts() []string {
	var all []string
	for _, r := range t.rules {
		all = append(all, r.text)
	}
	return all
}

func isDocker(chain string) bool { return strings.HasPrefix(chain, "DOCKER") }
