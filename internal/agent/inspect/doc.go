// Package inspect keeps what a node held when its server was about to be started again. The start wrapper runs the server alone, the
// agent reads it through its socket and keeps the ids that it found, and the wrapper goes on. They tell each other by files: the wrapper in the
// folder of the socket, the agent in the one of the holds.
package inspect
