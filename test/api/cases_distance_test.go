package api_test

// placed is an experiment whose nodes 0 to 2 are in zones, with a link.
func placed(zones, links, more string) string {
	return `{spec: {topology: {type: Async, replicas: 2, zones: [` + zones + `], links: [` + links + `]}` + more + `}}`
}

const (
	euAndUS  = `{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}`
	atlantic = `{from: eu, to: us, roundTripMilliseconds: 87}`
)

// distanceCases are of zones and links.
var distanceCases = []ruleCase{
	{
		name:      "members of Galera that do not hear each other in time",
		refused:   `{spec: {topology: {type: Galera, replicas: 2, zones: [` + euAndUS + `], links: [{from: eu, to: us, roundTripMilliseconds: 301}]}}}`,
		says:      "topology.links of type Galera must not exceed 300 ms",
		neighbour: `{spec: {topology: {type: Galera, replicas: 2, zones: [` + euAndUS + `], links: [{from: eu, to: us, roundTripMilliseconds: 300}]}}}`,
	},
	{
		name:    "a node that there is not",
		refused: placed(`{name: eu, nodes: [0, 3]}`, ``, ``), says: "topology.zones has a number that no node has",
		neighbour: placed(`{name: eu, nodes: [0, 2]}`, ``, ``),
	},
	{
		name:    "a node of a negative number",
		refused: placed(`{name: eu, nodes: [-1]}`, ``, ``), says: "topology.zones has a number that no node has",
		neighbour: placed(`{name: eu, nodes: [1]}`, ``, ``),
	},
	{
		name:    "a replica of a server alone",
		refused: `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [1]}]}}}`, says: "topology.zones has a number that no node has",
		neighbour: `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [0]}]}}}`,
	},
	{
		name:    "a node in two zones",
		refused: placed(`{name: eu, nodes: [0, 1]}, {name: us, nodes: [1, 2]}`, ``, ``), says: "topology.zones has a node in two zones",
		neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [2]}`, ``, ``),
	},
	{
		name:    "a link to a zone that there is not",
		refused: placed(euAndUS, `{from: eu, to: asia, roundTripMilliseconds: 1}`, ``), says: "topology.links must lead from one of topology.zones to another",
		neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		name:    "a link from a zone that there is not",
		refused: placed(euAndUS, `{from: asia, to: us, roundTripMilliseconds: 1}`, ``), says: "topology.links must lead from one of topology.zones to another",
		neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: asia, to: us, roundTripMilliseconds: 1}`, `, app: {zone: asia}`),
	},
	{
		name:    "a link without zones",
		refused: `{spec: {topology: {links: [` + atlantic + `]}}}`, says: "topology.links must lead from one of topology.zones to another",
		neighbour: `{spec: {topology: {links: []}}}`,
	},
	{
		name:    "a link that leads nowhere else",
		refused: placed(euAndUS, `{from: eu, to: eu, roundTripMilliseconds: 1}`, ``), says: "topology.links must not lead to where they come from",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 1}`, ``),
	},
	{
		name:    "the same link twice",
		refused: placed(euAndUS, atlantic+`, {from: eu, to: us, roundTripMilliseconds: 1}`, ``), says: "topology.links has two links between the same zones",
		neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		name:    "a link and its way back",
		refused: placed(euAndUS, atlantic+`, {from: us, to: eu, roundTripMilliseconds: 87}`, ``), says: "topology.links has two links between the same zones",
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
		says:      "routing.check.intervalMilliseconds must be at least 1.25 times the roundTripMilliseconds",
		neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 200}`, `, app: {zone: eu}`),
	},
	{
		name:      "an app farther than a check of ProxySQL may take",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 401}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
		says:      "routing.check.intervalMilliseconds must be at least 1.25 times the roundTripMilliseconds",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 400}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
	},
	{
		name:      "an app farther than ProxySQL keeps connections",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 601}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
		says:      "app.zone must not be more than 600 ms from any zone with routing.proxy ProxySQL",
		neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 600}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
	},
	{
		name:      "an app far away through a proxy",
		refused:   placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}`),
		says:      "routing.check.intervalMilliseconds must be at least 1.25 times the roundTripMilliseconds",
		neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}, routing: {proxy: None}`),
	},
	{
		name:      "an app farther than its requests can bear",
		refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 901}`, `, app: {zone: eu}, routing: {proxy: None}`),
		says:      "app.zone must not be more than 900 ms from any zone:",
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
