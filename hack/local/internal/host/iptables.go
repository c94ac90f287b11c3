package host

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
)

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
