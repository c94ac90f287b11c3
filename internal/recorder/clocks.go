package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/wire"
)

// clocks measures the clocks of processes that do nothing else for the recorder.
type clocks struct {
	sources []wire.ClockSource
	client  *http.Client
	now     func() time.Time

	mu       sync.Mutex
	measured []counters.Clock // of the sources, in their order
}

func newClocks(sources []wire.ClockSource, now func() time.Time) *clocks {
	client := httpclient.Client(http.DefaultTransport)
	client.Timeout = sampleTimeout
	return &clocks{
		sources: sources, now: now, client: client, measured: make([]counters.Clock, len(sources)),
	}
}

// sample asks each clock once; one that does not answer has no sample this time.
func (c *clocks) sample(ctx context.Context) {
	var asked sync.WaitGroup
	for i, source := range c.sources {
		asked.Go(func() {
			from := c.now()
			told, err := c.read(ctx, source.URL)
			to := c.now()
			if err != nil {
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.measured[i].Add(from, told.Now.Time, to)
		})
	}
	asked.Wait()
}

// clockReadingMost is more than a reading has, in bytes.
const clockReadingMost = 4 << 10

func (c *clocks) read(ctx context.Context, url string) (told wire.ClockReading, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return told, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return told, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return told, fmt.Errorf("%s: %s", url, response.Status)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, clockReadingMost)).Decode(&told); err != nil {
		return told, err
	}
	if told.Now.IsZero() {
		return told, fmt.Errorf("%s told no time", url)
	}
	return told, nil
}

func (c *clocks) result() (all []wire.Clock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, source := range c.sources {
		if clock, known := c.measured[i].Result(source.Name); known {
			all = append(all, clock)
		}
	}
	return all
}
