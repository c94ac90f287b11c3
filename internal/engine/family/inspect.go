package family

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
)

// Inspector implements engine.Inspector. It connects for each question and goes: it is asked a few times a run.
type Inspector struct {
	Password  string
	Variables string // the table of the global variables
	Identity  string // the variable that no other server has alike
	// Group is the variable that tells members of a group, by another value than OFF and none. These are known by their nodes' names: their
	// servers may have one identity, or get another one with the others' data.
	Group string
	// Options is a variable that has settings within it, as "name = value; name = value"; "" for none. Such a setting is asked for by
	// the variable's name, a point and its own.
	Options string
}

// groupIdentity is the variable that no two members of a group have alike.
const groupIdentity = "wsrep_node_name"

// Inspect implements engine.Inspector. host may name a port.
func (i Inspector) Inspect(ctx context.Context, host string, names []string) (engine.Inspection, error) {
	db, err := probe(host, i.Password).Pool(1, func(*driver.Config) {})
	if err != nil {
		return engine.Inspection{}, err
	}
	defer db.Close()
	all := slices.Concat([]string{i.Identity, i.Group, groupIdentity, "version", "version_comment"}, names)
	values := make([]any, len(all))
	for i, name := range all {
		values[i] = name
	}
	statement := "SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM " + i.Variables + " WHERE VARIABLE_NAME IN (?" +
		strings.Repeat(", ?", len(all)-1) + ")"
	rows, err := db.QueryContext(ctx, statement, values...)
	if err != nil {
		return engine.Inspection{}, fmt.Errorf("read the server's settings: %w", err)
	}
	defer rows.Close()
	read := map[string]string{}
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return engine.Inspection{}, fmt.Errorf("read the server's settings: %w", err)
		}
		read[name] = value.String
	}
	if err := rows.Err(); err != nil {
		return engine.Inspection{}, fmt.Errorf("read the server's settings: %w", err)
	}
	found := engine.Inspection{
		Version: fmt.Sprintf("%s (%s)", read["version"], read["version_comment"]), Identity: read[i.Identity], Settings: map[string]string{},
	}
	if !slices.Contains([]string{"", "OFF", "none"}, read[i.Group]) {
		found.Identity = read[groupIdentity]
	}
	for _, name := range names {
		if value, ok := read[name]; ok {
			found.Settings[name] = value
		}
	}
	return found, i.readOptions(ctx, db, names, found.Settings)
}

// readOptions adds those of the names that are settings within the variable Options. The table of the variables may cut its value off.
func (i Inspector) readOptions(ctx context.Context, db *sql.DB, names []string, into map[string]string) error {
	prefix := i.Options + "."
	if i.Options == "" || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
		return nil
	}
	var text sql.NullString
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL."+i.Options).Scan(&text); err != nil {
		return fmt.Errorf("read the server's settings: %w", err)
	}
	all := options(text.String)
	for _, name := range names {
		if value, ok := all[strings.TrimPrefix(name, prefix)]; ok && strings.HasPrefix(name, prefix) {
			into[name] = value
		}
	}
	return nil
}

// options reads "name = value; name = value".
func options(text string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(part, "="); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

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
