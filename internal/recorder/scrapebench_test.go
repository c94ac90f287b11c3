package recorder

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// A turn is as long as the PodMonitor's interval, so that there is one scrape in each.
const (
	scrapePairs = 24
	scrapeTurn  = 5 * time.Second
)

// TestBenchScraping has a load through a recorder that Prometheus asks every 5 s, and the app with it, take turns with one whose processes nobody asks.
// Agents and director are not among these processes: the one reads what the recorder asks it for each second anyway, the other what it remembers.
func TestBenchScraping(t *testing.T) {
	benchmark.Skip(t)
	for _, c := range []struct {
		name   string
		apart  bool
		target benchmark.Target
	}{
		{"semi-sync, halves apart", true, benchmark.AtLeast(0.99)},
		{"semi-sync, all share", false, benchmark.AtLeast(0.99)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := semiSyncPath(t)
			if c.apart {
				p.apart()
			}
			p.unindex() // both recorders count from 1
			on, off := p.startRecorder(silent), p.startRecorder(silent)
			with := p.startTurns(scrapeTurn, "http://"+on.listen, on.cmd)
			without := p.startTurns(scrapeTurn, "http://"+off.listen, off.cmd)
			scraped, bare := benchmark.Pairs(scrapePairs, func() round {
				asked := make(chan error, 1)
				time.AfterFunc(scrapeTurn/2, func() {
					asked <- scrape("http://"+on.control+wire.RecorderPathMetrics, fmt.Sprintf("http://%s:%d%s", p.app.Host, p.app.Port, wire.SocialPathMetrics))
				})
				r := with.turn()
				if err := <-asked; err != nil {
					t.Error(err)
				}
				return r
			}, without.turn)
			report("scraping each 5 s: "+c.name, "asked", scraped, "not asked", bare, c.target)
			p.checkRequests()
		})
	}
}

// scrape asks as a Prometheus does that takes native histograms.
func scrape(urls ...string) error {
	for _, url := range urls {
		request, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || len(text) == 0 {
			return fmt.Errorf("%s: %s, %d bytes, %w", url, answer.Status, len(text), err)
		}
	}
	return nil
}
