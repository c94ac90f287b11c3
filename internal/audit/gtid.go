package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// countGTIDs returns how many transactions a GTID set of MySQL holds. The text is a list of sources separated by commas,
// each "uuid:interval..." or "uuid:interval...:tag:interval...", an interval being "5" or "5-7"; white space may stand
// around commas. A set that names a transaction twice is refused: servers never print one.
func countGTIDs(set string) (int64, error) {
	total := int64(0)
	ends := map[string]int64{} // last transaction seen, by source and tag
	for source := range strings.SplitSeq(set, ",") {
		source = strings.TrimSpace(source)
		if source == "" && strings.TrimSpace(set) == "" {
			return 0, nil
		}
		n, err := countSource(source, ends)
		if err != nil {
			return 0, fmt.Errorf("GTID set, source %q: %w", source, err)
		}
		total += n
	}
	return total, nil
}

func countSource(source string, ends map[string]int64) (int64, error) {
	parts := strings.Split(source, ":")
	if len(parts) < 2 || len(parts[0]) != len("00000000-0000-0000-0000-000000000000") {
		return 0, fmt.Errorf("no UUID with transactions")
	}
	total := int64(0)
	key := strings.ToLower(parts[0])
	for _, part := range parts[1:] {
		if isTag(part) {
			key = strings.ToLower(parts[0]) + ":" + part
			continue
		}
		first, last, err := interval(part)
		if err != nil {
			return 0, err
		}
		if first <= ends[key] {
			return 0, fmt.Errorf("interval %q does not follow the one before", part)
		}
		ends[key] = last
		total += last - first + 1
	}
	return total, nil
}

// isTag tells a tag from an interval: a tag never begins with a digit.
func isTag(part string) bool {
	return part != "" && (part[0] == '_' || part[0] >= 'a' && part[0] <= 'z')
}

func interval(part string) (first, last int64, err error) {
	from, to, ranged := strings.Cut(part, "-")
	if !ranged {
		to = from
	}
	first, err = strconv.ParseInt(from, 10, 64)
	if err == nil {
		last, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil || first < 1 || last < first {
		return 0, 0, fmt.Errorf("%q is no interval of transactions", part)
	}
	return first, last, nil
}
