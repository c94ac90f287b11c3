package family

// schema creates the app's tables; every node makes them itself when its data directory is made. users.id counts on from the seeded
// rows. write_id is the ledger's id, NULL for seeded rows; its index lets the audit read ids alone. probe_writes takes one row per probe.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS users (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  write_id BIGINT UNSIGNED NULL,
  first_name VARCHAR(256) NOT NULL,
  last_name VARCHAR(256) NOT NULL,
  birthdate DATE NULL,
  biography VARCHAR(1024) NOT NULL DEFAULT '',
  city VARCHAR(256) NOT NULL DEFAULT '',
  password VARCHAR(100) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY write_id (write_id),
  KEY name (last_name(32), first_name(32))
) CHARACTER SET utf8mb4`,
	`CREATE TABLE IF NOT EXISTS probe_writes (
  id BIGINT UNSIGNED NOT NULL,
  payload VARBINARY(65000) NOT NULL,
  PRIMARY KEY (id)
)`,
}
