// Package gtid is the algebra of MySQL's GTID sets, tags included. It holds no IO, so that decisions on sets can be
// pure; a test compares it with a server's own GTID_SUBSET and GTID_SUBTRACT.
package gtid

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
)

// Set is a GTID set: the transactions of each origin. The zero value is empty and may be read. A Set is never changed
// after it was made.
type Set struct {
	origins map[origin][]Interval
}

// origin is a server's UUID with a tag; both in lower case, as servers compare them. Most transactions have no tag.
type origin struct{ uuid, tag string }

// Interval holds the transaction numbers First to Last, both included. Those of an origin are in order and apart.
type Interval struct{ First, Last int64 }

// Only returns the untagged transactions of a server, in order and apart, and whether the set has no others.
func (s Set) Only(uuid string) (intervals []Interval, only bool) {
	intervals = s.origins[origin{uuid: strings.ToLower(uuid)}]
	return intervals, len(s.origins) == min(len(intervals), 1)
}

// From returns the transactions of one server, tagged or not.
func (s Set) From(uuid string) Set {
	own := Set{origins: map[origin][]Interval{}}
	for o, list := range s.origins {
		if o.uuid == strings.ToLower(uuid) {
			own.origins[o] = list
		}
	}
	return own
}

// Parse reads the text form, such as @@gtid_executed: "uuid:1-5:7:tag:1-3,\nuuid:1". An empty text is the empty set. What a
// server never prints is refused: read otherwise than it was meant, it would be counted wrong.
func Parse(text string) (Set, error) {
	s := Set{origins: map[origin][]Interval{}}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if err := s.parseEntry(entry); err != nil {
			return Set{}, fmt.Errorf("GTID set entry %q: %w", entry, err)
		}
	}
	for o, list := range s.origins {
		s.origins[o] = merge(list)
	}
	return s, nil
}

// parseEntry reads "uuid:part:part...": a part that begins with a letter or _ is a tag, which holds for the intervals
// after it; any other one is an interval.
func (s Set) parseEntry(entry string) error {
	parts := strings.Split(entry, ":")
	o := origin{uuid: strings.TrimSpace(parts[0])}
	if len(o.uuid) != 36 {
		return fmt.Errorf("%q is no server UUID", parts[0])
	}
	if len(parts) == 1 {
		return fmt.Errorf("no transactions after the UUID")
	}
	open := false // whether a tag waits for its intervals
	for _, part := range parts[1:] {
		part = strings.TrimSpace(part)
		if part == "" {
			return fmt.Errorf("an empty part between colons")
		}
		if part[0] == '_' || part[0] >= 'a' && part[0] <= 'z' {
			o.tag, open = part, true
			continue
		}
		i, err := parseInterval(part)
		if err != nil {
			return err
		}
		s.origins[o], open = append(s.origins[o], i), false
	}
	if open {
		return fmt.Errorf("no transactions after the tag %q", o.tag)
	}
	return nil
}

func parseInterval(text string) (Interval, error) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	first, err := strconv.ParseInt(strings.TrimSpace(low), 10, 64)
	if err != nil {
		return Interval{}, fmt.Errorf("interval %q: %w", text, err)
	}
	last, err := strconv.ParseInt(strings.TrimSpace(high), 10, 64)
	if err != nil {
		return Interval{}, fmt.Errorf("interval %q: %w", text, err)
	}
	if first < 1 || last < first {
		return Interval{}, fmt.Errorf("interval %q: its bounds must be positive and in order", text)
	}
	return Interval{first, last}, nil
}

// merge sorts intervals and joins those that touch or overlap.
func merge(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Compare(a.First, b.First) })
	merged := list[:0]
	for _, i := range list {
		if n := len(merged); n > 0 && i.First <= merged[n-1].Last+1 {
			merged[n-1].Last = max(merged[n-1].Last, i.Last)
			continue
		}
		merged = append(merged, i)
	}
	return merged
}

// Union returns the transactions that are in s or in other.
func (s Set) Union(other Set) Set {
	u := Set{origins: map[origin][]Interval{}}
	for _, set := range []Set{s, other} {
		for o, list := range set.origins {
			u.origins[o] = append(u.origins[o], list...)
		}
	}
	for o, list := range u.origins {
		u.origins[o] = merge(list)
	}
	return u
}

// Minus returns the transactions that are in s and not in other, as GTID_SUBTRACT(s, other) does.
func (s Set) Minus(other Set) Set {
	m := Set{origins: map[origin][]Interval{}}
	for o, list := range s.origins {
		if rest := subtract(list, other.origins[o]); len(rest) > 0 {
			m.origins[o] = rest
		}
	}
	return m
}

// subtract takes the intervals of b out of those of a; both in order and apart.
func subtract(a, b []Interval) []Interval {
	var rest []Interval
	for _, i := range a {
		for _, cut := range b {
			if cut.Last < i.First || cut.First > i.Last {
				continue
			}
			if cut.First > i.First {
				rest = append(rest, Interval{i.First, cut.First - 1})
			}
			i.First = cut.Last + 1
		}
		if i.First <= i.Last {
			rest = append(rest, i)
		}
	}
	return rest
}

// Beyond implements engine.Transactions.
func (s Set) Beyond(other engine.Transactions) int64 {
	o, _ := other.(Set) // nil is the empty set
	return s.Minus(o).Count()
}

// Contains reports whether every transaction of other is in s, as GTID_SUBSET(other, s) does.
func (s Set) Contains(other Set) bool { return len(other.Minus(s).origins) == 0 }

// Count returns how many transactions are in the set.
func (s Set) Count() int64 {
	var n int64
	for _, list := range s.origins {
		for _, i := range list {
			n += i.Last - i.First + 1
		}
	}
	return n
}

// String returns the text form with the origins in order, one entry per origin. Parse and servers read it.
func (s Set) String() string {
	keys := slices.SortedFunc(maps.Keys(s.origins), func(a, b origin) int {
		return cmp.Or(strings.Compare(a.uuid, b.uuid), strings.Compare(a.tag, b.tag))
	})
	entries := make([]string, 0, len(keys))
	for _, o := range keys {
		parts := []string{o.uuid}
		if o.tag != "" {
			parts = append(parts, o.tag)
		}
		for _, i := range s.origins[o] {
			if i.First == i.Last {
				parts = append(parts, strconv.FormatInt(i.First, 10))
				continue
			}
			parts = append(parts, fmt.Sprintf("%d-%d", i.First, i.Last))
		}
		entries = append(entries, strings.Join(parts, ":"))
	}
	return strings.Join(entries, ",")
}
