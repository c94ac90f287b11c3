package validation

import (
	"fmt"

	"replab.dev/api/v1alpha1"
)

// routing: proxies that cannot serve the topology, and settings of another proxy.
func routing(s *spec) {
	r := s.Routing
	proxySQL := r.Proxy == v1alpha1.ProxyProxySQL
	all := r.Writes == v1alpha1.WritesAll
	s.refuse(proxySQL && s.postgres(), at("routing.proxy"), "ProxySQL does not speak PostgreSQL's protocol. Use HAProxy or None.")
	s.refuse(proxySQL && s.dualPrimary() && !all, at("routing.proxy"),
		"ProxySQL writes to every writable server, and DualPrimary has two. Set routing.writes to All, or use HAProxy.")
	s.refuse(r.Proxy == v1alpha1.ProxyNone && s.galera(), at("routing.proxy"), "members of Galera show their roles to a proxy only. Use HAProxy or ProxySQL.")
	s.refuse(r.Proxy == v1alpha1.ProxyNone && s.dualPrimary(), at("routing.proxy"), "without a proxy nothing chooses one of two primaries. Use HAProxy, or ProxySQL with routing.writes All.")
	s.refuse(all && !s.dualPrimary() && !s.galera(), at("routing.writes"), "All needs nodes that all take writes, as with type Galera. Use Primary.")
	s.refuse(r.ProxySQL != nil && !proxySQL, at("routing.proxySQL"), "these settings belong to proxy ProxySQL. Remove them, or set routing.proxy to ProxySQL.")
	if r.Proxy == v1alpha1.ProxyNone {
		standard := v1alpha1.RoutingCheck{IntervalMilliseconds: 250, Fall: 2, Rise: 1}
		s.refuse(r.Check != standard && r.Check != v1alpha1.RoutingCheck{}, at("routing.check"), "no proxy makes these checks. Remove them, or set routing.proxy to HAProxy or ProxySQL.")
		s.refuse(r.Image != "", at("routing.image"), "this is a proxy's image, and there is none. Remove it, or set routing.proxy to HAProxy or ProxySQL.")
		return
	}
	s.refuse(proxySQL && r.Check.IntervalMilliseconds < 100, at("routing.check.intervalMilliseconds"), "ProxySQL cannot check more often. Use at least 100.")
	s.refuse(proxySQL && r.Check.Rise > 1, at("routing.check.rise"), "ProxySQL believes a single good check. Set 1, or use HAProxy.")
	s.refuse(proxySQL && r.Check.Fall > 10, at("routing.check.fall"), "ProxySQL counts at most 10 failed checks. Use 10 or less, or HAProxy.")
	seconds := s.Load.Seconds()
	s.refuse(r.Check.IntervalMilliseconds*int64(r.Check.Fall) > seconds*1000, at("routing.check"),
		fmt.Sprintf("the proxy would notice a lost node after the load, which takes %d s. Lower intervalMilliseconds or fall.", seconds))
}
