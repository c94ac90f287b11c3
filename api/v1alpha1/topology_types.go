package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// TopologySpec is the database under test.
//
// +kubebuilder:validation:XValidation:rule="self.type in ['Single', 'Async', 'SemiSync', 'Galera', 'Patroni']",fieldPath=".type",message="topology.type is not supported by this version: use Single, Async, SemiSync, Galera or Patroni"
// +kubebuilder:validation:XValidation:rule="!has(self.engine) || self.engine != 'MariaDB' || !has(self.semiSync) || self.semiSync.ackReplicas == 1",fieldPath=".semiSync.ackReplicas",message="topology.semiSync.ackReplicas must be 1 with MariaDB: its commits wait for one replica, whatever their number"
// +kubebuilder:validation:XValidation:rule="!has(self.failover) || self.type != 'Galera' || self.failover == 'Automatic'",fieldPath=".failover",message="topology.failover None is not for type Galera, whose members agree among themselves who takes the writes: remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.engine) || self.type != 'Patroni' || self.engine == 'PostgreSQL'",fieldPath=".engine",message="topology.type Patroni runs PostgreSQL only: set engine to PostgreSQL or leave it out"
// +kubebuilder:validation:XValidation:rule="!has(self.engine) || !(self.type in ['SemiSync', 'DualPrimary', 'Galera']) || self.engine != 'PostgreSQL'",fieldPath=".engine",message="topology.type SemiSync, DualPrimary and Galera run MySQL or MariaDB: use type Patroni for PostgreSQL"
// +kubebuilder:validation:XValidation:rule="self.type != 'Single' || self.replicas == 0",fieldPath=".replicas",message="topology.type Single has no replicas: leave replicas out, or use type Async or SemiSync"
// +kubebuilder:validation:XValidation:rule="self.type in ['Single', 'Galera'] || self.replicas > 0",fieldPath=".replicas",message="topology.replicas must be at least 1 for this type: use type Single for a server alone"
// +kubebuilder:validation:XValidation:rule="!has(self.semiSync) || self.type in ['SemiSync', 'DualPrimary']",fieldPath=".semiSync",message="topology.semiSync belongs to type SemiSync: remove it or change the type"
// +kubebuilder:validation:XValidation:rule="self.type != 'SemiSync' || !has(self.semiSync) || self.semiSync.ackReplicas <= self.replicas",fieldPath=".semiSync.ackReplicas",message="topology.semiSync.ackReplicas must not exceed topology.replicas: each commit would wait for its timeout"
// +kubebuilder:validation:XValidation:rule="!has(self.patroni) || self.type == 'Patroni' || (self.type in ['Single', 'Async'] && has(self.engine) && self.engine == 'PostgreSQL')",fieldPath=".patroni",message="topology.patroni belongs to type Patroni, and to types Single and Async with engine PostgreSQL: remove it or change the type"
// +kubebuilder:validation:XValidation:rule=`!has(self.patroni) || self.type == 'Patroni' || (self.patroni.synchronousMode == 'Off' && self.patroni.provider == 'StatefulSet')`,fieldPath=`.patroni`,message=`topology.patroni of types Single and Async has timings alone: write synchronousMode "Off" and provider StatefulSet, or use type Patroni`
// +kubebuilder:validation:XValidation:rule=`self.type != 'Patroni' || !has(self.patroni) || self.patroni.synchronousMode == 'Off' || self.patroni.synchronousNodeCount <= self.replicas`,fieldPath=`.patroni.synchronousNodeCount`,message=`topology.patroni.synchronousNodeCount must not exceed topology.replicas: Patroni would lower it without a word`
// +kubebuilder:validation:XValidation:rule=`self.durability != 'Volatile' || self.type != 'Patroni' || (has(self.patroni) && self.patroni.synchronousMode == 'Off')`,fieldPath=`.durability`,message=`topology.durability Volatile lets no commit of PostgreSQL wait for a standby either: use Full or Relaxed, or patroni.synchronousMode "Off"`
// +kubebuilder:validation:XValidation:rule=`!has(self.patroni) || self.patroni.provider != 'ZalandoOperator' || !has(self.links) || self.links.size() == 0`,fieldPath=`.links`,message=`topology.links need agents that may change the network of the nodes' pods, which they may not in those of the Zalando operator: remove them, or use patroni.provider StatefulSet`
// +kubebuilder:validation:XValidation:rule=`!has(self.patroni) || self.patroni.provider != 'ZalandoOperator' || self.storage.medium == 'VolumeClaim'`,fieldPath=`.storage.medium`,message=`topology.storage.medium must be VolumeClaim with patroni.provider ZalandoOperator, which makes nothing else: remove it, or use provider StatefulSet`
// +kubebuilder:validation:XValidation:rule=`!has(self.links) || !(self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !self.links.exists(l, l.roundTripMilliseconds > 500 && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))`,fieldPath=`.links`,message=`topology.links[] of nodes that Patroni runs must not exceed 500 ms: before one becomes the primary it asks the others, and gives each 2 s, its connection and all. Use a shorter link`,messageExpression=`'topology.links[' + self.links[self.links.indexOf(self.links.filter(l, l.roundTripMilliseconds > 500 && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))[0])].from + '-' + self.links[self.links.indexOf(self.links.filter(l, l.roundTripMilliseconds > 500 && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))[0])].to + '] of nodes that Patroni runs must not exceed 500 ms: before one becomes the primary it asks the others, and gives each 2 s, its connection and all. Use a shorter link'`
// +kubebuilder:validation:XValidation:rule=`!has(self.links) || self.type != 'Galera' || !self.links.exists(l, l.roundTripMilliseconds > (has(self.galera) && self.galera.suspectTimeoutMilliseconds > 0 && self.galera.suspectTimeoutMilliseconds < 1500 ? self.galera.suspectTimeoutMilliseconds / 5 : 300) && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))`,fieldPath=`.links`,message=`topology.links[] of type Galera must not exceed N ms: beyond 300 ms the agents of its members do not hear each other in time, and beyond a fifth of galera.suspectTimeoutMilliseconds the members themselves. Use a shorter link, a longer timeout, or another type`,messageExpression=`'topology.links[%s-%s] of type Galera must not exceed %d ms: beyond 300 ms the agents of its members do not hear each other in time, and beyond a fifth of galera.suspectTimeoutMilliseconds the members themselves. Use a shorter link, a longer timeout, or another type'.format([self.links[self.links.indexOf(self.links.filter(l, l.roundTripMilliseconds > (has(self.galera) && self.galera.suspectTimeoutMilliseconds > 0 && self.galera.suspectTimeoutMilliseconds < 1500 ? self.galera.suspectTimeoutMilliseconds / 5 : 300) && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))[0])].from, self.links[self.links.indexOf(self.links.filter(l, l.roundTripMilliseconds > (has(self.galera) && self.galera.suspectTimeoutMilliseconds > 0 && self.galera.suspectTimeoutMilliseconds < 1500 ? self.galera.suspectTimeoutMilliseconds / 5 : 300) && has(self.zones) && [l.from, l.to].all(name, self.zones.exists(z, z.name == name && z.nodes.size() > 0)))[0])].to, (has(self.galera) && self.galera.suspectTimeoutMilliseconds > 0 && self.galera.suspectTimeoutMilliseconds < 1500 ? self.galera.suspectTimeoutMilliseconds / 5 : 300)])`
// +kubebuilder:validation:XValidation:rule="!has(self.galera) || self.type == 'Galera'",fieldPath=".galera",message="topology.galera belongs to type Galera: remove it or change the type"
// +kubebuilder:validation:XValidation:rule="!has(self.dualPrimary) || self.type == 'DualPrimary'",fieldPath=".dualPrimary",message="topology.dualPrimary belongs to type DualPrimary: remove it or change the type"
// +kubebuilder:validation:XValidation:rule="(self.type in ['Single', 'Async', 'SemiSync'] && !(has(self.engine) && self.engine == 'PostgreSQL')) || !has(self.director) || (self.director.lookMilliseconds == 250 && self.director.looksToDetect == 3 && self.director.leaseMilliseconds == 5000)",fieldPath=".director",message="topology.director belongs to types Single, Async and SemiSync with MySQL or MariaDB: remove it, change the type, or set topology.patroni with PostgreSQL"
// +kubebuilder:validation:XValidation:rule=`!has(self.parameters) || (has(self.engine) ? self.engine : (self.type == 'Galera' ? 'MariaDB' : 'MySQL')) != 'MySQL' || !self.parameters.exists(k, k.replace('_', '-').matches('^((skip|enable)-)*(group-replication|mysqlx|admin-|wsrep|pxc-)'))`,fieldPath=`.parameters`,message=`topology.parameters[] cannot be set with MySQL, as all of group-replication*, mysqlx*, admin-*, wsrep*, pxc-*: what they are about is laid out by replab and by topology.type. Remove it`,messageExpression=`'topology.parameters[%s] cannot be set with MySQL, as all of group-replication*, mysqlx*, admin-*, wsrep*, pxc-*: what they are about is laid out by replab and by topology.type. Remove it'.format([self.parameters.filter(k, k.replace('_', '-').matches('^((skip|enable)-)*(group-replication|mysqlx|admin-|wsrep|pxc-)'))[0]])`
// +kubebuilder:validation:XValidation:rule=`!has(self.parameters) || (has(self.engine) ? self.engine : (self.type == 'Galera' ? 'MariaDB' : 'MySQL')) != 'MariaDB' || !self.parameters.exists(k, k.replace('_', '-').matches('^((skip|enable)-)*(wsrep|extra-|proxy-protocol-)'))`,fieldPath=`.parameters`,message=`topology.parameters[] cannot be set with MariaDB, as all of wsrep*, extra-*, proxy-protocol-*: what they are about is laid out by replab and by topology.type. Remove it`,messageExpression=`'topology.parameters[%s] cannot be set with MariaDB, as all of wsrep*, extra-*, proxy-protocol-*: what they are about is laid out by replab and by topology.type. Remove it'.format([self.parameters.filter(k, k.replace('_', '-').matches('^((skip|enable)-)*(wsrep|extra-|proxy-protocol-)'))[0]])`
// +kubebuilder:validation:XValidation:rule=`!has(self.parameters) || (self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !self.parameters.exists(k, k.replace('_', '-') in ['datadir', 'socket', 'tmpdir', 'pid-file', 'port', 'bind-address', 'skip-networking', 'server-id', 'gtid-mode', 'enforce-gtid-consistency', 'log-bin', 'skip-log-bin', 'read-only', 'super-read-only', 'skip-replica-start', 'replica-skip-errors', 'slave-skip-errors', 'init-file', 'init-connect', 'skip-grant-tables', 'plugin-load-add', 'plugin-load', 'secure-file-priv', 'log-error-verbosity', 'log-error-suppression-list', 'log-error-services'])`,fieldPath=`.parameters`,message=`topology.parameters[] cannot be set, since replab itself depends on it: remove it`,messageExpression=`'topology.parameters[%s] cannot be set, since replab itself depends on it: remove it'.format([self.parameters.filter(k, k.replace('_', '-') in ['datadir', 'socket', 'tmpdir', 'pid-file', 'port', 'bind-address', 'skip-networking', 'server-id', 'gtid-mode', 'enforce-gtid-consistency', 'log-bin', 'skip-log-bin', 'read-only', 'super-read-only', 'skip-replica-start', 'replica-skip-errors', 'slave-skip-errors', 'init-file', 'init-connect', 'skip-grant-tables', 'plugin-load-add', 'plugin-load', 'secure-file-priv', 'log-error-verbosity', 'log-error-suppression-list', 'log-error-services'])[0]])`
// +kubebuilder:validation:XValidation:rule=`!has(self.parameters) || (self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !self.parameters.exists(k, k.matches('^(replicate|(binlog[-_](do|ignore)))[-_]'))`,fieldPath=`.parameters`,message=`topology.parameters[] cannot be set, as all replication filters (replicate-*, binlog-do-db, binlog-ignore-db), since every node has all of the data: remove it`,messageExpression=`'topology.parameters[%s] cannot be set, as all replication filters (replicate-*, binlog-do-db, binlog-ignore-db), since every node has all of the data: remove it'.format([self.parameters.filter(k, k.matches('^(replicate|(binlog[-_](do|ignore)))[-_]'))[0]])`
// +kubebuilder:validation:XValidation:rule=`!has(self.parameters) || !(self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !self.parameters.exists(k, k.replace('-', '_').matches('^(fsync|synchronous_commit|full_page_writes|wal_level|zero_damaged_pages|synchronous_standby_names|primary_(conninfo|slot_name)|hot_standby|restore_command|max_wal_senders|max_replication_slots|wal_log_hints|(archive|recovery|unix_socket|ssl)_.*|default_transaction_read_only|cluster_name|(data|log)_directory|(config|hba|ident)_file|.*_preload_libraries|listen_addresses|port|ssl|password_encryption|search_path)$'))`,fieldPath=`.parameters`,message=`topology.parameters[] cannot be set with PostgreSQL, where topology.durability, topology.patroni and replab itself decide it: remove it`,messageExpression=`'topology.parameters[%s] cannot be set with PostgreSQL, where topology.durability, topology.patroni and replab itself decide it: remove it'.format([self.parameters.filter(k, k.replace('-', '_').matches('^(fsync|synchronous_commit|full_page_writes|wal_level|zero_damaged_pages|synchronous_standby_names|primary_(conninfo|slot_name)|hot_standby|restore_command|max_wal_senders|max_replication_slots|wal_log_hints|(archive|recovery|unix_socket|ssl)_.*|default_transaction_read_only|cluster_name|(data|log)_directory|(config|hba|ident)_file|.*_preload_libraries|listen_addresses|port|ssl|password_encryption|search_path)$'))[0]])`
// +kubebuilder:validation:XValidation:rule=`!has(self.zones) || !self.zones.exists(z, z.nodes.exists(n, n < 0 || n > self.replicas))`,fieldPath=`.zones`,message=`topology.zones[] has a number that no node has: nodes are counted from 0, the first primary, to topology.replicas`,messageExpression=`'topology.zones[' + self.zones[self.zones.indexOf(self.zones.filter(z, z.nodes.exists(n, n < 0 || n > self.replicas))[0])].name + '] has a number that no node has: nodes are counted from 0, the first primary, to topology.replicas'`
// +kubebuilder:validation:XValidation:rule=`!has(self.zones) || !self.zones.exists(z, z.nodes.exists(n, self.zones.filter(other, n in other.nodes).size() > 1))`,fieldPath=`.zones`,message=`topology.zones[] has a node that is in another zone too: leave each node in one, or in none, where it is at no distance from anybody`,messageExpression=`'topology.zones[' + self.zones[self.zones.indexOf(self.zones.filter(z, z.nodes.exists(n, self.zones.filter(other, n in other.nodes).size() > 1))[0])].name + '] has a node that is in another zone too: leave each node in one, or in none, where it is at no distance from anybody'`
// +kubebuilder:validation:XValidation:rule=`!has(self.links) || !self.links.exists(l, !has(self.zones) || ![l.from, l.to].all(name, self.zones.exists(z, z.name == name)))`,fieldPath=`.links`,message=`topology.links[] must lead from one of topology.zones to another: add the zone, or correct from and to`,messageExpression=`'topology.links[' + self.links[self.links.indexOf(self.links.filter(l, !has(self.zones) || ![l.from, l.to].all(name, self.zones.exists(z, z.name == name)))[0])].from + '-' + self.links[self.links.indexOf(self.links.filter(l, !has(self.zones) || ![l.from, l.to].all(name, self.zones.exists(z, z.name == name)))[0])].to + '] must lead from one of topology.zones to another: add the zone, or correct from and to'`
// +kubebuilder:validation:XValidation:rule=`!has(self.links) || !self.links.exists(l, self.links.filter(other, (other.from == l.from && other.to == l.to) || (other.from == l.to && other.to == l.from)).size() > 1)`,fieldPath=`.links`,message=`topology.links[] is not the only link between its zones: a link is of both directions, keep one`,messageExpression=`'topology.links[' + self.links[self.links.indexOf(self.links.filter(l, self.links.filter(other, (other.from == l.from && other.to == l.to) || (other.from == l.to && other.to == l.from)).size() > 1)[0])].from + '-' + self.links[self.links.indexOf(self.links.filter(l, self.links.filter(other, (other.from == l.from && other.to == l.to) || (other.from == l.to && other.to == l.from)).size() > 1)[0])].to + '] is not the only link between its zones: a link is of both directions, keep one'`
// +kubebuilder:validation:XValidation:rule=`self.type != 'SemiSync' || !has(self.links) || !has(self.zones) || (has(self.semiSync) ? self.semiSync.ackReplicas : 1) > self.replicas || [1, 2, 3, 4, 5, 6, 7, 8, 9].filter(n, n <= self.replicas && !self.links.exists(l, l.roundTripMilliseconds >= (has(self.semiSync) ? self.semiSync.timeoutMilliseconds : 10000) && ((self.zones.exists(z, z.name == l.from && 0 in z.nodes) && self.zones.exists(z, z.name == l.to && n in z.nodes)) || (self.zones.exists(z, z.name == l.to && 0 in z.nodes) && self.zones.exists(z, z.name == l.from && n in z.nodes))))).size() >= (has(self.semiSync) ? self.semiSync.ackReplicas : 1)`,fieldPath=`.semiSync.timeoutMilliseconds`,message=`topology.semiSync.timeoutMilliseconds must be above N, the round trip in milliseconds to a replica that commits wait for: each would go on without its acknowledgement. Raise it, or use a shorter link`,messageExpression=`'topology.semiSync.timeoutMilliseconds must be above %d, the round trip in milliseconds to a replica that commits wait for: each would go on without its acknowledgement. Raise it, or use a shorter link'.format([self.links.map(l, l.roundTripMilliseconds).filter(ms, [1, 2, 3, 4, 5, 6, 7, 8, 9].filter(n, n <= self.replicas && !self.links.exists(l, l.roundTripMilliseconds > ms && ((self.zones.exists(z, z.name == l.from && 0 in z.nodes) && self.zones.exists(z, z.name == l.to && n in z.nodes)) || (self.zones.exists(z, z.name == l.to && 0 in z.nodes) && self.zones.exists(z, z.name == l.from && n in z.nodes))))).size() >= (has(self.semiSync) ? self.semiSync.ackReplicas : 1)).min()])`
// +kubebuilder:validation:XValidation:rule=`!has(self.resources) || !has(self.resources.claims) || self.resources.claims.size() == 0`,fieldPath=`.resources.claims`,message=`topology.resources.claims is not supported: remove it, no node's pod has such a claim`
// +kubebuilder:validation:XValidation:rule=`!has(self.resources) || ['cpu', 'memory'].all(k, (!has(self.resources.requests) || !(k in self.resources.requests) || !quantity(string(self.resources.requests[k])).isLessThan(quantity('0'))) && (!has(self.resources.limits) || !(k in self.resources.limits) || quantity(string(self.resources.limits[k])).isGreaterThan(quantity('0'))))`,fieldPath=`.resources`,message=`topology.resources has a negative request, or a limit that is not above 0: correct or remove it`
// +kubebuilder:validation:XValidation:rule=`!has(self.resources) || !has(self.resources.requests) || !has(self.resources.limits) || ['cpu', 'memory'].all(k, !(k in self.resources.requests) || !(k in self.resources.limits) || quantity(string(self.resources.requests[k])).compareTo(quantity(string(self.resources.limits[k]))) <= 0)`,fieldPath=`.resources`,message=`topology.resources.requests must not exceed topology.resources.limits: lower the request or raise the limit`
// +kubebuilder:validation:XValidation:rule=`(self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !has(self.resources) || !has(self.resources.limits) || !('memory' in self.resources.limits) || (has(self.parameters) && ('innodb_buffer_pool_size' in self.parameters || 'innodb-buffer-pool-size' in self.parameters)) || quantity(string(self.resources.limits['memory'])).compareTo(quantity('512Mi')) >= 0`,fieldPath=`.resources.limits`,message=`topology.resources.limits.memory is below what the server needs, 384Mi and its innodb_buffer_pool_size, 128Mi by default: raise it, or lower innodb_buffer_pool_size in topology.parameters`
// +kubebuilder:validation:XValidation:rule=`(self.type == 'Patroni' || (has(self.engine) && self.engine == 'PostgreSQL')) || !has(self.resources) || !has(self.resources.limits) || !('memory' in self.resources.limits) || !has(self.parameters) || ['innodb_buffer_pool_size', 'innodb-buffer-pool-size'].all(k, !(k in self.parameters) || ((!isQuantity(self.parameters[k]) || quantity(string(self.resources.limits['memory'])).sub(quantity('384Mi')).compareTo(quantity(self.parameters[k])) >= 0) && (!isQuantity(self.parameters[k] + 'i') || quantity(string(self.resources.limits['memory'])).sub(quantity('384Mi')).compareTo(quantity(self.parameters[k] + 'i')) >= 0)))`,fieldPath=`.resources.limits`,message=`topology.resources.limits.memory is below what the server needs, 384Mi and its innodb_buffer_pool_size, 128Mi by default: raise it, or lower innodb_buffer_pool_size in topology.parameters`
// +kubebuilder:validation:XValidation:rule=`self.storage.medium != 'Memory' || !has(self.resources) || !has(self.resources.limits) || !('memory' in self.resources.limits) || quantity(string(self.resources.limits['memory'])).sub(quantity('384Mi')).compareTo(quantity(string(self.storage.size))) >= 0`,fieldPath=`.resources.limits`,message=`topology.resources.limits.memory must hold topology.storage.size of medium Memory and 384Mi: the server would be killed once its data have grown. Raise it, or make the volume smaller`
// +kubebuilder:validation:XValidation:rule=`!has(self.patroni) || self.patroni.provider != 'ZalandoOperator' || !has(self.resources) || ((!has(self.resources.requests) || self.resources.requests.size() == ['cpu', 'memory'].filter(k, k in self.resources.requests).size()) && (!has(self.resources.limits) || self.resources.limits.size() == ['cpu', 'memory'].filter(k, k in self.resources.limits).size()))`,fieldPath=`.resources`,message=`topology.resources must be of cpu and memory alone with patroni.provider ZalandoOperator, which is told of no other: remove the others, or use provider StatefulSet`
type TopologySpec struct {
	// type is how the nodes replicate.
	// +required
	Type TopologyType `json:"type"`
	// engine is the database server; the default depends on the type: MySQL, of Galera MariaDB, of Patroni PostgreSQL. MySQL of type Galera is
	// Percona XtraDB Cluster. Patroni runs every PostgreSQL server, also with types Single and Async.
	// +optional
	Engine Engine `json:"engine,omitempty"`
	// replicas is the number of nodes beside the primary; for Galera and DualPrimary, of the other members. Single has none, Galera
	// may have none, all other types have at least 1.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Replicas int32 `json:"replicas"`
	// image of the server; the default is the operator's image for the engine, or for the type and the engine. Any image that has the server in it will do.
	// +optional
	Image ImageName `json:"image,omitempty"`
	// failover tells whether a replica is promoted when the primary fails.
	// +optional
	// +kubebuilder:default=Automatic
	Failover FailoverPolicy `json:"failover,omitempty"`
	// director is the timing of the failover manager of types Single, Async and SemiSync with MySQL and MariaDB: it decides how long an outage
	// takes. With PostgreSQL that is patroni.
	// +optional
	// +kubebuilder:default={lookMilliseconds: 250, looksToDetect: 3, leaseMilliseconds: 5000}
	Director DirectorSpec `json:"director,omitempty"`
	// durability is what a crash takes of acknowledged commits. Full: each is flushed to disk, nothing is lost. Relaxed: each is
	// handed to the system, which flushes about once a second: a killed server loses nothing, a machine that loses power up to
	// a second. Volatile: each stays in the server's memory for up to a second, which a killed server loses too.
	// +optional
	// +kubebuilder:default=Full
	Durability Durability `json:"durability,omitempty"`
	// parameters are extra settings of the server, as its configuration file has them. Settings that other fields decide, or that
	// replab depends on, are refused: the commonest here, all others when the experiment is accepted.
	// +optional
	// +kubebuilder:validation:MaxProperties=30
	// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^[a-z][a-z0-9_-]*$'))",message="topology.parameters has a name that is none: use lower-case names of server settings, such as innodb_buffer_pool_size"
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 500 && !self[k].contains('\\n'))",message="topology.parameters has a value that cannot be written to a configuration file: use one line of at most 500 characters"
	// +kubebuilder:validation:XValidation:rule=`!self.exists(k, k.replace('_', '-') in ['sync-binlog', 'innodb-flush-log-at-trx-commit', 'innodb-doublewrite'])`,message=`topology.parameters[] cannot be set, since it decides what a crash takes: set topology.durability`,messageExpression=`'topology.parameters[%s] cannot be set, since it decides what a crash takes: set topology.durability'.format([self.filter(k, k.replace('_', '-') in ['sync-binlog', 'innodb-flush-log-at-trx-commit', 'innodb-doublewrite'])[0]])`
	// +kubebuilder:validation:XValidation:rule=`!self.exists(k, k.replace('_', '-').startsWith('rpl-semi-sync-'))`,message=`topology.parameters[] cannot be set, as all of rpl-semi-sync-*: set topology.type SemiSync and topology.semiSync`,messageExpression=`'topology.parameters[%s] cannot be set, as all of rpl-semi-sync-*: set topology.type SemiSync and topology.semiSync'.format([self.filter(k, k.replace('_', '-').startsWith('rpl-semi-sync-'))[0]])`
	// +kubebuilder:validation:XValidation:rule=`!self.exists(k, k.matches('^(loose|disable|maximum)[-_]'))`,message=`topology.parameters[] cannot begin with loose-, disable- or maximum-: name the setting itself, with its value`,messageExpression=`'topology.parameters[%s] cannot begin with loose-, disable- or maximum-: name the setting itself, with its value'.format([self.filter(k, k.matches('^(loose|disable|maximum)[-_]'))[0]])`
	Parameters map[string]string `json:"parameters,omitempty"`
	// semiSync are the settings of type SemiSync.
	// +optional
	SemiSync *SemiSyncSpec `json:"semiSync,omitempty"`
	// patroni are the settings of type Patroni. Types Single and Async with engine PostgreSQL take its timings, and with them synchronousMode
	// "Off".
	// +optional
	Patroni *PatroniSpec `json:"patroni,omitempty"`
	// galera are the settings of type Galera.
	// +optional
	Galera *GaleraSpec `json:"galera,omitempty"`
	// dualPrimary are the settings of type DualPrimary.
	// +optional
	DualPrimary *DualPrimarySpec `json:"dualPrimary,omitempty"`
	// zones group nodes by place. A node is in one zone at most; one in no zone is at no distance from anybody.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5
	Zones []Zone `json:"zones,omitempty"`
	// links are the distances between zones: each packet between their nodes is held up. Zones without a link are at no distance.
	// The distance is there from before the load until after it, and its round trips are measured before and after: status.distance.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Links []Link `json:"links,omitempty"`
	// storage of each node.
	// +optional
	// +kubebuilder:default={}
	Storage StorageSpec `json:"storage,omitempty"`
	// resources of each node's server container.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty"`
}

