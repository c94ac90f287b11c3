package load

import (
	"encoding/json"
	"fmt"

	"replab.dev/internal/dataset"
	"replab.dev/internal/wire"
)

const (
	searchPrefixes  = 50
	defaultMaxUsers = 100
)

// config is the JSON document that tells the built-in script what to do.
func config(in Input) (string, error) {
	mix := in.Load.Mix
	users, err := dataset.New(in.Dataset.Seed, in.Dataset.Locale)
	if err != nil {
		return "", err
	}
	c := wire.LoadConfig{
		Mix:      map[string]int{wire.OperationRegister: int(mix.Register), "profile": int(mix.Profile), "search": int(mix.Search), "login": int(mix.Login)},
		Users:    in.Dataset.Users,
		Prefixes: users.Prefixes(searchPrefixes),
	}
	var start int64
	for _, s := range in.Load.Stages {
		stage := wire.LoadStage{
			Name: s.Name, StartSeconds: start, DurationSeconds: s.DurationSeconds,
			Users: s.Users, SpawnPerSecond: s.SpawnPerSecond, RequestsPerSecond: s.RequestsPerSecond, MaxUsers: s.MaxUsers,
		}
		if stage.RequestsPerSecond > 0 && stage.MaxUsers == 0 {
			stage.MaxUsers = defaultMaxUsers
		}
		c.Stages = append(c.Stages, stage)
		start += s.DurationSeconds
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("load configuration: %w", err)
	}
	return string(text), nil
}
