package audit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// ledgerSource is the recorder's ledger behind its URL. It is closed by then: two reads see the same records.
type ledgerSource struct {
	url    string
	client *http.Client
	tries  time.Duration // for how long a read that failed is tried again
}

func newLedgerSource(url string, tries time.Duration) ledgerSource {
	return ledgerSource{url: url, tries: tries, client: httpclient.Client(&http.Transport{
		DialContext:           (&net.Dialer{Timeout: attemptTimeout}).DialContext,
		ResponseHeaderTimeout: attemptTimeout,
		DisableCompression:    true,
	})}
}

// load reads the ledger's sets.
func (s ledgerSource) load(ctx context.Context) (sets ledger.Sets, err error) {
	err = s.read(ctx, func(r io.Reader) (err error) {
		sets, err = ledger.Load(r)
		return err
	})
	return sets, err
}

// acknowledgements notes when the given writes were acknowledged. A read that is tried again notes them again.
func (s ledgerSource) acknowledgements(ctx context.Context, ids ledger.Bitmap, into *lossTimes, note func(id uint64, at time.Time)) error {
	return s.read(ctx, func(r io.Reader) error {
		*into = lossTimes{} // it may be the second try
		return ledger.Read(r, func(record ledger.Record) error {
			if record.Kind == ledger.KindAcknowledged && ids.Has(record.ID) {
				into.add(record.At)
				note(record.ID, record.At)
			}
			return nil
		})
	})
}

// read tries again for as long as the recorder may take to answer. A read that was lost after a longer time is tried again as well.
func (s ledgerSource) read(ctx context.Context, use func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	for range readAttempts {
		var began time.Time
		tries, stop := context.WithTimeout(ctx, s.tries)
		err = retry(tries, func() error { began = time.Now(); return s.get(ctx, use) })
		stop()
		if err == nil {
			return nil
		}
		if time.Since(began) < s.tries {
			break
		}
	}
	return fmt.Errorf("read the ledger of the recorder at %s: %w", s.url, err)
}

func (s ledgerSource) get(ctx context.Context, use func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 300))
		return fmt.Errorf("answered %s: %s", response.Status, strings.TrimSpace(string(text)))
	}
	return use(response.Body)
}

// lossBucket is how finely the times of lost writes are kept.
const lossBucket = 100 * time.Millisecond

// lossTimes are when lost writes were acknowledged. It holds the first and the last of each bucket, however many were lost.
type lossTimes map[int64]wire.LostSpan

func (l *lossTimes) add(at time.Time) {
	if *l == nil {
		*l = lossTimes{}
	}
	bucket := at.UnixMicro() / lossBucket.Microseconds()
	s, ok := (*l)[bucket]
	if t := metav1.NewMicroTime(at); !ok {
		s = wire.LostSpan{From: t, To: t}
	} else if at.Before(s.From.Time) { // a little out of order: several writes end at once
		s.From = t
	} else if at.After(s.To.Time) {
		s.To = t
	}
	s.Writes++
	(*l)[bucket] = s
}

// spans returns at most so many spans, and how far apart two acknowledgements within one may lie.
func (l lossTimes) spans(most int) (spans []wire.LostSpan, within time.Duration) {
	buckets := slices.Sorted(maps.Keys(l))
	for within = lossBucket; ; within *= 2 {
		spans = nil
		for _, b := range buckets {
			s := l[b]
			if n := len(spans) - 1; n >= 0 && s.From.Sub(spans[n].To.Time) <= within {
				spans[n].To = s.To
				spans[n].Writes += s.Writes
				continue
			}
			spans = append(spans, s)
		}
		if len(spans) <= most {
			return spans, within
		}
	}
}

const (
	attemptTimeout = 5 * time.Second // of one try to reach something
	retryPause     = 200 * time.Millisecond
)

// retry calls try until it succeeds. Once ctx has ended it returns the last error that is not merely that end.
func retry(ctx context.Context, try func() error) error {
	var why error
	for {
		err := try()
		if err == nil {
			return nil
		}
		if why == nil || ctx.Err() == nil {
			why = err
		}
		select {
		case <-ctx.Done():
			return why
		case <-time.After(retryPause):
		}
	}
}
