package recorder

import (
	"regexp"
	"sync/atomic"
)

// k6Agent is how k6 names itself in the header User-Agent, in all versions: k6/1.8.1, with words around it.
var k6Agent = regexp.MustCompile(`(?:^|\s)k6/v?([0-9][0-9A-Za-z.+-]{0,63})`)

// generator is the version of k6 that makes the load, by what its first request says that names one.
type generator struct{ version atomic.Pointer[string] }

func (g *generator) saw(userAgent string) {
	if g.version.Load() != nil {
		return
	}
	if found := k6Agent.FindStringSubmatch(userAgent); found != nil {
		g.version.CompareAndSwap(nil, &found[1])
	}
}

// name is "" when no request has named one, such as those of a script that names itself otherwise.
func (g *generator) name() string {
	if v := g.version.Load(); v != nil {
		return *v
	}
	return ""
}
