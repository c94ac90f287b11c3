// Package prometheus holds the chart's dashboards and alerts against what replab tells Prometheus, by Prometheus' own parser. It is a module of its
// own, so that nothing of replab's depends on Prometheus.
package prometheus
