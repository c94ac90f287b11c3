package plugin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
	"replab.dev/internal/plugin/doctor"
)

func doctorCommand(o *Options) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check whether the cluster is fit for experiments",
		Long: `Check whether the cluster is fit for experiments. The checks are the custom resource, the operator and its version, your permissions in the
namespace, the namespace and its pod security, storage, images, optional parts, clocks and free CPU. Nothing is changed.

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
				fmt.Fprintf(w, "%s\t%s\t%s\n", f.Level, f.What, plain.Line(f.Text))
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

// facts of a cluster. It fails if the API server does not answer, or cannot be asked for what decides.
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
	var here corev1.Namespace
	f.PodSecurityErr = c.Get(ctx, client.ObjectKey{Name: c.Namespace}, &here)
	f.NoNamespace = apierrors.IsNotFound(f.PodSecurityErr)
	f.PodSecurity = here.Labels["pod-security.kubernetes.io/enforce"]
	c.storage(ctx, &f)
	c.operators(ctx, &f)
	c.nodes(ctx, &f)
	return f, nil
}

// serves is true if the API server has a resource, by its name and group.
func (c Cluster) serves(name string) (bool, error) {
	_, err := c.RESTMapper().ResourcesFor(schema.ParseGroupResource(name).WithVersion(""))
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

var errNoDate = errors.New("the API server's answer has no date")

// clockTimeout is how long the API server may take to answer.
const clockTimeout = 10 * time.Second

// clock is by how much the API server's is ahead of ours: the header has whole seconds, cut off.
func (c Cluster) clock(ctx context.Context) (ahead, width time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
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
		return 0, 0, errors.New("the API server refused your credentials: log in again")
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

// needed are rights in a namespace that every command needs.
var needed = []authorizationv1.ResourceAttributes{
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "get"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "list"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "create"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "patch"},
	{Resource: "configmaps", Verb: "get"},
}

// useful are rights that some commands or options need.
var useful = []struct {
	without string
	rights  []authorizationv1.ResourceAttributes
}{
	{"suites", []authorizationv1.ResourceAttributes{
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationsuites", Verb: "get"},
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationsuites", Verb: "list"},
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationsuites", Verb: "create"},
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationsuites", Verb: "patch"},
	}},
	{"--replace", []authorizationv1.ResourceAttributes{
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "delete"},
		{Group: v1alpha1.GroupVersion.Group, Resource: "replicationsuites", Verb: "delete"},
	}},
	{"scripts of k6 in the files of run", []authorizationv1.ResourceAttributes{
		{Resource: "configmaps", Verb: "create"},
		{Resource: "configmaps", Verb: "patch"},
	}},
	{"live figures", []authorizationv1.ResourceAttributes{{Resource: "services", Subresource: "proxy", Verb: "get"}}},
	{"logs", []authorizationv1.ResourceAttributes{
		{Resource: "pods", Verb: "list"},
		{Resource: "pods", Subresource: "log", Verb: "get"},
	}},
}

// denied notes which rights are missing.
func (c Cluster) denied(ctx context.Context, f *doctor.Facts) (err error) {
	if f.Denied, err = c.refused(ctx, needed...); err != nil {
		return err
	}
	for _, u := range useful {
		refused, err := c.refused(ctx, u.rights...)
		if err != nil {
			return err
		}
		if len(refused) > 0 {
			f.DeniedUseful = append(f.DeniedUseful, doctor.Denied{Rights: refused, Without: u.without})
		}
	}
	return nil
}

func (c Cluster) refused(ctx context.Context, rights ...authorizationv1.ResourceAttributes) (all []string, err error) {
	for _, n := range rights {
		n.Namespace = c.Namespace
		asked := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &n}}
		answer, err := c.Kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if !answer.Status.Allowed {
			words := n.Verb + " " + n.Resource
			if n.Subresource != "" {
				words += "/" + n.Subresource
			}
			all = append(all, words)
		}
	}
	return all, nil
}
