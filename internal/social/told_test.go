package social

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

// What the tools write of the rows that they made, and of how many a second.
var (
	pgbenchSays  = regexp.MustCompile(`(?s)actually processed: (\d+)\n.*\ntps = ([0-9.]+) `)
	sysbenchSays = regexp.MustCompile(`transactions:\s+(\d+)\s+\(([0-9.]+) per sec`)
)

// told finds in a tool's output how many rows it made, at least one, and how many a second.
func told(says *regexp.Regexp, output []byte) (rows int64, perSecond float64, err error) {
	found := says.FindSubmatch(output)
	if found == nil {
		return 0, 0, fmt.Errorf("it does not say how many rows it made:\n%s", output)
	}
	rows, err = strconv.ParseInt(string(found[1]), 10, 64)
	perSecond, rateErr := strconv.ParseFloat(string(found[2]), 64)
	if err := errors.Join(err, rateErr); err != nil || rows == 0 {
		return 0, 0, fmt.Errorf("it says %q: %w", found[0], errors.Join(err, errors.New("no rows that count")))
	}
	return rows, perSecond, nil
}

// pgbench 17.12 and sysbench 1.0.20 said so.
const (
	pgbenchOutput = `pgbench (17.12 (Debian 17.12-0+deb13u1))
number of clients: 8
duration: 1 s
number of transactions actually processed: 532
number of failed transactions: 0 (0.000%)
latency average = 13.877 ms
initial connection time = 99.756 ms
tps = 576.513782 (without initial connection time)
`
	sysbenchOutput = `SQL statistics:
    queries performed:
        read:                            0
        write:                           429
        total:                           429
    transactions:                        429    (424.29 per sec.)
    queries:                             429    (424.29 per sec.)
    ignored errors:                      0      (0.00 per sec.)
`
)

func TestTold(t *testing.T) {
	for _, c := range []struct {
		name, output string
		says         *regexp.Regexp
		rows         int64
		perSecond    float64
		fails        bool
	}{
		{"pgbench", pgbenchOutput, pgbenchSays, 532, 576.513782, false},
		{"sysbench", sysbenchOutput, sysbenchSays, 429, 424.29, false},
		{"one that could not connect", "pgbench: error: connection to server failed\n", pgbenchSays, 0, 0, true},
		{"one that made no rows", "    transactions:                        0      (0.00 per sec.)\n", sysbenchSays, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, perSecond, err := told(c.says, []byte(c.output))
			if rows != c.rows || perSecond != c.perSecond || (err != nil) != c.fails {
				t.Errorf("it told %d rows, %v/s, %v", rows, perSecond, err)
			}
		})
	}
}
