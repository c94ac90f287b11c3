package wire

// Every process of an experiment that lasts answers Prometheus at a port of its own, where there is nothing else: whoever may read the
// figures can reach neither the app behind the recorder's back nor what acts on a node.
const (
	// EnvMetrics is the environment variable with the address at which a process answers Prometheus; without it, it does nowhere.
	EnvMetrics  = "REPLAB_METRICS"
	MetricsPath = "/metrics"
	// MetricsPortName names the container's port, by which monitors find it.
	MetricsPortName = "metrics"
)
