package api_test

import (
	"slices"
	"strings"
)

// withFault is an experiment with replicas and one fault.
func withFault(fault string) string {
	return `{spec: {topology: {type: Async, replicas: 2}, faults: [` + fault + `]}}`
}

// ruleCases break the rules of the CRD, each in its own way.
var ruleCases = slices.Concat(shapeCases, runShapeCases, topologySenseCases, distanceCases, withoutDistanceCases, podsSenseCases, loadSenseCases, faultSenseCases, patroniCases, togetherCases, heldCases, lostCases, namedCases, goalSenseCases)

// shapeCases are of the topology and the way to it: fields that do not go together, or not with this version.
var shapeCases = []ruleCase{
	{
		name:    "a name too long for the names of its objects",
		refused: `{metadata: {name: ` + strings.Repeat("a", 41) + `}}`, says: "metadata.name names every object",
		neighbour: `{metadata: {name: ` + strings.Repeat("a", 40) + `}}`,
	},
	{
		name:    "a name that no Service can have",
		refused: `{metadata: {name: 2nd}}`, says: "metadata.name also names Services",
		neighbour: `{metadata: {name: second}}`,
	},
	{
		name:    "a name with a dot",
		refused: `{metadata: {name: v1.2}}`, says: "metadata.name also names Services",
		neighbour: `{metadata: {name: v1-2}}`,
	},
	{
		name:    "an experiment as its own baseline",
		refused: `{spec: {baseline: {name: minimal}}}`, says: "spec.baseline.name is the experiment itself",
		neighbour: `{spec: {baseline: {name: single}}}`,
	},
	{
		name:    "a type of topology that comes later",
		refused: `{spec: {topology: {type: DualPrimary, replicas: 1}}}`, says: "topology.type is not supported by this version: use Single, Async, SemiSync, Galera or Patroni",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2}}}`,
	},
	{
		name:    "Galera without failover",
		refused: `{spec: {topology: {type: Galera, replicas: 2, failover: None}}}`, says: "topology.failover None is not for type Galera",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, failover: Automatic}}}`,
	},
	{
		name:    "a suspect timeout below what members can keep",
		refused: `{spec: {topology: {type: Galera, replicas: 2, galera: {suspectTimeoutMilliseconds: 499}}}}`, says: "topology.galera.suspectTimeoutMilliseconds must be 0",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, galera: {suspectTimeoutMilliseconds: 500}}}}`,
	},
	{
		name:    "a send window that has no room for a commit",
		refused: `{spec: {topology: {type: Galera, replicas: 2, galera: {sendWindowPackets: 1}}}}`, says: "topology.galera.sendWindowPackets must be 0",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, galera: {sendWindowPackets: 2}}}}`,
	},
	{
		name:    "Galera without a proxy",
		refused: `{spec: {topology: {type: Galera, replicas: 2}, routing: {proxy: None}}}`, says: "routing.proxy None is not for topology.type Galera",
		neighbour: `{spec: {topology: {type: Async, replicas: 2}, routing: {proxy: None}}}`,
	},
	{
		name:    "Patroni with an engine that it does not run",
		refused: `{spec: {topology: {type: Patroni, replicas: 1, engine: MySQL}}}`, says: "topology.type Patroni runs PostgreSQL only",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, engine: PostgreSQL}}}`,
	},
	{
		name:    "Galera with PostgreSQL",
		refused: `{spec: {topology: {type: Galera, replicas: 2, engine: PostgreSQL}}}`, says: "topology.type SemiSync, DualPrimary and Galera run MySQL or MariaDB",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, engine: MySQL}}}`,
	},
	{
		name:    "a single server with replicas",
		refused: `{spec: {topology: {type: Single, replicas: 1}}}`, says: "topology.type Single has no replicas",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}}}`,
	},
	{
		name:    "replication without replicas",
		refused: `{spec: {topology: {type: Async}}}`, says: "topology.replicas must be at least 1 for this type",
		neighbour: `{spec: {topology: {type: Single}}}`,
	},
	{
		name:    "a primary whose only other one is missing",
		refused: `{spec: {topology: {type: DualPrimary}}}`, says: "topology.replicas must be at least 1 for this type",
		neighbour: `{spec: {topology: {type: Galera}}}`,
	},
	{
		name:    "settings of semi-sync for another type",
		refused: `{spec: {topology: {type: Async, replicas: 2, semiSync: {ackReplicas: 1}}}}`, says: "topology.semiSync belongs to type SemiSync",
		neighbour: `{spec: {topology: {type: SemiSync, replicas: 2, semiSync: {ackReplicas: 1}}}}`,
	},
	{
		name:    "more acknowledging replicas than replicas",
		refused: `{spec: {topology: {type: SemiSync, replicas: 2, semiSync: {ackReplicas: 3}}}}`, says: "topology.semiSync.ackReplicas must not exceed topology.replicas",
		neighbour: `{spec: {topology: {type: SemiSync, replicas: 2, semiSync: {ackReplicas: 2}}}}`,
	},
	{
		name:    "more acknowledging replicas than MariaDB waits for",
		refused: `{spec: {topology: {type: SemiSync, engine: MariaDB, replicas: 2, semiSync: {ackReplicas: 2}}}}`, says: "topology.semiSync.ackReplicas must be 1 with MariaDB",
		neighbour: `{spec: {topology: {type: SemiSync, engine: MariaDB, replicas: 2, semiSync: {ackReplicas: 1}}}}`,
	},
	{
		name:    "settings of Patroni for another type",
		refused: `{spec: {topology: {patroni: {provider: StatefulSet}}}}`, says: "topology.patroni belongs to type Patroni",
		neighbour: `{spec: {topology: {type: Patroni, replicas: 1, patroni: {provider: StatefulSet}}}}`,
	},
	{
		name:    "settings of Galera for another type",
		refused: `{spec: {topology: {galera: {syncWait: 1}}}}`, says: "topology.galera belongs to type Galera",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, galera: {syncWait: 1}}}}`,
	},
	{
		name:    "settings of dual primary for another type",
		refused: `{spec: {topology: {dualPrimary: {semiSync: true}}}}`, says: "topology.dualPrimary belongs to type DualPrimary",
		neighbour: `{spec: {topology: {type: DualPrimary, replicas: 1, dualPrimary: {semiSync: true}}}}`, unsupported: true,
	},
	{
		name:    "a parameter that would be another line of the configuration file",
		refused: `{spec: {topology: {parameters: {"max_connections=1\n[mysqld]": "1"}}}}`, says: "topology.parameters has a name that is none",
		neighbour: `{spec: {topology: {parameters: {max_connections: "1"}}}}`,
	},
	{
		name:    "a parameter in capitals",
		refused: `{spec: {topology: {parameters: {Max_Connections: "1"}}}}`, says: "topology.parameters has a name that is none",
		neighbour: `{spec: {topology: {parameters: {max-connections: "1"}}}}`,
	},
	{
		name:    "a value of two lines",
		refused: `{spec: {topology: {parameters: {sql_mode: "ANSI\nautocommit=0"}}}}`, says: "topology.parameters has a value that cannot be written",
		neighbour: `{spec: {topology: {parameters: {sql_mode: "ANSI"}}}}`,
	},
	{
		name:    "a value longer than a line should be",
		refused: `{spec: {topology: {parameters: {sql_mode: "` + strings.Repeat("x", 501) + `"}}}}`, says: "topology.parameters has a value that cannot be written",
		neighbour: `{spec: {topology: {parameters: {sql_mode: "` + strings.Repeat("x", 500) + `"}}}}`,
	},
	{
		name:    "a parameter that replab sets, written with hyphens",
		refused: `{spec: {topology: {parameters: {super-read-only: "0"}}}}`, says: "topology.parameters[] cannot be set, since replab itself depends on it",
		neighbour: `{spec: {topology: {parameters: {sync-frm: "0"}}}}`,
	},
	{
		name:    "a parameter that replab sets, written with underscores",
		refused: `{spec: {topology: {parameters: {gtid_mode: "OFF"}}}}`, says: "topology.parameters[] cannot be set, since replab itself depends on it",
		neighbour: `{spec: {topology: {parameters: {gtid_executed_compression_period: "0"}}}}`,
	},
	{
		name:    "a parameter that hides from the log what replab reads there",
		refused: `{spec: {topology: {parameters: {log_error_verbosity: "1"}}}}`, says: "topology.parameters[] cannot be set, since replab itself depends on it",
		neighbour: `{spec: {topology: {parameters: {log_slow_extra: "1"}}}}`,
	},
	{
		name:    "a parameter that topology.durability decides",
		refused: `{spec: {topology: {parameters: {sync_binlog: "0"}}}}`, says: "topology.parameters[] cannot be set, since it decides what a crash takes",
		neighbour: `{spec: {topology: {parameters: {max_binlog_size: "4096"}}}}`,
	},
	{
		name:    "a parameter that topology.semiSync decides",
		refused: `{spec: {topology: {parameters: {rpl_semi_sync_source_timeout: "1"}}}}`, says: "topology.parameters[] cannot be set, as all of rpl-semi-sync-*",
		neighbour: `{spec: {topology: {parameters: {rpl_read_size: "8192"}}}}`,
	},
	{
		name:    "a parameter that the server may pass over",
		refused: `{spec: {topology: {parameters: {loose-max_connections: "1"}}}}`, says: "topology.parameters[] cannot begin with loose-",
		neighbour: `{spec: {topology: {parameters: {skip-name-resolve: "OFF"}}}}`,
	},
	{
		name:    "a replication filter",
		refused: `{spec: {topology: {parameters: {replicate_do_db: "x"}}}}`, says: "topology.parameters[] cannot be set, as all replication filters",
		neighbour: `{spec: {topology: {parameters: {replica_parallel_workers: "8"}}}}`,
	},
	{
		name:    "a setting of the group for MariaDB, whose engine goes without saying",
		refused: `{spec: {topology: {type: Galera, replicas: 2, parameters: {wsrep_slave_threads: "4"}}}}`, says: "topology.parameters[] cannot be set with MariaDB, as all of wsrep*",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, parameters: {table_open_cache: "4000"}}}}`,
	},
	{
		name:    "a second protocol for MySQL",
		refused: `{spec: {topology: {parameters: {skip-mysqlx: "ON"}}}}`, says: "topology.parameters[] cannot be set with MySQL, as all of group-replication*",
		neighbour: `{spec: {topology: {engine: MariaDB, parameters: {skip-name-resolve: "ON"}}}}`,
	},
	{
		name:    "a lease that ends before its primary counts as lost",
		refused: `{spec: {topology: {director: {lookMilliseconds: 1000, looksToDetect: 4, leaseMilliseconds: 4999}}}}`, says: "topology.director.leaseMilliseconds must be at least",
		neighbour: `{spec: {topology: {director: {lookMilliseconds: 1000, looksToDetect: 4, leaseMilliseconds: 5000}}}}`,
	},
	{
		name:    "a director where others manage the nodes",
		refused: `{spec: {topology: {type: Galera, replicas: 2, director: {looksToDetect: 2}}}}`, says: "topology.director belongs to types",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, director: {looksToDetect: 3}}}}`,
	},
	{
		name:    "a storage class for memory",
		refused: `{spec: {topology: {storage: {medium: Memory, className: fast}}}}`, says: "topology.storage.className belongs to medium VolumeClaim",
		neighbour: `{spec: {topology: {storage: {medium: VolumeClaim, className: fast}}}}`,
	},
	{
		name:    "ProxySQL in front of PostgreSQL",
		refused: `{spec: {topology: {type: Async, replicas: 1, engine: PostgreSQL}, routing: {proxy: ProxySQL}}}`, says: "routing.proxy ProxySQL speaks MySQL's protocol alone",
		neighbour: `{spec: {topology: {type: Async, replicas: 1, engine: MySQL}, routing: {proxy: ProxySQL}}}`,
	},
	{
		name:    "ProxySQL in front of Patroni, whose engine goes without saying",
		refused: `{spec: {topology: {type: Patroni, replicas: 1}, routing: {proxy: ProxySQL}}}`, says: "routing.proxy ProxySQL speaks MySQL's protocol alone",
		neighbour: `{spec: {topology: {type: Async, replicas: 1}, routing: {proxy: ProxySQL}}}`,
	},
	{
		name:    "ProxySQL to choose one of two primaries",
		refused: `{spec: {topology: {type: DualPrimary, replicas: 1}, routing: {proxy: ProxySQL}}}`, says: "routing.proxy ProxySQL sends writes to every server that is writable",
		neighbour: `{spec: {topology: {type: DualPrimary, replicas: 1}, routing: {proxy: ProxySQL, writes: All}}}`, unsupported: true,
	},
	{
		name:    "settings of another proxy",
		refused: `{spec: {routing: {proxySQL: {queryRetries: 1}}}}`, says: "routing.proxySQL belongs to routing.proxy ProxySQL",
		neighbour: `{spec: {routing: {proxy: ProxySQL, proxySQL: {queryRetries: 1}}}}`,
	},
	{
		name:    "an image of no proxy",
		refused: `{spec: {routing: {proxy: None, image: "haproxy:3.2"}}}`, says: "routing.image belongs to a proxy",
		neighbour: `{spec: {routing: {image: "haproxy:3.2"}}}`,
	},
	{
		name:    "checks that are too quick for ProxySQL",
		refused: `{spec: {routing: {proxy: ProxySQL, check: {intervalMilliseconds: 99}}}}`, says: "routing.check.intervalMilliseconds is below what ProxySQL can do",
		neighbour: `{spec: {routing: {proxy: ProxySQL, check: {intervalMilliseconds: 100}}}}`,
	},
	{
		name:    "good checks that ProxySQL does not count",
		refused: `{spec: {routing: {proxy: ProxySQL, check: {rise: 2}}}}`, says: "routing.check with routing.proxy ProxySQL",
		neighbour: `{spec: {routing: {proxy: ProxySQL, check: {fall: 10}}}}`,
	},
	{
		name:    "failed checks that ProxySQL does not count",
		refused: `{spec: {routing: {proxy: ProxySQL, check: {fall: 11}}}}`, says: "routing.check with routing.proxy ProxySQL",
		neighbour: `{spec: {routing: {check: {fall: 11}}}}`,
	},
}
