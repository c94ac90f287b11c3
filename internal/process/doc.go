// Package process holds what every subcommand of replab does in the same way: it loads its configuration, reads its
// secrets, serves HTTP until it is told to stop, asks for a token, and publishes what it found in its ConfigMap.
package process
