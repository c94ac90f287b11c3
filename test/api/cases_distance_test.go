package api_test

import "fmt"

// placed is an experiment whose nodes 0 to 2 are in zones, with a link.
func placed(zones, links, more string) string {
	return `{spec: {topology: {type: Async, replicas: 2, zones: [` + zones + `], links: [` + links + `]}` + more + `}}`
}

const (
	euAndUS  = `{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}`
	atlantic = `{from: eu, to: us, roundTripMilliseconds: 87}`
)

// members are three of Galera, with a link between two zones.
func members(galera, zones string, roundTrip int, more string) string {
	return fmt.Sprintf(`{spec: {topology: {type: Galera, replicas: 2, galera: %s, zones: [%s], links: [{from: eu, to: us, roundTripMilliseconds: %d}]}%s}}`, galera, zones, roundTrip, more)
}

// waiting are commits that wait for two replicas, with a link between two zones.
func waiting(semiSync, zones string, roundTrip int) string {
	return fmt.Sprintf(`{spec: {topology: {type: SemiSync, replicas: 2, semiSync: %s, zones: [%s], links: [{from: us, to: eu, roundTripMilliseconds: %d}]}}}`, semiSync, zones, roundTrip)
}

// distanceCases are of zones and links.
var distanceCases = []ruleCase{
	{
		name:      "members of Galera that do not hear each other in time",
		refused:   members(`{}`, euAndUS, 301, ``),
		says:      "topology.links[] of type Galera must not exceed N ms",
		neighbour: members(`{}`, euAndUS, 300, ``),
	},
	{
		name:      "members that the library asks again before they can have answered",
		refused:   members(`{suspectTimeoutMilliseconds: 500}`, euAndUS, 101, ``),
		says:      "topology.links[] of type Galera must not exceed N ms",
		neighbour: members(`{suspectTimeoutMilliseconds: 500}`, euAndUS, 100, ``),
	},
	{
		name:      "members that no patience brings nearer",
		refused:   members(`{suspectTimeoutMilliseconds: 30000}`, euAndUS, 301, ``),
		says:      "topology.links[] of type Galera must not exceed N ms",
		neighbour: members(`{suspectTimeoutMilliseconds: 30000}`, `{name: eu, nodes: [0, 1, 2]}, {name: us, nodes: []}`, 301, `, app: {zone: us}, routing: {check: {intervalMilliseconds: 1000}}`),
	},
	{
		name:      "an acknowledgement that comes too late for every commit",
		refused:   waiting(`{timeoutMilliseconds: 87}`, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}`, 87),
		says:      "topology.semiSync.timeoutMilliseconds must be above N",
		neighbour: waiting(`{timeoutMilliseconds: 88}`, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}`, 87),
	},
	{
		name:      "a second acknowledgement that comes too late",
		refused:   waiting(`{ackReplicas: 2, timeoutMilliseconds: 50}`, euAndUS, 87),
		says:      "topology.semiSync.timeoutMilliseconds must be above N",
		neighbour: waiting(`{ackReplicas: 1, timeoutMilliseconds: 50}`, euAndUS, 87),
	},
	{
		name:      "acknowledgements that come too late without a word on them",
		refused:   waiting(`null`, `{name: eu, nodes: [1, 2]}, {name: us, nodes: [0]}`, 10000),
		says:      "topology.semiSync.timeoutMilliseconds must be above N",
		neighbour: waiting(`null`, `{name: eu, nodes: [2]}, {name: us, nodes: [0]}`, 10000),
	},
	{
		name:    "a node that there is not",
		refused: placed(`{name: eu, nodes: [0, 3]}`, ``, ``), says: "topology.zones[] has a number that no node has",
		neighbour: placed(`{name: eu, nodes: [0, 2]}`, ``, ``),
	},
	{
		name:    "a node of a negative number",
		refused: placed(`{name: eu, nodes: [-1]}`, ``, ``), says: "topology.zones[] has a number that no node has",
		neighbour: placed(`{name: eu, nodes: [1]}`, ``, ``),
	},
	{
		name:    "a replica of a server alone",
		refused: `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [1]}]}}}`, says: "topology.zones[] has a number that no node has",
		neighbour: `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [0]}]}}}`,
	},
	{
		name:    "a node in two zones",
		refused: placed(`{name: eu, nodes: [0, 1]}, {name: us, nodes: [1, 2]}`, ``, ``), says: "topology.zones[] has a node that is in another zone too",
		neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [2]}`, ``, ``),
	},
	{
		name:    "a link to a zone that there is not",
		refused: placed(euAndUS, `{from: eu, to: asia, roundTripMilliseconds: 1}`, ``), says: "topology.links[] must lead from one of topology.zones to another",
		neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		name:    "a link from a zone that there is not",
		refused: placed(euAndUS, `{from: asia, to: us, roundTripMilliseconds: 1}`, ``), says: "topology.links[] must lead from one of topology.zones to another",
		neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: asia, to: us, roundTripMilliseconds: 1}`, `, app: {zone: asia}`),
	},
	{
		name:    "a link without zones",
		refused: `{spec: {topology: {links: [` + atlantic + `]}}}`, says: "topology.links[] must lead from one of topology.zones to another",
		neighbour: `{spec: {topology: {links: []}}}`,
	},
	{
		name:    "a link that leads nowhere else",
		refused: placed(euAndUS, `{from: eu, to: eu, roundTripMilliseconds: 1}`, ``), says: "topology.links[] must not lead to where it comes from",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 1}`, ``),
	},
	{
		name:    "the same link twice",
		refused: placed(euAndUS, atlantic+`, {from: eu, to: us, roundTripMilliseconds: 1}`, ``), says: "topology.links[] is not the only link between its zones",
		neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		name:    "a link and its way back",
		refused: placed(euAndUS, atlantic+`, {from: us, to: eu, roundTripMilliseconds: 87}`, ``), says: "topology.links[] is not the only link between its zones",
		neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [1]}, {name: asia, nodes: [2]}`, atlantic+`, {from: us, to: asia, roundTripMilliseconds: 170}, {from: asia, to: eu, roundTripMilliseconds: 220}`, ``),
	},
	{
		name:    "a zone in capitals",
		refused: placed(`{name: EU, nodes: [0]}`, ``, ``), says: "topology.zones has a name that is none",
		neighbour: placed(`{name: eu-1, nodes: [0]}`, ``, ``),
	},
	{
		name:    "an app in a zone that there is not",
		refused: placed(euAndUS, atlantic, `, app: {zone: asia}`), says: "app.zone must be one of topology.zones",
		neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, atlantic, `, app: {zone: asia}`),
	},
	{
		name:    "an app in a zone of none",
		refused: `{spec: {app: {zone: eu}}}`, says: "app.zone must be one of topology.zones",
		neighbour: `{spec: {app: {}}}`,
	},
	{
		name:      "an app farther than a check of its proxy may take",
		refused:   placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 201}`, `, app: {zone: eu}`),
		says:      "routing.check.intervalMilliseconds must be at least N, 1.25 times",
		neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 200}`, `, app: {zone: eu}`),
	},
	{
		name:      "an app farther than a check of ProxySQL may take",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 401}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
		says:      "routing.check.intervalMilliseconds must be at least N, 1.25 times",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 400}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
	},
	{
		name:      "an app farther than ProxySQL keeps connections",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 601}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
		says:      "topology.links[] of app.zone must not exceed 600 ms",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 600}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
	},
	{
		name:      "an app far away through a proxy",
		refused:   placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}`),
		says:      "routing.check.intervalMilliseconds must be at least N, 1.25 times",
		neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}, routing: {proxy: None}`),
	},
	{
		name:      "an app farther than its requests can bear",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 901}`, `, app: {zone: eu}, routing: {proxy: None}`),
		says:      "topology.links[] of app.zone must not exceed 900 ms",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 901}`, `, routing: {proxy: None}`),
	},
	{
		name:    "a link to where nobody is",
		refused: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: eu, to: asia, roundTripMilliseconds: 1}`, ``), says: "topology.links[] leads to a zone in which neither a node nor the app is",
		neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: eu, to: asia, roundTripMilliseconds: 1}`, `, app: {zone: asia}`),
	},
	{
		name:    "a link from where nobody is to the app",
		refused: placed(`{name: eu, nodes: []}, {name: us, nodes: [2]}`, atlantic, `, app: {zone: us}`), says: "topology.links[] leads to a zone in which neither a node nor the app is",
		neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [2]}`, atlantic, `, app: {zone: us}`),
	},
}
