package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/process"
	proxies "replab.dev/internal/proxy/registry"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// TestTheCatalogueHasAnImageForEachTopologyAndNoOther reads what the operator is installed with; that the chart makes the same file
// is TestChartAndKustomizeMakeTheSameObjects.
func TestTheCatalogueHasAnImageForEachTopologyAndNoOther(t *testing.T) {
	for _, folder := range []string{"manager", "public", "packages"} {
		var config wire.OperatorConfig
		if err := process.LoadConfig(filepath.Join(experiment.Root(), "config", folder, "operator.json"), &config); err != nil {
			t.Fatal(err)
		}
		servers := slices.Collect(maps.Keys(config.Images.Servers))
		for key := range config.Images.Servers { // an image that names its key tells which one was looked up
			config.Images.Servers[key] = key
		}
		for _, s := range known(t) {
			images, err := plan.Images(&s, config.Images)
			if err != nil {
				t.Errorf("config/%s: %v", folder, err)
			}
			servers = slices.DeleteFunc(servers, func(key string) bool { return key == images.Server })
		}
		if len(servers) > 0 {
			t.Errorf("config/%s: no topology of this version looks up images.servers %q", folder, servers)
		}
		for key := range config.Images.Proxies {
			if driver, err := proxies.For(v1alpha1.Proxy(key)); err != nil || !driver.Traits().NeedsImage {
				t.Errorf("config/%s: no routing.proxy of this version looks up images.proxies %q", folder, key)
			}
		}
	}
}

// known are experiments of each type, engine, provider and proxy that this version has.
func known(t *testing.T) (all []v1alpha1.ReplicationExperimentSpec) {
	t.Helper()
	spec := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	for _, kind := range values(spec["topology"].Properties["type"].Enum) {
		for engine := range engines {
			topology := v1alpha1.TopologySpec{Type: v1alpha1.TopologyType(kind), Engine: engine}
			if _, err := registry.For(topology); err != nil {
				continue
			}
			for _, proxy := range values(spec["routing"].Properties["proxy"].Enum) {
				for _, provider := range values(spec["topology"].Properties["patroni"].Properties["provider"].Enum) {
					topology.Patroni = &v1alpha1.PatroniSpec{Provider: provider}
					all = append(all, v1alpha1.ReplicationExperimentSpec{
						Topology: topology, Routing: v1alpha1.RoutingSpec{Proxy: v1alpha1.Proxy(proxy)},
					})
				}
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("the CRD has no type of topology that the registry knows")
	}
	return all
}

// values of an enum.
func values(enum []apiextensionsv1.JSON) (names []string) {
	for _, v := range enum {
		names = append(names, strings.Trim(string(v.Raw), `"`))
	}
	return names
}
