// Package seeds has the tables of the seed documents, which experiments of this repository reproduce. It is pure.
package seeds

// Figure is a line of seed 001's tables; of a run, one of its stages.
type Figure struct {
	Connections int64
	PerSecond   float64 // transactions
	Failed      float64 // of them, a second; of the seed, deadlocks
	P95, Mean   float64 // latency in seconds
}

// Part is a table of the seed, and the experiment that reproduces it.
type Part struct {
	Title, Experiment string
	RoundTrip         float64 // seconds, of each commit
	Seed              []Figure
}

// WithoutDistance is the experiment whose latency is what a transaction takes without the ocean.
const WithoutDistance = "seed-001-1eu"

// Seed001 are the numbers of the document, in its order.
var Seed001 = []Part{
	{"plain + trx flush", "seed-001-plain", 0, []Figure{
		{8, 356.25, 0, 0.0423, 0.0224}, {16, 437.51, 0, 0.0677, 0.0366}, {32, 426.04, 0, 0.1350, 0.0751}, {64, 419.96, 0, 0.2597, 0.1524},
	}},
	{"1eu node", WithoutDistance, 0, []Figure{
		{8, 435.22, 0, 0.0352, 0.0184}, {16, 497.05, 0, 0.0589, 0.0322}, {32, 530.13, 0, 0.1123, 0.0603}, {64, 514.13, 0, 0.2194, 0.1245},
	}},
	{"1eu + 1usa", "seed-001-1eu-1us", 0.087284, []Figure{
		{8, 76.25, 0, 0.1226, 0.1049},
		{16, 141.62, 0, 0.1401, 0.1129},
		{32, 204.55, 0, 0.2115, 0.1564},
		{64, 328.22, 0, 0.2695, 0.1949},
		{128, 332.54, 0, 0.5518, 0.3846},
		{192, 345.54, 0, 0.8469, 0.5551},
		{256, 339.87, 0, 1.2046, 0.7522},
		{320, 340.46, 0, 1.5074, 0.9383},
	}},
	{"2eu + 1usa", "seed-001-2eu-1us", 0.087284, []Figure{
		{8, 73.90, 0.11, 0.1287, 0.1082},
		{16, 140.9, 0.51, 0.1366, 0.1135},
		{32, 233.31, 1.53, 0.1890, 0.1371},
		{64, 376.57, 4.77, 0.2784, 0.1699},
		{128, 409.60, 9.61, 0.5578, 0.3122},
		{192, 384.42, 13.27, 0.8818, 0.4989},
		{256, 386.39, 17.55, 1.1541, 0.6618},
		{320, 368.29, 22.25, 1.5761, 0.8676},
	}},
}

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