// TopologyType is how the nodes replicate.
// +kubebuilder:validation:Enum=Single;Async;SemiSync;DualPrimary;Galera;Patroni
type TopologyType string

// Types of topology.
const (
	TopologySingle      TopologyType = "Single"
	TopologyAsync       TopologyType = "Async"
	TopologySemiSync    TopologyType = "SemiSync"
	TopologyDualPrimary TopologyType = "DualPrimary"
	TopologyGalera      TopologyType = "Galera"
	TopologyPatroni     TopologyType = "Patroni"
)

// Engine is a database server.
// +kubebuilder:validation:Enum=MySQL;MariaDB;PostgreSQL
type Engine string

// Engines.
const (
	EngineMySQL      Engine = "MySQL"
	EngineMariaDB    Engine = "MariaDB"
	EnginePostgreSQL Engine = "PostgreSQL"
)

// FailoverPolicy tells whether a replica is promoted when the primary fails.
// +kubebuilder:validation:Enum=Automatic;None
type FailoverPolicy string

// Policies of failover.
const (
	FailoverAutomatic FailoverPolicy = "Automatic"
	FailoverNone      FailoverPolicy = "None"
)

// DirectorSpec is when the failover manager takes a primary for lost, and until when it waits for one that it cannot reach.
//
// +kubebuilder:validation:XValidation:rule="self.leaseMilliseconds >= self.lookMilliseconds * self.looksToDetect + 1000",fieldPath=".leaseMilliseconds",message="topology.director.leaseMilliseconds must be at least lookMilliseconds x looksToDetect + 1000: a primary would fence itself before it counts as lost"
type DirectorSpec struct {
	// lookMilliseconds is the time between two looks at the nodes.
	// +optional
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=10000
	LookMilliseconds int64 `json:"lookMilliseconds,omitempty"`
	// looksToDetect is how many looks in a row must fail until a node counts as lost.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	LooksToDetect int32 `json:"looksToDetect,omitempty"`
	// leaseMilliseconds is how long a primary may take writes without hearing from the director. Before another node is opened, a
	// primary that cannot be reached is waited for until its lease has certainly ended.
	// +optional
	// +kubebuilder:default=5000
	// +kubebuilder:validation:Minimum=1100
	// +kubebuilder:validation:Maximum=600000
	LeaseMilliseconds int64 `json:"leaseMilliseconds,omitempty"`
}

