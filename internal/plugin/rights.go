package plugin

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plugin/doctor"
)

// needed is what no command does without in a namespace.
var needed = []authorizationv1.ResourceAttributes{
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "get"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "list"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "create"},
	{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "patch"},
	{Resource: "configmaps", Verb: "get"},
}

// useful is what some commands do beside, and what is not to be had without it.
var useful = []struct {
	without string
	right   authorizationv1.ResourceAttributes
}{
	{"--replace", authorizationv1.ResourceAttributes{Group: v1alpha1.GroupVersion.Group, Resource: "replicationexperiments", Verb: "delete"}},
	{"scripts of k6 in the files of run", authorizationv1.ResourceAttributes{Resource: "configmaps", Verb: "create"}},
	{"scripts of k6 in the files of run", authorizationv1.ResourceAttributes{Resource: "configmaps", Verb: "patch"}},
	{"live figures", authorizationv1.ResourceAttributes{Resource: "services", Subresource: "proxy", Verb: "get"}},
	{"logs", authorizationv1.ResourceAttributes{Resource: "pods", Verb: "list"}},
	{"logs", authorizationv1.ResourceAttributes{Resource: "pods", Subresource: "log", Verb: "get"}},
}

// denied notes what the person may not do.
func (c Cluster) denied(ctx context.Context, f *doctor.Facts) (err error) {
	if f.Denied, err = c.refused(ctx, needed...); err != nil {
		return err
	}
	for _, u := range useful {
		refused, err := c.refused(ctx, u.right)
		if err != nil {
			return err
		}
		for _, right := range refused {
			f.DeniedUseful = append(f.DeniedUseful, doctor.Denied{Right: right, Without: u.without})
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
