// Package family is what the servers that descend from MySQL share: one protocol, one driver, and most of the SQL. Each engine of
// the family says in a folder of its own what differs.
package family
