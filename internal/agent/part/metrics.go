package part

import "replab.dev/internal/metrics"

// Families of metrics that every agent has.
var (
	Up   = metrics.Gauge("replab_agent_server_up", "1 while the server answers a query.")
	Role = metrics.Gauge("replab_agent_role", "1 for the role that the agent tells proxies, primary or replica; 0 for one that the server has not.", "role")
)
