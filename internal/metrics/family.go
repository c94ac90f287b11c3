package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Family is one metric with all its series.
type Family struct {
	Name, Help string
	Labels     []string
	Type       dto.MetricType

	desc *prometheus.Desc
}

// Gauge is a value of the moment.
func Gauge(name, help string, labels ...string) *Family {
	return family(name, help, dto.MetricType_GAUGE, labels)
}

// Counter only grows while its process runs.
func Counter(name, help string, labels ...string) *Family {
	return family(name, help, dto.MetricType_COUNTER, labels)
}

// Histogram is of native buckets.
func Histogram(name, help string, labels ...string) *Family {
	return family(name, help, dto.MetricType_HISTOGRAM, labels)
}

func family(name, help string, kind dto.MetricType, labels []string) *Family {
	return &Family{Name: name, Help: help, Labels: labels, Type: kind, desc: prometheus.NewDesc(name, help, labels, nil)}
}

// Desc is what a metric of the family is made with.
func (f *Family) Desc() *prometheus.Desc { return f.desc }

// Collector reads what its process holds when it is asked, and keeps nothing: series of what is gone are gone.
type Collector struct {
	Families []*Family
	// Read tells the values of the moment. What is not known is not told.
	Read func(Tell)
	// Try is Read where what is held may not be readable, for which Prometheus gets no answer.
	Try func(Tell) error
	// More tells metrics that are not a single value; it may be nil.
	More func(chan<- prometheus.Metric)
}

// Tell takes one value of a family, with its labels' values.
type Tell func(f *Family, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range c.Families {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (c Collector) Collect(ch chan<- prometheus.Metric) {
	tell := func(f *Family, value float64, labels ...string) {
		kind := prometheus.GaugeValue
		if f.Type == dto.MetricType_COUNTER {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(f.desc, kind, value, labels...)
	}
	if c.Read != nil {
		c.Read(tell)
	}
	if c.Try != nil {
		if err := c.Try(tell); err != nil {
			ch <- prometheus.NewInvalidMetric(c.Families[0].desc, err)
		}
	}
	if c.More != nil {
		c.More(ch)
	}
}

// Bool is 1 or 0.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Seconds of a number of microseconds.
func Seconds(microseconds int64) float64 { return float64(microseconds) / 1e6 }
