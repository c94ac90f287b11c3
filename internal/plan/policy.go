package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// OperatorLabels select the operator's pods in its namespace.
var OperatorLabels = map[string]string{"app.kubernetes.io/name": "replab", kube.LabelComponent: kube.ComponentOperator}

// door is a port of a component, and its clients. Port 0 is every port.
type door struct {
	port int
	from []string
}

// doors are the open ports of each component. The load runs users' scripts, so it reaches the recorder alone.
func (b *builder) doors() map[string][]door {
	routes := b.system.Routes
	manager, watching := b.manager(), []string{kube.ComponentRecorder, kube.ComponentOperator}
	node := []door{
		{0, []string{kube.ComponentNode}},
		{routes.Port, slices.Concat(manager, []string{kube.ComponentProxy, kube.ComponentSocial, kube.ComponentRecorder, kube.ComponentSeed, kube.ComponentAudit})},
		{routes.CheckPort, []string{kube.ComponentProxy}},
		{wire.PortAgent, slices.Concat(manager, watching)},
	}
	if b.system.Inspects {
		node = append(node, door{wire.PortAgent, []string{kube.ComponentAudit}})
	}
	if routes.CheckPort != wire.PortAgent { // what tells roles in the agents' place is asked for more than them
		node = append(node, door{routes.CheckPort, watching})
	}
	doors := map[string][]door{
		kube.ComponentNode:    node,
		kube.ComponentManager: {{wire.PortDirector, []string{kube.ComponentRecorder, kube.ComponentOperator}}},
		kube.ComponentProxy: {
			{wire.PortProxyWrites, []string{kube.ComponentSocial, kube.ComponentRecorder, kube.ComponentSeed}},
			{wire.PortProxyReads, []string{kube.ComponentSocial}},
			{wire.PortMeasure, []string{kube.ComponentRecorder}},
		},
		kube.ComponentSocial: {{wire.PortSocial, []string{kube.ComponentRecorder}}},
		kube.ComponentRecorder: {
			{wire.PortRecorder, []string{kube.ComponentLoad}},
			{wire.PortRecorderControl, []string{kube.ComponentAudit, kube.ComponentOperator}},
		},
		kube.ComponentLoad:  {{wire.PortK6, []string{kube.ComponentOperator}}, {wire.PortMeasure, []string{kube.ComponentRecorder}}},
		kube.ComponentSeed:  nil,
		kube.ComponentAudit: nil,
	}
	if b.spec.App.Zone != "" && len(b.spec.Topology.Links) > 0 {
		// No process listens there: nodes measure the round trip by the refusal.
		measured := door{wire.PortAgent, []string{kube.ComponentNode}}
		doors[kube.ComponentProxy] = append(doors[kube.ComponentProxy], measured)
		doors[kube.ComponentSocial] = append(doors[kube.ComponentSocial], measured)
	}
	return doors
}

// manager is the component that drives the nodes from a pod of its own, none where they agree among themselves.
func (b *builder) manager() []string {
	if slices.ContainsFunc(b.system.Objects, func(o kube.Object) bool {
		pod := template(o)
		return pod != nil && pod.Labels[kube.LabelComponent] == kube.ComponentManager
	}) {
		return []string{kube.ComponentManager}
	}
	return nil
}

// policies close all other ports. An operator outside of the cluster makes none, since they would exclude it.
func (b *builder) policies() []kube.Object {
	if b.operatorNamespace == "" {
		return nil
	}
	doors := b.doors()
	var policies []kube.Object
	for _, component := range []string{
		kube.ComponentNode, kube.ComponentManager, kube.ComponentProxy, kube.ComponentSocial,
		kube.ComponentRecorder, kube.ComponentLoad, kube.ComponentSeed, kube.ComponentAudit,
	} {
		meta := kube.Meta(b.Namespace, b.Name+"-"+component, component, b.Labels)
		policy := &networkingv1.NetworkPolicy{ObjectMeta: meta, Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: kube.Selector(meta)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		}}
		for _, d := range doors[component] {
			policy.Spec.Ingress = append(policy.Spec.Ingress, b.ingress(d))
		}
		switch component {
		case kube.ComponentNode:
			policy.Spec.Ingress = append(policy.Spec.Ingress, guests(b.system.Guests)...)
		case kube.ComponentLoad:
			policy.Spec.Ingress = append(policy.Spec.Ingress, guests(b.loadGuests())...)
		}
		policy.Spec.Ingress = append(policy.Spec.Ingress, guests(b.readers(component))...)
		policies = append(policies, policy)
	}
	return policies
}

// readers of a component's metrics. Beside these there is nothing at their port.
func (b *builder) readers(component string) []topology.Guest {
	port := wire.PortMetrics
	switch {
	case b.prometheus == nil, component == kube.ComponentLoad, component == kube.ComponentProxy && !b.proxyTraits.Metrics:
		return nil
	case component == kube.ComponentProxy:
		port = wire.PortProxyStats
	}
	return []topology.Guest{{Namespace: b.prometheus.Namespace, Labels: b.prometheus.PodLabels, Ports: []int{port}}}
}

func (b *builder) ingress(d door) networkingv1.NetworkPolicyIngressRule {
	var rule networkingv1.NetworkPolicyIngressRule
	if d.port != 0 {
		rule.Ports = []networkingv1.NetworkPolicyPort{{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt(d.port))}}
	}
	for _, component := range d.from {
		rule.From = append(rule.From, b.peer(component))
	}
	return rule
}

// guests are pods of other namespaces.
func guests(all []topology.Guest) []networkingv1.NetworkPolicyIngressRule {
	var rules []networkingv1.NetworkPolicyIngressRule
	for _, g := range all {
		rule := networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: g.Namespace}},
			PodSelector:       &metav1.LabelSelector{MatchLabels: g.Labels},
		}}}
		for _, port := range g.Ports {
			rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt(port))})
		}
		rules = append(rules, rule)
	}
	return rules
}

func (b *builder) peer(component string) networkingv1.NetworkPolicyPeer {
	if component == kube.ComponentOperator {
		return networkingv1.NetworkPolicyPeer{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: b.operatorNamespace}},
			PodSelector:       &metav1.LabelSelector{MatchLabels: OperatorLabels},
		}
	}
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
		kube.LabelExperiment: b.Name, kube.LabelComponent: component,
	}}}
}
