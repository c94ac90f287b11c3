// Package wire holds what replab's processes say to each other: ports, paths, headers, configuration files and the
// documents that instruments leave behind. It is types and constants alone, so that every process may import it.
//
// Each process is started as `replab <subcommand> --config /etc/replab/<subcommand>.json`; the file is one of the
// Config types below. Passwords are never in it: they are files in SecretsDir, one per account, named as the account.
// Every time in a document is wall-clock time of the process that wrote it, in UTC with microseconds; every duration
// was taken from that process's monotonic clock.
package wire

// Where the plan mounts things into every pod of an experiment.
const (
	ConfigDir  = "/etc/replab"         // one file per process, see the Config types
	SecretsDir = "/etc/replab-secrets" // one file per account: its password; and AgentTokenFile
	BinDir     = "/opt/replab"         // where the init container copies the static binary to: BinDir/replab
)

// AgentTokenFile holds the bearer token that every request changing something must carry:
// agent POST/PUT/DELETE, director POST, recorder control POST.
const AgentTokenFile = "token"

// Accounts of the database, each a file in SecretsDir with its password.
const (
	AccountAdmin       = "replab_admin"       // agent (socket) and director: everything
	AccountReplication = "replab_replication" // replicas, and the donor side of a clone
	AccountApp         = "social"             // the social app and the seeder: everything on database Database
	AccountProbe       = "replab_probe"       // recorder and audit: reads Database, inserts into ProbeTable
	AccountMonitor     = "replab_monitor"     // a proxy that asks the servers itself: it may connect, and nothing else
)

// Accounts lists every database account of an experiment.
func Accounts() []string {
	return []string{AccountAdmin, AccountReplication, AccountApp, AccountProbe, AccountMonitor}
}

// Ports of an experiment's processes.
const (
	PortAgent           = 8300
	PortDirector        = 8400
	PortSocial          = 8080
	PortRecorder        = 8090 // the front door of the app
	PortRecorderControl = 8091
	PortK6              = 6565 // k6's own REST API
	PortMeasure         = 8310 // beside a program that does not tell what it uses
	PortProxyWrites     = 3306
	PortProxyReads      = 3307
	PortProxyStats      = 8404
	PortMetrics         = 8085 // of every process that lasts: GET MetricsPath, and nothing else
)

// Endpoint is host:port of a SQL server or of a proxy in front of some.
type Endpoint struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// Node is one database node as the other processes see it.
type Node struct {
	Name string `json:"name"` // the pod's name, by which its server knows itself
	Host string `json:"host"` // a DNS name that resolves whether or not the node is ready
}
