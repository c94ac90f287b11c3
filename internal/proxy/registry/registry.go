// Package registry is the list of proxies that this operator knows.
package registry

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/proxy"
	"replab.dev/internal/proxy/direct"
	"replab.dev/internal/proxy/haproxy"
	"replab.dev/internal/proxy/proxysql"
)

var drivers = map[v1alpha1.Proxy]proxy.Driver{
	v1alpha1.ProxyHAProxy:  haproxy.Driver{},
	v1alpha1.ProxyProxySQL: proxysql.Driver{},
	v1alpha1.ProxyNone:     direct.Driver{},
}

// For returns the driver of a proxy. The CRD refuses those without one; the error is for a CRD newer than the operator.
func For(name v1alpha1.Proxy) (proxy.Driver, error) {
	if d, ok := drivers[name]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("routing.proxy %s is not supported by this operator: upgrade the operator, or use one that it knows", name)
}
