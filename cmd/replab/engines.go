package main

import (
	"reflect"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/audit"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/lag"
	"replab.dev/internal/recorder"
	"replab.dev/internal/seed"
	"replab.dev/internal/social"
)

// roles are what one engine implements. One that it has no use for is left out.
type roles struct {
	server  engine.Server
	starter engine.Starter
	local   engine.Local
	admin   engine.OpenAdmin
	store   social.Open
	loader  seed.Open
	reader  audit.Open
	probed  recorder.Engine
}

// engines are all that this binary knows, by their names in spec.topology.engine: a new one is one line here.
var engines = map[v1alpha1.Engine]roles{
	v1alpha1.EngineMySQL: {
		server: mysql.Server{}, starter: mysql.Server{}, local: mysql.Server{}, admin: mysql.OpenAdmin,
		store: social.Opens(mysql.NewStore), loader: seed.Opens(mysql.NewLoader),
		reader: audit.Opens(mysql.OpenReader),
		probed: recorder.Engine{
			Lag: lag.Opens(mysql.NewLag), Commits: recorder.Counts(mysql.NewCounters), Group: recorder.Counts(mysql.NewGroupCounters),
			Inspector: mysql.NewInspector,
		},
	},
	v1alpha1.EngineMariaDB: {
		server: mariadb.Server{}, starter: mariadb.Server{}, local: mariadb.Server{}, admin: mariadb.OpenAdmin,
		store: social.Opens(mariadb.NewStore), loader: seed.Opens(mariadb.NewLoader),
		reader: audit.Opens(mariadb.OpenReader),
		probed: recorder.Engine{
			Lag: lag.Opens(mariadb.NewLag), Commits: recorder.Counts(mariadb.NewCounters), Group: recorder.Counts(mariadb.NewGroupCounters),
			Inspector: mariadb.NewInspector,
		},
	},
	v1alpha1.EnginePostgreSQL: { // Patroni does what an admin would
		server: postgres.Server{}, starter: postgres.Server{}, local: postgres.Server{},
		store: social.Opens(postgres.NewStore), loader: seed.Opens(postgres.NewLoader),
		reader: audit.Opens(postgres.OpenReader),
		probed: recorder.Engine{
			Lag: lag.Opens(postgres.NewLag), Commits: recorder.Counts(postgres.NewCounters), Inspector: postgres.NewInspector,
		},
	},
}

// Each role in all engines, as the processes ask for it.
var (
	servers  = pick(func(r roles) engine.Server { return r.server })
	starters = pick(func(r roles) engine.Starter { return r.starter })
	locals   = pick(func(r roles) engine.Local { return r.local })
	admins   = pick(func(r roles) engine.OpenAdmin { return r.admin })
	stores   = pick(func(r roles) social.Open { return r.store })
	loaders  = pick(func(r roles) seed.Open { return r.loader })
	readers  = pick(func(r roles) audit.Open { return r.reader })
	probes   = pick(func(r roles) recorder.Engine { return r.probed })
)

// pick looks one role up in all engines that have it.
func pick[Role any](of func(roles) Role) engine.Lookup[Role] {
	l := engine.Lookup[Role]{}
	for name, r := range engines {
		if role := of(r); !reflect.ValueOf(&role).Elem().IsZero() {
			l[string(name)] = role
		}
	}
	return l
}
