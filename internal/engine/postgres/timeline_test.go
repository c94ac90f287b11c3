package postgres

import (
	"strings"
	"testing"
)

func TestPositions(t *testing.T) {
	for text, want := range map[string]position{"0/300BB40": 0x300BB40, "1/0": 1 << 32, "A/FFFFFFFF": 0xAFFFFFFFF} {
		if p, err := parsePosition(text); err != nil || p != want || p.String() != text {
			t.Errorf("%q: %d, %v, as text %s", text, p, err, p)
		}
	}
	for _, text := range []string{"", "0", "0/", "/1", "0/1FFFFFFFF", "x/1"} {
		if p, err := parsePosition(text); err == nil {
			t.Errorf("%q is read as %d", text, p)
		}
	}
}

func TestFork(t *testing.T) {
	const (
		second  = "1\t0/300BB40\tno recovery target specified\n"
		third   = second + "\n2\t0/5000000\tno recovery target specified\n"
		another = "1\t0/4000000\tno recovery target specified\n" // a second timeline as well, of somebody else
	)
	for _, c := range []struct {
		name                       string
		ours                       string
		ourTimeline, theirTimeline int64
		theirs, want               string
	}{
		{"one promotion after ours", "", 1, 2, second, "0/300BB40"},
		{"two promotions after ours", "", 1, 3, third, "0/300BB40"},
		{"the second of two is after ours", second, 2, 3, third, "0/5000000"},
		{"we were promoted, and they not", second, 2, 1, "", "0/300BB40"},
		{"both were promoted, we first", second, 2, 2, another, "0/300BB40"},
		{"both were promoted, they first", another, 2, 3, third, "0/300BB40"},
	} {
		ours, err := history(c.ours, c.ourTimeline)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := history(c.theirs, c.theirTimeline)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := fork(ours, theirs); err != nil || at.String() != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, at, err, c.want)
		}
	}
	same, err := history(second, 2)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := fork(same, same); err == nil {
		t.Errorf("servers of one history part at %s", at)
	}
	if at, err := fork([]branch{{1, endless}}, []branch{{7, endless}}); err == nil {
		t.Errorf("servers that have nothing in common part at %s", at)
	}
}

func TestAHistoryThatIsNoneIsRefused(t *testing.T) {
	for _, text := range []string{"1\n", "x\t0/1\ty\n", "1\tx\ty\n"} {
		if h, err := history(text, 2); err == nil {
			t.Errorf("%q: %v", text, h)
		}
	}
	if h, err := history("", 2); err == nil {
		t.Errorf("a second timeline without a first one: %v", h)
	}
}

const controlText = `pg_control version number:            1300
Database cluster state:               shut down
pg_control last modified:             Sun Nov 22 12:32:41 2026
Latest checkpoint location:           0/300BB40
Latest checkpoint's REDO location:    0/300BB40
Latest checkpoint's TimeLineID:       1
Latest checkpoint's PrevTimeLineID:   1
Minimum recovery ending location:     0/0
Min recovery ending loc's timeline:   0
Bytes per WAL segment:                16777216
`

func TestControl(t *testing.T) {
	c, err := parseControl(controlText)
	if want := (control{timeline: 1, checkpoint: 0x300BB40, segmentSize: 16 << 20}); err != nil || c != want {
		t.Errorf("%+v, %v, want %+v", c, err, want)
	}
	standby := strings.Replace(controlText, "timeline:   0", "timeline:   12", 1)
	if c, err := parseControl(standby); err != nil || c.timeline != 12 {
		t.Errorf("%+v, %v, want timeline 12", c, err)
	}
	for _, line := range strings.Split(strings.TrimSpace(controlText), "\n") {
		name, _, _ := strings.Cut(line, ":")
		needed := name == "Latest checkpoint location" || strings.HasSuffix(name, "s TimeLineID") || strings.HasPrefix(name, "Min recovery") || strings.HasPrefix(name, "Bytes")
		if _, err := parseControl(strings.Replace(controlText, line+"\n", "", 1)); (err != nil) != needed {
			t.Errorf("without %q: %v", name, err)
		}
	}
	c = control{timeline: 18, segmentSize: 16 << 20}
	for at, want := range map[position]string{0x300BB40: "000000120000000000000003", 0x5FF000001: "0000001200000005000000FF"} {
		if got := c.segmentFile(c.segment(at)); got != want {
			t.Errorf("%s is in %s, want %s", at, got, want)
		}
	}
}
