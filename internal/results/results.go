// Package results is the results document of a run: written by the operator, read by all who show or compare it. It is pure.
package results

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/bounded"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// Key of the document in the results ConfigMap: JSON, or gzip of it in binaryData when it is large.
const (
	Key           = "results.json"
	KeyCompressed = "results.json.gz"

	plainMost      = 200 << 10
	compressedMost = 900 << 10
)

// Results is the full document: what was asked, what was measured, what came of it.
type Results struct {
	Experiment string                               `json:"experiment"`
	Namespace  string                               `json:"namespace"`
	UID        string                               `json:"uid"`
	Spec       v1alpha1.ReplicationExperimentSpec   `json:"spec"`
	Status     v1alpha1.ReplicationExperimentStatus `json:"status"`
	Recorder   *wire.RecorderResults                `json:"recorder,omitempty"`
	Audit      *wire.AuditResult                    `json:"audit,omitempty"`
	Recount    *wire.AuditResult                    `json:"recount,omitempty"`
	K6         *wire.K6Summary                      `json:"k6,omitempty"`
	// Proxy are the settings by which the proxy noticed failures, by its own names of them.
	Proxy map[string]string `json:"proxy,omitempty"`
	// Manager are the settings by which the nodes' manager chose who takes the writes, as it told them itself.
	Manager map[string]string `json:"manager,omitempty"`
	// State is the topology's own account: nodes, failovers, switchovers and absences.
	State *topology.State `json:"state,omitempty"`
	// Missing says what could not be collected.
	Missing []string `json:"missing,omitempty"`
	// Notes of the steps, which Judge adds to the status.
	Notes []string `json:"notes,omitempty"`
	// Provenance says what it all ran on.
	Provenance provenance.Provenance `json:"provenance"`
	// Omitted says what had to be left out to fit into a ConfigMap.
	Omitted string `json:"omitted,omitempty"`
}

// Name of an experiment's results ConfigMap.
func Name(experiment string) string { return experiment + "-results" }

// Document returns the results ConfigMap. It stays when the other objects of the experiment are removed. A timeline that
// does not fit is left out: the figures of the run do not depend on it.
func Document(x *v1alpha1.ReplicationExperiment, e evidence.Run) (*corev1.ConfigMap, error) {
	results := Results{
		Experiment: x.Name, Namespace: x.Namespace, UID: string(x.UID), Spec: x.Spec, Status: x.Status,
		Recorder: e.Recorder, Audit: e.Audit, Recount: e.Recount, K6: e.K6, Proxy: e.Proxy, Manager: e.State.Manager, Provenance: e.Provenance,
		State: &e.State, Missing: e.Missing, Notes: e.Notes,
	}
	m, err := configMap(x, results)
	if errors.Is(err, ErrTooLarge) && results.Recorder != nil {
		whole := *results.Recorder
		whole.Timeline = nil
		results.Recorder, results.Omitted = &whole, "the timeline, which does not fit into a ConfigMap"
		m, err = configMap(x, results)
	}
	if err != nil {
		return nil, fmt.Errorf("results of experiment %s: %w", x.Name, err)
	}
	return m, nil
}

// ErrTooLarge is the error of results that do not fit, not even without their timeline.
var ErrTooLarge = errors.New("the results document does not fit into a ConfigMap")

func configMap(x *v1alpha1.ReplicationExperiment, results Results) (*corev1.ConfigMap, error) {
	text, err := json.Marshal(results)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: x.Name}
	m := &corev1.ConfigMap{ObjectMeta: kube.Meta(x.Namespace, Name(x.Name), kube.ComponentResults, labels)}
	if len(text) <= plainMost {
		m.Data = map[string]string{Key: string(text)}
		return m, nil
	}
	packed, err := pack(text)
	if err != nil {
		return nil, err
	}
	if len(packed) > compressedMost {
		return nil, fmt.Errorf("%w: %d bytes compressed", ErrTooLarge, len(packed))
	}
	m.BinaryData = map[string][]byte{KeyCompressed: packed}
	return m, nil
}

func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Read is what a results ConfigMap holds.
func Read(m *corev1.ConfigMap) (*Results, error) {
	r := &Results{}
	if err := read(m, r); err != nil {
		return nil, err
	}
	return r, nil
}

func read(m *corev1.ConfigMap, v any) error {
	var err error
	if packed, ok := m.BinaryData[KeyCompressed]; ok {
		err = Unpack(packed, v)
	} else {
		err = Parse(m.Data[Key], v)
	}
	if err != nil {
		return fmt.Errorf("results in ConfigMap %s: %w", m.Name, err)
	}
	return nil
}

// RanOn is what the experiment with a UID ran on, by its results ConfigMap. Where that does not tell, MachinesUnknown says why.
func RanOn(m *corev1.ConfigMap, uid types.UID) provenance.Provenance {
	var head struct {
		UID        types.UID             `json:"uid"`
		Provenance provenance.Provenance `json:"provenance"`
	}
	if len(m.Data) == 0 && len(m.BinaryData) == 0 {
		return provenance.Provenance{MachinesUnknown: "its results document is gone"}
	}
	if err := read(m, &head); err != nil {
		return provenance.Provenance{MachinesUnknown: err.Error()}
	}
	if head.UID != uid {
		return provenance.Provenance{MachinesUnknown: "its results document is of another experiment of that name"}
	}
	return head.Provenance
}

// unpackedMost is how much memory a document may take, as package bounded estimates it. The largest that instruments write take about 30 MiB.
const unpackedMost = 32 << 20

// Unpack reads a compressed JSON document into v.
func Unpack(packed []byte, v any) error {
	return tooLarge(bounded.UnmarshalGzip(packed, v, unpackedMost))
}

// Parse reads a JSON document into v.
func Parse(text string, v any) error {
	return tooLarge(bounded.Unmarshal([]byte(text), v, unpackedMost))
}

func tooLarge(err error) error {
	if errors.Is(err, bounded.ErrTooLarge) {
		return fmt.Errorf("%w: more than %d MiB of memory", bounded.ErrTooLarge, unpackedMost>>20)
	}
	return err
}
