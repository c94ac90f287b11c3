package plan

import (
	"cmp"
	"fmt"

	"replab.dev/api/v1alpha1"
	proxies "replab.dev/internal/proxy/registry"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/wire"
)

// Images resolves the images of an experiment: its own, or else the catalogue's.
func Images(spec *v1alpha1.ReplicationExperimentSpec, catalogue wire.Images) (v1alpha1.ImagesStatus, error) {
	t, engine := spec.Topology, string(registry.Engine(spec.Topology))
	usual := catalogue.Servers[engine]
	if registry.Special(t) {
		usual = ""
	}
	usual = cmp.Or(catalogue.Servers[string(t.Type)+"/"+engine], usual)
	if provider := registry.Provider(t); provider != "" { // it wants an image that understands what it says, which one for the type need not
		usual = cmp.Or(catalogue.Servers[provider+"/"+engine], usual)
	}
	images := v1alpha1.ImagesStatus{
		Replab: catalogue.Replab, PullPolicy: catalogue.PullPolicy,
		Server: cmp.Or(string(t.Image), usual),
		Proxy:  cmp.Or(string(spec.Routing.Image), catalogue.Proxies[string(spec.Routing.Proxy)]),
		K6:     cmp.Or(string(spec.Load.Image), catalogue.K6),
	}
	routing, err := proxies.For(spec.Routing.Proxy)
	switch {
	case err != nil:
		return images, err
	case images.Server == "":
		return images, fmt.Errorf("the operator's catalogue has no image of %s for topology.type %s: set topology.image, or images.servers in the operator's configuration", engine, t.Type)
	case images.Proxy == "" && routing.Traits().NeedsImage:
		return images, fmt.Errorf("the operator's catalogue has no image for routing.proxy %s: set routing.image, or images.proxies in the operator's configuration", spec.Routing.Proxy)
	}
	return images, nil
}
