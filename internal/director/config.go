package director

import (
	"errors"
	"fmt"

	"replab.dev/internal/wire"
)

// validate names everything in a configuration that the director could not work with.
func validate(cfg wire.DirectorConfig) error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for field, value := range map[string]int64{
		"probeMilliseconds": cfg.ProbeMilliseconds, "timeoutMilliseconds": cfg.TimeoutMilliseconds,
		"failureThreshold": int64(cfg.FailureThreshold), "leaseMilliseconds": cfg.LeaseMilliseconds,
		"catchUpMilliseconds": cfg.CatchUpMilliseconds, "rejoinMaxMilliseconds": cfg.RejoinMaxMilliseconds,
	} {
		if value <= 0 {
			refuse("%s is %d and must be above 0", field, value)
		}
	}
	if least := cfg.ProbeMilliseconds + cfg.TimeoutMilliseconds; cfg.LeaseMilliseconds > 0 && cfg.LeaseMilliseconds < least {
		refuse("leaseMilliseconds is %d: one look that takes its whole time would outlast it; at least %d (probeMilliseconds + timeoutMilliseconds)",
			cfg.LeaseMilliseconds, least)
	}
	if cfg.Port <= 0 {
		refuse("port is %d; name the port of the nodes' servers", cfg.Port)
	}
	if len(cfg.Nodes) == 0 {
		refuse("nodes is empty; name at least one")
	}
	names := map[string]bool{}
	for _, n := range cfg.Nodes {
		if n.Name == "" || n.Host == "" || names[n.Name] {
			refuse("node %q at %q: every node needs a host and a name of its own", n.Name, n.Host)
		}
		names[n.Name] = true
	}
	if s := cfg.SemiSync; s != nil && (s.AckReplicas < 1 || s.AckReplicas >= len(cfg.Nodes)) {
		refuse("semiSync.ackReplicas is %d; with %d nodes it must be 1 to %d", s.AckReplicas, len(cfg.Nodes), len(cfg.Nodes)-1)
	}
	return errors.Join(problems...)
}
