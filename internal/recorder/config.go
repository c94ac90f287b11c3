package recorder

import (
	"errors"
	"fmt"
	"slices"

	"replab.dev/internal/wire"
)

// validate refuses a configuration under which figures would be attributed wrongly or not at all.
func validate(c wire.RecorderConfig) error {
	var problems []error
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for field, value := range map[string]string{
		"listen": c.Listen, "listenControl": c.ListenControl, "app.host": c.App.Host, "ledgerPath": c.LedgerPath,
		"secretDir": c.SecretDir, "namespace": c.Namespace, "stateMap": c.StateMap,
	} {
		if value == "" {
			refuse("%s is empty", field)
		}
	}
	if c.App.Port < 1 || c.App.Port > 65535 {
		refuse("app.port is %d, want 1 to 65535", c.App.Port)
	}
	if c.RequestTimeoutMilliseconds < 1 {
		refuse("requestTimeoutMilliseconds is %d, want at least 1", c.RequestTimeoutMilliseconds)
	}
	if c.LagIntervalMilliseconds < 0 || c.AvailabilityIntervalMilliseconds < 0 {
		refuse("a probe's interval is below 0; 0 turns the probe off")
	}
	var names []string
	for _, s := range c.Stages {
		if s.Name == "" || slices.Contains(names, s.Name) {
			refuse("stages: the name %q is empty or there twice", s.Name)
		}
		if s.DurationSeconds < 1 {
			refuse("stages: the duration of %q is %d s, want at least 1", s.Name, s.DurationSeconds)
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		refuse("stages: there is none")
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("the recorder's configuration: %w", errors.Join(problems...))
}
