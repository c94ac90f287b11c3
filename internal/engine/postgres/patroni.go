package postgres

import (
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// patroniFile is the name of Patroni's configuration file.
const patroniFile = "patroni.yml"

// restPort is where each Patroni answers.
const restPort = 8008

// Places in the configuration that differ between nodes and that the start wrapper fills in, beside @secret:ACCOUNT@.
const (
	placeNode    = "@node@"    // the node's name
	placeAddress = "@address@" // its IP address, as in a URL
)

// object is a mapping of a YAML document.
type object map[string]any

// patroniConfig is Patroni's configuration, the same on every node until its places are filled. What is below bootstrap.dcs goes to the store
// when the first node makes the data, and holds for all of them.
func patroniConfig(place engine.Place, s engine.Settings) string {
	m := *s.Manager
	text, _ := yaml.Marshal(object{
		"scope": m.Scope,
		"name":  placeNode,
		"log":   object{"type": "plain", "level": "INFO", "format": "%(asctime)s %(levelname)s: %(message)s"},
		"restapi": object{
			"listen":          "*:" + strconv.Itoa(restPort),
			"connect_address": placeAddress + ":" + strconv.Itoa(restPort),
			// For what changes something; everybody may ask.
			"authentication": object{"username": restUser, "password": secretOf(wire.AccountAdmin)},
		},
		"kubernetes": object{
			"namespace":          m.Namespace,
			"labels":             m.Labels,
			"scope_label":        m.ScopeLabel,
			"role_label":         m.RoleLabel,
			"leader_label_value": m.WriterValue, "follower_label_value": m.ReaderValue,
			"use_endpoints":      false,
			"bypass_api_service": false,
		},
		"bootstrap":  bootstrap(place, s),
		"postgresql": nodeConfig(place),
		"watchdog":   object{"mode": "off"},
	})
	return string(text) // texts, numbers and switches can always be written
}

func bootstrap(place engine.Place, s engine.Settings) object {
	store := decisions(*s.Manager)
	store["postgresql"] = object{
		"use_pg_rewind": true,
		"use_slots":     true,
		// A node that cannot be rewound becomes a new copy.
		"remove_data_directory_on_rewind_failure": true,
		"parameters": Parameters(s),
		"pg_hba":     AccessRules(wire.AccountReplication),
	}
	return object{
		"dcs":            store,
		"initdb":         initOptions(),
		"post_bootstrap": place.RunDir + "/" + firstFile,
	}
}

// decisions are the settings by which Patroni chooses the primary, and the standbys that commits wait for.
func decisions(m engine.Manager) object {
	return object{
		"ttl":                     seconds(m.TTL),
		"loop_wait":               seconds(m.LoopWait),
		"retry_timeout":           seconds(m.RetryTimeout),
		"maximum_lag_on_failover": m.MaxLagBytes,
		"primary_start_timeout":   seconds(m.PrimaryStartTimeout),
		"failsafe_mode":           m.Failsafe,
		"synchronous_mode":        synchronousModes[m.Synchronous],
		"synchronous_mode_strict": m.Strict,
		"synchronous_node_count":  max(m.NodeCount, 1),
	}
}

// Kept implements engine.Described: the settings by which Patroni decides.
func (Server) Kept(s engine.Settings) map[string]string {
	kept := map[string]string{}
	for name, value := range decisions(*s.Manager) {
		kept[name] = fmt.Sprint(value)
	}
	return kept
}

// synchronousModes are Patroni's words.
var synchronousModes = map[engine.SyncMode]any{engine.SyncOff: false, engine.SyncOn: true, engine.SyncQuorum: "quorum"}

// nodeConfig is of one node.
func nodeConfig(place engine.Place) object {
	account := func(name string) object { return object{"username": name, "password": secretOf(name)} }
	return object{
		"listen":          fmt.Sprintf("*:%d", place.Port),
		"connect_address": fmt.Sprintf("%s:%d", placeAddress, place.Port),
		"data_dir":        place.DataDir,
		"bin_name":        object{"pg_rewind": place.RunDir + "/" + rewindFile},
		"pgpass":          place.RunDir + "/" + passwordFile,
		"pre_promote":     place.RunDir + "/" + prePromoteFile,
		"use_unix_socket": true,
		// A copy begins at once. Else it begins with a checkpoint that takes minutes, so as to be no burden.
		"basebackup": object{"checkpoint": "fast"},
		// Copies and rewinds go by the network, as replication does.
		"use_unix_socket_repl":                        false,
		"remove_data_directory_on_diverged_timelines": false,
		"authentication":                              object{"superuser": account(wire.AccountAdmin), "replication": account(wire.AccountReplication)},
		"parameters":                                  OwnParameters(placeNode, place.RunDir),
	}
}

// initOptions are InitOptions as Patroni wants them.
func initOptions() []any {
	var list []any
	for _, o := range InitOptions() {
		if o.Value == "" {
			list = append(list, o.Name)
			continue
		}
		list = append(list, object{o.Name: o.Value})
	}
	return list
}

func secretOf(account string) string { return "@secret:" + account + "@" }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
