package postgres

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// position in a log: bytes since it began.
type position uint64

// endless is the end of the timeline that a server is on.
const endless = position(math.MaxUint64)

func (p position) String() string {
	return fmt.Sprintf("%X/%X", uint64(p)>>32, uint64(p)&math.MaxUint32)
}

// parsePosition reads one as the server's programs write them.
func parsePosition(text string) (position, error) {
	high, low, found := strings.Cut(text, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	l, failed := strconv.ParseUint(low, 16, 32)
	if !found || err != nil || failed != nil {
		return 0, fmt.Errorf("%q is no position in a log", text)
	}
	return position(h<<32 | l), nil
}

// branch is a timeline of a server's history, and where the history left it.
type branch struct {
	timeline int64
	end      position
}

// history is what a server on a timeline came over. text is the timeline's file, "" for the first one, which has none.
func history(text string, timeline int64) ([]branch, error) {
	var branches []branch
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("the history of timeline %d has a line %q", timeline, line)
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the history of timeline %d has a line %q", timeline, line)
		}
		end, err := parsePosition(fields[1])
		if err != nil {
			return nil, fmt.Errorf("the history of timeline %d: %w", timeline, err)
		}
		branches = append(branches, branch{n, end})
	}
	if len(branches) == 0 && timeline != 1 {
		return nil, fmt.Errorf("timeline %d has no history", timeline)
	}
	return append(branches, branch{timeline, endless}), nil
}

// fork is where two histories part: on the last timeline that both came over from the same point, where the first of them left it.
func fork(ours, theirs []branch) (position, error) {
	common := -1
	for i := range min(len(ours), len(theirs)) {
		if ours[i].timeline != theirs[i].timeline || i > 0 && ours[i-1].end != theirs[i-1].end {
			break
		}
		common = i
	}
	if common < 0 {
		return 0, errors.New("the two servers have no timeline in common")
	}
	at := min(ours[common].end, theirs[common].end)
	if at == endless {
		return 0, fmt.Errorf("both servers are on timeline %d: none of them went its own way", ours[common].timeline)
	}
	return at, nil
}

// control is what a server that is down says of its data.
type control struct {
	timeline    int64
	checkpoint  position // the last; the server's last record but for what came after a crash
	segmentSize uint64   // bytes in a file of the log
}

// parseControl reads what pg_controldata writes. A standby's last checkpoint may be of a timeline that it has left since.
func parseControl(text string) (control, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), ":"); found {
			values[name] = strings.TrimSpace(value)
		}
	}
	fail := func(name string) (control, error) {
		return control{}, fmt.Errorf("pg_controldata says %q of %q", values[name], name)
	}
	const checkpoint, size = "Latest checkpoint location", "Bytes per WAL segment"
	var c control
	for _, name := range []string{"Latest checkpoint's TimeLineID", "Min recovery ending loc's timeline"} {
		timeline, err := strconv.ParseInt(values[name], 10, 64)
		if err != nil {
			return fail(name)
		}
		c.timeline = max(c.timeline, timeline)
	}
	var err error
	if c.checkpoint, err = parsePosition(values[checkpoint]); err != nil {
		return fail(checkpoint)
	}
	if c.segmentSize, err = strconv.ParseUint(values[size], 10, 64); err != nil || c.segmentSize == 0 {
		return fail(size)
	}
	return c, nil
}

// segment is the number of the log's file that holds a position.
func (c control) segment(p position) uint64 { return uint64(p) / c.segmentSize }

// segmentFile is the name of that file on the timeline.
func (c control) segmentFile(segment uint64) string {
	each := (uint64(1) << 32) / c.segmentSize
	return fmt.Sprintf("%08X%08X%08X", c.timeline, segment/each, segment%each)
}
