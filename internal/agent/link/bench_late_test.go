package link

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"replab.dev/internal/timer"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// roleEnv has a process of the tests be something else.
const roleEnv = "REPLAB_TEST_ROLE"

// play is what such a process does until it is killed.
func play(role string) {
	if role == "hog" {
		for spun := 0; ; spun++ {
			runtime.KeepAlive(spun)
		}
	}
	out, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(far)}, &net.UDPAddr{IP: net.ParseIP(near), Port: sink})
	if err != nil {
		panic(err)
	}
	fine, began := timer.New(), time.Now()
	for n := 0; ; n++ {
		fine.Sleep(time.Until(began.Add(time.Duration(n) * time.Millisecond)))
		for range 4 {
			_, _ = out.Write([]byte{1})
		}
	}
}

// sink is a port where what comes is left lying.
const sink = 4711

// begin has a process play a role until the test ends.
func begin(t *testing.T, role string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// TestBenchLate has the processors be wanted by others all the time, two for each, and sends 4,000 packets a second through a link.
func TestBenchLate(t *testing.T) {
	benchmark.Skip(t)
	m := newManager(t)
	in, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(near), Port: sink})
	must(t, err)
	defer in.Close()
	for range 2 * runtime.NumCPU() {
		begin(t, "hog")
	}
	begin(t, "sender")
	_, err = m.Set(links(wire.Peer{Address: far, DelayMicroseconds: 10_000}))
	must(t, err)
	time.Sleep(10 * time.Second) // the length of a round
	s := m.State()
	if *s.Dropped != 0 {
		t.Errorf("%d packets dropped", *s.Dropped)
	}
	benchmark.Figure{
		What: "link of 10 ms beside busy processors: packets more than 1 ms late", Value: 100 * float64(*s.Late) / float64(*s.Packets), Unit: "%", Target: benchmark.AtMost(1),
		Measured: fmt.Sprintf("%d of %d packets, by up to %d µs", *s.Late, *s.Packets, *s.LatestMicroseconds),
	}.Print()
}