// Durability is what a crash takes of acknowledged commits.
// +kubebuilder:validation:Enum=Full;Relaxed;Volatile
type Durability string

// Durabilities.
const (
	DurabilityFull     Durability = "Full"
	DurabilityRelaxed  Durability = "Relaxed"
	DurabilityVolatile Durability = "Volatile"
)

// SemiSyncSpec are the settings of semi-synchronous replication.
type SemiSyncSpec struct {
	// ackReplicas is how many replicas must have received a commit before it is acknowledged.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	AckReplicas int32 `json:"ackReplicas,omitempty"`
	// timeoutMilliseconds is how long a commit waits for them before replication goes on asynchronously. The default is the server's own.
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	TimeoutMilliseconds int64 `json:"timeoutMilliseconds,omitempty"`
	// waitPoint AfterSync waits before the commit is visible to others; AfterCommit waits after.
	// +optional
	// +kubebuilder:default=AfterSync
	WaitPoint WaitPoint `json:"waitPoint,omitempty"`
}

// WaitPoint is where a semi-synchronous commit waits.
// +kubebuilder:validation:Enum=AfterSync;AfterCommit
type WaitPoint string

// Wait points.
const (
	WaitAfterSync   WaitPoint = "AfterSync"
	WaitAfterCommit WaitPoint = "AfterCommit"
)

// Zone is a place with nodes.
type Zone struct {
	// name of the zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=30
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="topology.zones has a name that is none: use lower-case letters, digits and hyphens, a letter first"
	Name string `json:"name"`
	// nodes by number, the first primary being 0. A zone may have none: then the app can live there, away from all nodes.
	// +required
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	Nodes []int32 `json:"nodes"`
}

// Link is the distance between two zones, in both directions.
//
// +kubebuilder:validation:XValidation:rule=`self.from != self.to`,fieldPath=`.to`,message=`topology.links[] must not lead to where it comes from: within a zone there is no distance`,messageExpression=`'topology.links[' + self.from + '-' + self.to + '] must not lead to where it comes from: within a zone there is no distance'`
type Link struct {
	// from is a zone.
	// +required
	// +kubebuilder:validation:MaxLength=30
	From string `json:"from"`
	// to is another zone.
	// +required
	// +kubebuilder:validation:MaxLength=30
	To string `json:"to"`
	// roundTripMilliseconds between them: half of it in each direction. With 0 nothing is held up, and the round trip is measured all
	// the same: the control of a distance.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	RoundTripMilliseconds int32 `json:"roundTripMilliseconds"`
}
