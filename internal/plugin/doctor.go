package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/doctor"
	"replab.dev/internal/report/table"
	"replab.dev/internal/wire"
)

func doctorCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell whether the cluster is fit for experiments",
		Long: `Tell whether the cluster is fit for experiments: the custom resource, the operator and its version, your permissions in the namespace,
storage, images, the resources of optional parts, the difference between the clocks, and free CPU. Nothing is changed.

Exit codes: 0 fit, 1 something keeps experiments from running, 3 the cluster could not be reached.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Connect()
			if err != nil {
				return err
			}
			facts, err := c.facts(cmd.Context(), o.Version)
			if err != nil {
				return err
			}
			all := doctor.Check(facts)
			w := printers.GetNewTabWriter(o.Out)
			for _, f := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.What, table.Plain(f.Text))
			}
			if err := w.Flush(); err != nil {
				return err
			}
			if doctor.Unfit(all) {
				return exit(ExitFailed)
			}
			return nil
		},
	}
}

// facts of a cluster. It fails where nobody answers, or what decides cannot be asked.
func (c Cluster) facts(ctx context.Context, version string) (doctor.Facts, error) {
	f := doctor.Facts{Version: version, Namespace: c.Namespace, Optional: map[string]bool{}, OptionalErr: map[string]error{}, Present: map[string]string{}}
	if f.ClockAhead, f.ClockWidth, f.ClockErr = c.clock(ctx); f.ClockErr != nil && !errors.Is(f.ClockErr, errNoDate) {
		return f, f.ClockErr
	}
	var err error
	if f.CRD, err = c.serves("replicationexperiments.replab.dev"); err != nil {
		return f, fmt.Errorf("ask the API server for the custom resource: %w", err)
	}
	for name := range doctor.Optional {
		there, err := c.serves(name)
		f.Optional[name] = there
		if err != nil {
			f.OptionalErr[name] = err
		}
	}
	if err := c.denied(ctx, &f); err != nil {
		return f, fmt.Errorf("ask the API server for your permissions: %w", err)
	}
	c.storage(ctx, &f)
	c.operators(ctx, &f)
	c.nodes(ctx, &f)
	return f, nil
}

// serves tells whether the API server knows a resource, by its name and group.
func (c Cluster) serves(name string) (bool, error) {
	_, err := c.RESTMapper().ResourcesFor(schema.ParseGroupResource(name).WithVersion(""))
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

var errNoDate = errors.New("the API server tells no date")

// clock is by how much the API server's is ahead of ours: the header has whole seconds, cut off.
func (c Cluster) clock(ctx context.Context) (ahead, width time.Duration, err error) {
	h, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return 0, 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Kube.CoreV1().RESTClient().Get().AbsPath("/version").URL().String(), nil)
	if err != nil {
		return 0, 0, err
	}
	before := time.Now()
	answer, err := h.Do(request)
	if err != nil {
		return 0, 0, fmt.Errorf("reach the API server: %w", err)
	}
	answer.Body.Close()
	after := time.Now()
	if answer.StatusCode == http.StatusUnauthorized {
		return 0, 0, errors.New("the API server does not know you: log in again")
	}
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return 0, 0, errNoDate
	}
	middle := date.Add(time.Second / 2)
	return middle.Sub(before.Add(after.Sub(before) / 2)), time.Second/2 + after.Sub(before)/2, nil
}

func (c Cluster) storage(ctx context.Context, f *doctor.Facts) {
	var classes storagev1.StorageClassList
	if f.StorageErr = c.List(ctx, &classes); f.StorageErr != nil {
		return
	}
	for _, s := range classes.Items {
		f.StorageClasses = append(f.StorageClasses, s.Name)
		if s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			f.DefaultClass = s.Name
		}
	}
}

// operators are looked for in all namespaces; their catalogue is in the configuration that they mount.
func (c Cluster) operators(ctx context.Context, f *doctor.Facts) {
	var pods corev1.PodList
	if f.OperatorsErr = c.List(ctx, &pods, client.MatchingLabels(operatorLabels)); f.OperatorsErr != nil {
		f.ImagesErr = f.OperatorsErr
		return
	}
	for _, p := range pods.Items {
		o := doctor.Operator{Namespace: p.Namespace, Pod: p.Name, Version: p.Labels["app.kubernetes.io/version"]}
		if len(p.Spec.Containers) > 0 {
			o.Image = p.Spec.Containers[0].Image
		}
		for _, condition := range p.Status.Conditions {
			o.Ready = o.Ready || condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
		}
		f.Operators = append(f.Operators, o)
	}
	c.versions(ctx, f.Operators, pods.Items)
	f.ImagesErr = errors.New("there is no operator with a catalogue of them")
	everywhere := false
	var watched []string
	for _, p := range pods.Items {
		config, err := c.configured(ctx, p)
		if err != nil {
			everywhere = true // for all that is known
			if f.Images == nil {
				f.ImagesErr = err
			}
			continue
		}
		f.Images, f.ImagesErr = catalogue(config), nil
		watched, everywhere = append(watched, config.WatchNamespaces...), everywhere || len(config.WatchNamespaces) == 0
	}
	if !everywhere {
		f.Watched = watched
	}
}

// versions of operators whose pods do not name theirs: what they have written into the status of an experiment since they run.
func (c Cluster) versions(ctx context.Context, operators []doctor.Operator, pods []corev1.Pod) {
	var all v1alpha1.ReplicationExperimentList
	if len(operators) != 1 || operators[0].Version != "" || c.List(ctx, &all) != nil { // of several nobody knows which one it was
		return
	}
	for _, x := range all.Items {
		if s := x.Status; s.CompletionTime != nil && s.Versions != nil && s.StartTime != nil && s.StartTime.After(pods[0].CreationTimestamp.Time) {
			operators[0].Version = s.Versions.Operator
		}
	}
}

// configured is the configuration that an operator mounts.
func (c Cluster) configured(ctx context.Context, operator corev1.Pod) (config wire.OperatorConfig, err error) {
	for _, v := range operator.Spec.Volumes {
		if v.ConfigMap == nil {
			continue
		}
		var m corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKey{Namespace: operator.Namespace, Name: v.ConfigMap.Name}, &m); err != nil {
			return config, err
		}
		if err := json.Unmarshal([]byte(m.Data["operator.json"]), &config); err != nil {
			return config, fmt.Errorf("ConfigMap %s: %w", m.Name, err)
		}
		return config, nil
	}
	return config, apierrors.NewNotFound(corev1.Resource("configmaps"), "of the operator")
}

// catalogue of images that experiments get.
func catalogue(config wire.OperatorConfig) []string {
	images := []string{config.Images.Replab, config.Images.K6}
	for _, of := range []map[string]string{config.Images.Servers, config.Images.Proxies} {
		for _, i := range of {
			images = append(images, i)
		}
	}
	slices.Sort(images)
	return slices.DeleteFunc(slices.Compact(images), func(i string) bool { return i == "" })
}

// nodes that take pods: what is free on them, and which images they have.
func (c Cluster) nodes(ctx context.Context, f *doctor.Facts) {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if f.NodesErr = errors.Join(c.List(ctx, &nodes), c.List(ctx, &pods)); f.NodesErr != nil {
		f.ImagesErr = errors.Join(f.ImagesErr, f.NodesErr)
		return
	}
	asked := map[string]int64{}
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, container := range p.Spec.Containers {
			asked[p.Spec.NodeName] += container.Resources.Requests.Cpu().MilliValue()
		}
	}
	for _, n := range nodes.Items {
		for _, i := range n.Status.Images {
			for _, name := range i.Names {
				present(f.Present, name, n.Name)
			}
		}
		if n.Spec.Unschedulable || !ready(n) {
			continue
		}
		whole := n.Status.Allocatable.Cpu().MilliValue()
		f.Nodes = append(f.Nodes, doctor.Node{Name: n.Name, FreeCPU: whole - asked[n.Name], Tainted: tainted(n)})
	}
}

func ready(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// tainted tells that a machine takes only pods that tolerate it.
func tainted(n corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	})
}

// present notes an image under the name that it has in a node's status, and under the shorter ones that mean the same.
func present(on map[string]string, image, node string) {
	on[image] = node
	for _, prefix := range []string{"docker.io/library/", "docker.io/"} {
		if short, ok := strings.CutPrefix(image, prefix); ok {
			on[short] = node
		}
	}
}
