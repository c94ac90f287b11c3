package recorder

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// classify tells which operation a request is, and whether it counts as load: questions after the app's health do not.
func classify(method, path string) (op figures.Operation, counts bool) {
	switch {
	case method == http.MethodPost && path == wire.SocialPathRegister:
		return figures.Register, true
	case method == http.MethodPost && path == wire.SocialPathLogin:
		return figures.Login, true
	case method == http.MethodGet && strings.HasPrefix(path, wire.SocialPathGet):
		return figures.Profile, true
	case method == http.MethodGet && path == wire.SocialPathSearch:
		return figures.Search, true
	case path == wire.SocialPathHealth, path == wire.SocialPathReady, path == wire.SocialPathMetrics:
		return figures.Other, false
	}
	return figures.Other, true
}

// lateness reads HeaderLate: absent is 0, and more than the histograms hold is their maximum.
func lateness(header string) (time.Duration, error) {
	if header == "" {
		return 0, nil
	}
	us, err := strconv.ParseInt(header, 10, 64)
	if err != nil || us < 0 {
		return 0, fmt.Errorf("header %s is %q: it must be a whole number of microseconds, from 0", wire.HeaderLate, header)
	}
	return time.Duration(min(us, figures.MaxLatency.Microseconds())) * time.Microsecond, nil
}

// outcomeOf says what became of a write, by measurement.md section 1. When in doubt it is indeterminate.
func outcomeOf(response *upstream.Response, err error) ledger.Outcome {
	switch {
	case err != nil && notSent(err):
		return ledger.Rejected
	case err != nil:
		return ledger.Indeterminate
	case successful(response.Status):
		return ledger.Acknowledged
	case response.Header.Get(wire.HeaderRejected) != "":
		return ledger.Rejected
	}
	return ledger.Indeterminate
}

// wasInvalid tells that the app refused a write for what it said, which is no sign of an outage.
func wasInvalid(response *upstream.Response) bool {
	return response != nil && response.Header.Get(wire.HeaderRejected) == wire.RejectedValidation
}

func successful(status int) bool { return status >= 200 && status < 300 }

func outcomeName(o ledger.Outcome) string {
	switch o {
	case ledger.Acknowledged:
		return "acknowledged"
	case ledger.Rejected:
		return "rejected"
	}
	return "indeterminate"
}
