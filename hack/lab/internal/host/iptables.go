package host

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// ownPrefixes begin the names of the chains that the lab's components make. The
// network of the lab makes no CNI- chains (it does not masquerade), so chains of
// that name belong to somebody else unless they name our network.
var ownPrefixes = []string{"KUBE-"}

// network is the name of the lab's CNI network, as the plugins' comments have it.
const network = `name: \"replab\"`

// RemoveChains removes the chains that the lab's components made, and the rules
// that lead into them, for both families.
func RemoveChains() error {
	var errs []error
	for _, family := range []string{"iptables", "ip6tables"} {
		save, err := exec.Command(family + "-save").Output()
		if err != nil {
			continue // the kernel has no such family
		}
		script := removal(string(save))
		if script == "" {
			continue
		}
		cmd := exec.Command(family+"-restore", "--noflush")
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("remove chains with %s: %w: %s", family, err, bytes.TrimSpace(out)))
		}
	}
	return errors.Join(errs...)
}

// removal turns the output of iptables-save into the input of iptables-restore
// --noflush that removes our chains and nothing else. It is empty when there are
// none.
func removal(save string) string {
	var script strings.Builder
	for _, t := range parseTables(save) {
		own := t.ownChains()
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(&script, "*%s\n", t.name)
		for _, chain := range own {
			// Naming a chain with --noflush empties it, or makes it.
			fmt.Fprintf(&script, ":%s - [0:0]\n", chain)
		}
		for _, rule := range t.rules {
			if !slices.Contains(own, rule.chain) && slices.Contains(own, rule.target()) {
				fmt.Fprintf(&script, "-D %s\n", strings.TrimPrefix(rule.text, "-A "))
			}
		}
		for _, chain := range own {
			fmt.Fprintf(&script, "-X %s\n", chain)
		}
		script.WriteString("COMMIT\n")
	}
	return script.String()
}

type table struct {
	name   string
	chains []string
	rules  []rule
}

type rule struct {
	chain string
	text  string
}

func parseTables(save string) []table {
	var all []table
	for line := range strings.SplitSeq(save, "\n") {
		switch {
		case strings.HasPrefix(line, "*"):
			all = append(all, table{name: line[1:]})
		case len(all) == 0:
		case strings.HasPrefix(line, ":"):
			t := &all[len(all)-1]
			name, _, _ := strings.Cut(line[1:], " ")
			t.chains = append(t.chains, name)
		case strings.HasPrefix(line, "-A "):
			t := &all[len(all)-1]
			chain, _, _ := strings.Cut(line[3:], " ")
			t.rules = append(t.rules, rule{chain: chain, text: line})
		}
	}
	return all
}

func (t table) ownChains() []string {
	var own []string
	for _, chain := range t.chains {
		if hasOwnPrefix(chain) || strings.HasPrefix(chain, "CNI-") && t.mentionsNetwork(chain) {
			own = append(own, chain)
		}
	}
	return own
}

func hasOwnPrefix(chain string) bool {
	return slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(chain, p) })
}

// mentionsNetwork says whether rules in or into the chain name our network.
func (t table) mentionsNetwork(chain string) bool {
	return slices.ContainsFunc(t.rules, func(r rule) bool {
		return (r.chain == chain || r.target() == chain) && strings.Contains(r.text, network)
	})
}

// target is the chain that the rule jumps or goes to. Comments come before it,
// so the last mention counts.
func (r rule) target() string {
	fields := strings.Fields(r.text)
	for i := len(fields) - 2; i > 0; i-- {
		if fields[i] == "-j" || fields[i] == "-g" {
			return fields[i+1]
		}
	}
	return ""
}

// tables lists the netfilter tables of the two families that iptables uses.
func tables() []string {
	out, err := exec.Command("nft", "list", "tables").Output()
	if err != nil {
		return nil
	}
	found := []string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "table ")
		if ok && (strings.HasPrefix(name, "ip ") || strings.HasPrefix(name, "ip6 ")) {
			found = append(found, name)
		}
	}
	return found
}

// removeTables removes the tables that iptables left empty, unless they were
// there before.
func removeTables(before []string) error {
	var errs []error
	for _, t := range tables() {
		if slices.Contains(before, t) {
			continue
		}
		family, name, _ := strings.Cut(t, " ")
		out, err := exec.Command("nft", "list", "table", family, name).Output()
		if err != nil || !emptyTable(string(out)) {
			continue
		}
		errs = append(errs, exec.Command("nft", "delete", "table", family, name).Run())
	}
	return errors.Join(errs...)
}

// emptyTable says whether a table, as nft lists it, has no rule and lets all
// pass: only then does its removal change nothing.
func emptyTable(listing string) bool {
	for line := range strings.SplitSeq(listing, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "", line == "}",
			strings.HasPrefix(line, "#"),
			strings.HasPrefix(line, "table "),
			strings.HasPrefix(line, "chain "),
			strings.HasPrefix(line, "type ") && strings.HasSuffix(line, "policy accept;"):
		default:
			return false
		}
	}
	return true
}
