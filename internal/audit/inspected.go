package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"replab.dev/internal/httpclient"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// inspected compares what a node held each time that it was started again, and holds now, with the primary. What one inspection could
// not tell, or was wiped before it, nobody knows: then there may be more ghosts, unless that was before there were any writes.
func (n *node) inspected(ctx context.Context, primary *node) *wire.InspectedNode {
	result := &wire.InspectedNode{}
	held, log, err := n.held(ctx, result)
	switch {
	case err != nil:
		result.Unknown, result.UnknownAt = err.Error(), nil
	case primary.err != nil:
		result.Unknown, result.UnknownAt = "the primary was not read: "+primary.err.Error(), nil
	default:
		n.ghosts = ledger.AndNot(ledger.Or(held, n.content.users.set), primary.content.users.set)
		result.Ghosts = size(n.ghosts)
		log.state(result, size(ledger.AndNot(held, primary.content.users.set)))
	}
	return result
}

// held is the union of what the inspections found, and what their logs tell of it. It counts those into result, and notes the last that is
// not known.
func (n *node) held(ctx context.Context, result *wire.InspectedNode) (held ledger.Bitmap, log logs, err error) {
	client := inspectionClient()
	defer client.CloseIdleConnections()
	text, err := get(ctx, client, n.Agent+wire.AgentPathInspections)
	if err != nil {
		return held, log, fmt.Errorf("ask the agent of node %s for its inspections: %w", n.Name, err)
	}
	var list wire.Inspections
	if err := json.Unmarshal(text, &list); err != nil {
		return held, log, fmt.Errorf("read the inspections of node %s: %w", n.Name, err)
	}
	if len(list.Inspections) == 0 {
		return held, log, fmt.Errorf("the agent of node %s has kept no inspection, not even of its first start", n.Name)
	}
	for i, found := range list.Inspections {
		switch {
		case found.Error != "":
			result.Unknown, result.UnknownAt = fmt.Sprintf("when it was started at %s it could not be read: %s", at(found), found.Error), &found.At
			log.add(found)
			continue
		case found.Fresh && i > 0:
			result.Unknown, result.UnknownAt = fmt.Sprintf("when it was started at %s its data were gone", at(found)), &found.At
			continue
		case found.Fresh: // the first start of all, of these data
			result.FreshAt = &found.At
			continue
		case found.Unfinished, found.Intact: // nothing of its own since the inspection before, or it still has it
			continue
		}
		log.add(found)
		result.Inspections++
	}
	if result.Inspections == 0 {
		return held, log, nil
	}
	if held, err = n.inspectedIDs(ctx, client, list.WriteIDs); err == nil && held.Bytes() > maxSetBytes {
		err = fmt.Errorf("node %s held too many ids of which no ledger can know", n.Name)
	}
	return held, log, err
}

// inspectedIDs are the write ids that all inspections found, as many as the agent says.
func (n *node) inspectedIDs(ctx context.Context, client *http.Client, count *int64) (ledger.Bitmap, error) {
	fail := func(err error) (ledger.Bitmap, error) {
		return ledger.Bitmap{}, fmt.Errorf("read what node %s held: %w", n.Name, err)
	}
	text, err := get(ctx, client, n.Agent+wire.AgentPathInspected)
	if err != nil {
		return fail(err)
	}
	ids, err := ledger.ReadBitmap(bytes.NewReader(text))
	if err != nil {
		return fail(err)
	}
	if count == nil || *count != ids.Count() {
		return fail(fmt.Errorf("there are %d write ids, the agent says %s", ids.Count(), countOf(count)))
	}
	return ids, nil
}

func at(i wire.Inspection) string { return i.At.UTC().Format("15:04:05.000") }

func countOf(n *int64) string {
	if n == nil {
		return "nothing of them"
	}
	return fmt.Sprint(*n)
}

// get tries for as long as one attempt may take, since an agent answers at once or is not there.
func get(ctx context.Context, client *http.Client, url string) (body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, inspectionTimeout)
	defer cancel()
	err = retry(ctx, func() error {
		attempt, stop := context.WithTimeout(ctx, attemptTimeout)
		defer stop()
		body, err = httpclient.Do(attempt, client, httpclient.Request{Method: http.MethodGet, URL: url})
		return err
	})
	return body, err
}

// inspectionTimeout is how long an agent may take to answer.
const inspectionTimeout = 2 * attemptTimeout

func inspectionClient() *http.Client {
	return httpclient.Client(&http.Transport{DialContext: (&net.Dialer{Timeout: attemptTimeout}).DialContext})
}
