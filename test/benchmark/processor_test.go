package benchmark

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
	"time"
)

// TestTreeTime: a shell's own time does not grow while those that it started work.
func TestTreeTime(t *testing.T) {
	const enough = 50 * time.Millisecond
	cmd := exec.Command("sh", "-c", `(i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done)
echo ended
while :; do :; done &
echo works
read -r line
kill $!`)
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	lines := bufio.NewReader(out)
	await := func(line string) {
		t.Helper()
		said, err := lines.ReadString('\n')
		if err != nil && err != io.EOF || said != line+"\n" {
			t.Fatalf("it says %q, %v, and not %q", said, err, line)
		}
	}
	await("ended")
	ended := TreeTime(t, cmd.Process.Pid)
	if own := ProcessorTime(t, cmd.Process.Pid); ended-own < enough {
		t.Errorf("with one that has ended it used %s, of that %s itself", ended, own)
	}
	await("works")
	for deadline := time.Now().Add(time.Minute); TreeTime(t, cmd.Process.Pid)-ended < enough; time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatal("the time of one that works does not count")
		}
	}
	if own := ProcessorTime(t, cmd.Process.Pid); TreeTime(t, cmd.Process.Pid)-own < 2*enough {
		t.Errorf("of all that it used, %s itself", own)
	}
}
