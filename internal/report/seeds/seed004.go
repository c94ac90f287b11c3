package seeds

// Conclusion is a line of seed 004's last table, as it stands there with its own differences, and the experiment that reproduces it.
type Conclusion struct {
	Title, Experiment                     string
	PerSecond, P99, Requests, Errors, Lag string
}

// Seed004 are the lines of the document, in its order. It gives no unit of the latency.
var Seed004 = []Conclusion{
	{"Single Instance", "seed-004-single", "24", "11", "5721", "11", "-"},
	{"Async 1 Master - 2 Slaves", "seed-004-async", "11 (-55%)", "11 (+0%)", "2553 (-56%)", "4 (-74%)", "300 - 400 ms"},
	{"Quorum 1 Master - 2 Slaves", "seed-004-quorum", "26 (+136%)", "11 (+0%)", "7264 (+27%)", "1 (-90%)", "150 - 200 ms (-50%)"},
	{"Promote 1 Master - 1 Slave", "seed-004-promote", "16 (-33%)", "11 (+0%)", "3932 (-32%)", "11 (+0%)", "0 ms (-100%)"},
}
