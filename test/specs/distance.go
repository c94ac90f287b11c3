package specs

import "fmt"

// placed is an experiment whose nodes 0 to 2 are in zones, with a link.
func placed(zones, links, more string) string {
	return `{spec: {topology: {type: Async, nodes: 3, zones: [` + zones + `], links: [` + links + `]}` + more + `}}`
}

const (
	euAndUS  = `{name: eu, nodes: [0, 1]}, {name: us, nodes: [2]}`
	atlantic = `{from: eu, to: us, roundTripMilliseconds: 87}`
)

// members are three of Galera, with a link between two zones.
func members(galera, zones string, roundTrip int, more string) string {
	return fmt.Sprintf(`{spec: {topology: {type: Galera, nodes: 3, galera: %s, zones: [%s], links: [{from: eu, to: us, roundTripMilliseconds: %d}]}%s}}`, galera, zones, roundTrip, more)
}

// waiting are commits that wait for two replicas, with a link between two zones.
func waiting(semiSync, zones string, roundTrip int) string {
	return fmt.Sprintf(`{spec: {topology: {type: SemiSync, nodes: 3, semiSync: %s, zones: [%s], links: [{from: us, to: eu, roundTripMilliseconds: %d}]}}}`, semiSync, zones, roundTrip)
}

// distanceCases are of zones and links.
var distanceCases = []Case{
	{
		Name:      "members of Galera that do not hear each other in time",
		Refused:   members(`{}`, euAndUS, 301, ``),
		Field:     "spec.topology.links[0].roundTripMilliseconds",
		Says:      "members do not hear each other in time beyond 300 ms. Use at most 300.",
		Neighbour: members(`{}`, euAndUS, 300, ``),
	},
	{
		Name:      "members that the library asks again before they can have answered",
		Refused:   members(`{suspectTimeoutMilliseconds: 500}`, euAndUS, 101, ``),
		Field:     "spec.topology.links[0].roundTripMilliseconds",
		Says:      "members do not hear each other in time beyond 100 ms. Use at most 100, or up to 300 with galera.suspectTimeoutMilliseconds 1500.",
		Neighbour: members(`{suspectTimeoutMilliseconds: 500}`, euAndUS, 100, ``),
	},
	{
		Name:      "members that no patience brings nearer",
		Refused:   members(`{suspectTimeoutMilliseconds: 30000}`, euAndUS, 301, ``),
		Field:     "spec.topology.links[0].roundTripMilliseconds",
		Says:      "members do not hear each other in time beyond 300 ms. Use at most 300.",
		Neighbour: members(`{suspectTimeoutMilliseconds: 30000}`, `{name: eu, nodes: [0, 1, 2]}, {name: us, nodes: []}`, 301, `, app: {zone: us}, routing: {check: {intervalMilliseconds: 1000}}`),
	},
	{
		Name:      "an acknowledgement that comes too late for every commit",
		Refused:   waiting(`{timeoutMilliseconds: 87}`, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}`, 87),
		Field:     "spec.topology.semiSync.timeoutMilliseconds",
		Says:      "every acknowledgement would come too late",
		Neighbour: waiting(`{timeoutMilliseconds: 88}`, `{name: eu, nodes: [0]}, {name: us, nodes: [1, 2]}`, 87),
	},
	{
		Name:      "a second acknowledgement that comes too late",
		Refused:   waiting(`{ackReplicas: 2, timeoutMilliseconds: 50}`, euAndUS, 87),
		Field:     "spec.topology.semiSync.timeoutMilliseconds",
		Says:      "every acknowledgement would come too late",
		Neighbour: waiting(`{ackReplicas: 1, timeoutMilliseconds: 50}`, euAndUS, 87),
	},
	{
		Name:      "acknowledgements that come too late without a word on them",
		Refused:   waiting(`null`, `{name: eu, nodes: [1, 2]}, {name: us, nodes: [0]}`, 10000),
		Field:     "spec.topology.semiSync.timeoutMilliseconds",
		Says:      "every acknowledgement would come too late",
		Neighbour: waiting(`null`, `{name: eu, nodes: [2]}, {name: us, nodes: [0]}`, 10000),
	},
	{
		Name:      "a node that there is not",
		Refused:   placed(`{name: eu, nodes: [0, 3]}`, ``, ``),
		Field:     "spec.topology.zones[0].nodes[1]",
		Says:      "there is no node 3",
		Neighbour: placed(`{name: eu, nodes: [0, 2]}`, ``, ``),
	},
	{
		Name:      "a node of a negative number",
		Refused:   placed(`{name: eu, nodes: [-1]}`, ``, ``),
		Field:     "spec.topology.zones[0].nodes[0]",
		Says:      "there is no node -1",
		Neighbour: placed(`{name: eu, nodes: [1]}`, ``, ``),
	},
	{
		Name:      "a replica of a server alone",
		Refused:   `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [1]}]}}}`,
		Field:     "spec.topology.zones[0].nodes[0]",
		Says:      "there is no node 1",
		Neighbour: `{spec: {topology: {type: Single, zones: [{name: eu, nodes: [0]}]}}}`,
	},
	{
		Name:      "a node in two zones",
		Refused:   placed(`{name: eu, nodes: [0, 1]}, {name: us, nodes: [1, 2]}`, ``, ``),
		Field:     "spec.topology.zones[1].nodes[0]",
		Says:      "node 1 is in zone eu too",
		Neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [2]}`, ``, ``),
	},
	{
		Name:      "a link to a zone that there is not",
		Refused:   placed(euAndUS, `{from: eu, to: asia, roundTripMilliseconds: 1}`, ``),
		Field:     "spec.topology.links[0]",
		Says:      "a link leads from one of topology.zones to another",
		Neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		Name:      "a link from a zone that there is not",
		Refused:   placed(euAndUS, `{from: asia, to: us, roundTripMilliseconds: 1}`, ``),
		Field:     "spec.topology.links[0]",
		Says:      "a link leads from one of topology.zones to another",
		Neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: asia, to: us, roundTripMilliseconds: 1}`, `, app: {zone: asia}`),
	},
	{
		Name:      "a link without zones",
		Refused:   `{spec: {topology: {links: [` + atlantic + `]}}}`,
		Field:     "spec.topology.links[0]",
		Says:      "a link leads from one of topology.zones to another",
		Neighbour: `{spec: {topology: {links: []}}}`,
	},
	{
		Name:      "a link that leads nowhere else",
		Refused:   placed(euAndUS, `{from: eu, to: eu, roundTripMilliseconds: 1}`, ``),
		Field:     "spec.topology.links[0].to",
		Says:      "the link leads to where it comes from",
		Neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 1}`, ``),
	},
	{
		Name:      "the same link twice",
		Refused:   placed(euAndUS, atlantic+`, {from: eu, to: us, roundTripMilliseconds: 1}`, ``),
		Field:     "spec.topology.links[1]",
		Says:      "links[0] already joins these zones, and a link covers both directions",
		Neighbour: placed(euAndUS, atlantic, ``),
	},
	{
		Name:      "a link and its way back",
		Refused:   placed(euAndUS, atlantic+`, {from: us, to: eu, roundTripMilliseconds: 87}`, ``),
		Field:     "spec.topology.links[1]",
		Says:      "links[0] already joins these zones, and a link covers both directions",
		Neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [1]}, {name: asia, nodes: [2]}`, atlantic+`, {from: us, to: asia, roundTripMilliseconds: 170}, {from: asia, to: eu, roundTripMilliseconds: 220}`, ``),
	},
	{
		Name:      "a zone in capitals",
		Refused:   placed(`{name: EU, nodes: [0]}`, ``, ``),
		Field:     "spec.topology.zones[0].name",
		Says:      "invalid zone name",
		Neighbour: placed(`{name: eu-1, nodes: [0]}`, ``, ``),
	},
	{
		Name:      "an app in a zone that there is not",
		Refused:   placed(euAndUS, atlantic, `, app: {zone: asia}`),
		Field:     "spec.app.zone",
		Says:      "zone asia is not in topology.zones",
		Neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, atlantic, `, app: {zone: asia}`),
	},
	{
		Name:      "an app in a zone of none",
		Refused:   `{spec: {app: {zone: eu}}}`,
		Field:     "spec.app.zone",
		Says:      "zone eu is not in topology.zones",
		Neighbour: `{spec: {app: {}}}`,
	},
	{
		Name:      "an app farther than a check of its proxy may take",
		Refused:   placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 201}`, `, app: {zone: eu}`),
		Field:     "spec.routing.check.intervalMilliseconds",
		Says:      "a check must connect before the next begins",
		Neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 200}`, `, app: {zone: eu}`),
	},
	{
		Name:      "an app farther than a check of ProxySQL may take",
		Refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 401}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
		Field:     "spec.routing.check.intervalMilliseconds",
		Says:      "a check must connect before the next begins",
		Neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 400}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 500}}`),
	},
	{
		Name:      "an app farther than ProxySQL keeps connections",
		Refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 601}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
		Field:     "spec.topology.links[0].roundTripMilliseconds",
		Says:      "ProxySQL does not keep connections over more than 600 ms",
		Neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 600}`, `, app: {zone: eu}, routing: {proxy: ProxySQL, check: {intervalMilliseconds: 1000}}`),
	},
	{
		Name:      "an app far away through a proxy",
		Refused:   placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}`),
		Field:     "spec.routing.check.intervalMilliseconds",
		Says:      "a check must connect before the next begins",
		Neighbour: placed(euAndUS, `{from: eu, to: us, roundTripMilliseconds: 900}`, `, app: {zone: eu}, routing: {proxy: None}`),
	},
	{
		Name:      "an app farther than its requests can bear",
		Refused:   placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 901}`, `, app: {zone: eu}, routing: {proxy: None}`),
		Field:     "spec.topology.links[0].roundTripMilliseconds",
		Says:      "the app's clients give up before an answer over more than 900 ms",
		Neighbour: placed(euAndUS, `{from: us, to: eu, roundTripMilliseconds: 901}`, `, routing: {proxy: None}`),
	},
	{
		Name:      "a link to where nobody is",
		Refused:   placed(euAndUS+`, {name: asia, nodes: []}`, `{from: eu, to: asia, roundTripMilliseconds: 1}`, ``),
		Field:     "spec.topology.links[0]",
		Says:      "neither a node nor the app is in zone asia",
		Neighbour: placed(euAndUS+`, {name: asia, nodes: []}`, `{from: eu, to: asia, roundTripMilliseconds: 1}`, `, app: {zone: asia}`),
	},
	{
		Name:      "a link from where nobody is to the app",
		Refused:   placed(`{name: eu, nodes: []}, {name: us, nodes: [2]}`, atlantic, `, app: {zone: us}`),
		Field:     "spec.topology.links[0]",
		Says:      "neither a node nor the app is in zone eu",
		Neighbour: placed(`{name: eu, nodes: [0]}, {name: us, nodes: [2]}`, atlantic, `, app: {zone: us}`),
	},
}
