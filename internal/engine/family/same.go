package family

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// flagLists are settings of several flags. What is written sets some of them, or a name for several; what is reported has all.
var flagLists = []string{"optimizer_switch", "optimizer_trace", "sql_mode"}

// Same implements engine.Inspector.
func (Inspector) Same(name, expected, actual string) bool {
	expected, actual = strings.ToLower(expected), strings.ToLower(actual)
	if expected == actual {
		return true
	}
	if slices.Contains(flagLists, name) {
		return hasFlags(expected, actual)
	}
	if a, ok := period(actual); ok {
		e, ok := period(expected)
		return ok && a == e
	}
	if a, ok := truth(actual); ok {
		e, ok := truth(expected)
		return ok && a == e
	}
	if a, ok := number(actual); ok {
		e, ok := number(expected)
		return ok && a == e
	}
	e, err := strconv.ParseFloat(expected, 64)
	if err != nil {
		return false
	}
	a, err := strconv.ParseFloat(actual, 64)
	return err == nil && a == e
}

func hasFlags(expected, actual string) bool {
	has := strings.Split(actual, ",")
	for flag := range strings.SplitSeq(expected, ",") {
		if flag = strings.TrimSpace(flag); flag != "" && !slices.Contains(has, flag) {
			return false
		}
	}
	return expected != ""
}

// truth reads a switch. A server reports ON or OFF, and takes more than that.
func truth(value string) (on, ok bool) {
	switch value {
	case "on", "1", "true", "yes":
		return true, true
	case "off", "0", "false", "no":
		return false, true
	}
	return false, false
}

var periods = regexp.MustCompile(`^p(?:([0-9]+)d)?(?:t(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9.]+)s)?)?$`)

// period reads a time as ISO 8601 writes it, up to days, such as pt1m0.5s.
func period(value string) (time.Duration, bool) {
	parts := periods.FindStringSubmatch(value)
	if parts == nil {
		return 0, false
	}
	var sum float64
	for i, seconds := range []float64{86400, 3600, 60, 1} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.ParseFloat(parts[i+1], 64)
		if err != nil {
			return 0, false
		}
		sum += n * seconds
	}
	return time.Duration(math.Round(sum * float64(time.Second))), true
}

// number reads an integer that may have one of the server's suffixes.
func number(value string) (int64, bool) {
	shift := 0
	if i := strings.IndexAny(value, "kmgtpe"); i == len(value)-1 && i > 0 {
		shift = 10 * (strings.Index("kmgtpe", value[i:]) + 1)
		value = value[:i]
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n > (1<<62)>>shift {
		return 0, false
	}
	return n << shift, true
}
