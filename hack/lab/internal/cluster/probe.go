package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"replab.dev/hack/lab/internal/conf"
	"replab.dev/hack/lab/internal/layout"
)

// probe returns nil when something serves, and otherwise what is wrong.
type probe func() error

const probeTimeout = 3 * time.Second

// webProbe asks a health endpoint on this machine. Who answers is not verified:
// some components make themselves a certificate at each start.
func webProbe(url string) probe {
	client := &http.Client{
		Timeout:   probeTimeout,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	return func() error { return ask(client, url) }
}

// apiProbe asks the API server as the administrator.
func apiProbe(l layout.Layout, path string) probe {
	return func() error {
		pair, err := tls.LoadX509KeyPair(l.PKI(conf.Admin+".crt"), l.PKI(conf.Admin+".key"))
		if err != nil {
			return err
		}
		pool, err := readPool(l.PKI("ca.crt"))
		if err != nil {
			return err
		}
		client := &http.Client{
			Timeout: probeTimeout,
			Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
				Certificates: []tls.Certificate{pair}, RootCAs: pool,
			}},
		}
		return ask(client, fmt.Sprintf("https://%s:%d%s", conf.NodeIP, conf.APIPort, path))
	}
}

func ask(client *http.Client, url string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return nil
}

func socketProbe(path string) probe {
	return func() error {
		c, err := net.DialTimeout("unix", path, probeTimeout)
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// within repeats the probe until it succeeds, stop says why it never will, or
// the patience is at its end.
func (p probe) within(patience time.Duration, stop func() error) error {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = p(); err == nil {
			return nil
		}
		if why := stop(); why != nil {
			return why
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("does not answer within %s", patience)
	}
	return fmt.Errorf("not ready after %s: %w", patience, err)
}
