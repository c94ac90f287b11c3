// Package director is the failover manager of one primary with asynchronous or semi-synchronous replicas, and of a single
// server. What the server is, its engine knows (internal/engine). It is part of the system under test; one runs per experiment.
//
// It goes round a loop: observe the nodes (observe.go), decide on one next act from the state, the observations and the
// clock (decide.go and the rules beside it: pure), act (acts.go: idempotent). What cannot be repeated, the choice of a
// primary, is an intent: it is stored before anything follows from it, and the act comes after another look. So a
// director that dies at any instant continues from its stored state and from what it sees.
//
// Only the holder of a lease may be writable. The director renews the lease of the primary of the present epoch alone;
// an agent whose lease has run out makes its server read-only. Before another node is opened the old primary must be
// proven dead or read-only, or its lease must have run out.
package director
