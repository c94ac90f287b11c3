package family

import (
	"database/sql"
	"fmt"
	"net"
	"strconv"
	"strings"

	sqldriver "database/sql/driver"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// Port is where the family's servers listen for clients, unless they are given another one.
const Port = 3306

// Account names a user and the server that he connects to, by host:port or by the path of a unix socket.
type Account struct {
	Name, Password, Address string
	Database                string // "" for none
}

// Connector returns what opens connections for an account; change sets what differs from the driver's defaults. The
// driver's own log is off: every error is returned as well.
func (a Account) Connector(change func(*driver.Config)) (sqldriver.Connector, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.DBName = a.Name, a.Password, a.Database
	c.Net, c.Addr = "tcp", a.Address
	if strings.HasPrefix(a.Address, "/") {
		c.Net = "unix"
	}
	c.Logger = &driver.NopLogger{}
	change(c)
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure the connections of %s to %s: %w", a.Name, a.Address, err)
	}
	return connector, nil
}

// Pool returns a pool of at most so many connections, which connects when it is used.
func (a Account) Pool(most int, change func(*driver.Config)) (*sql.DB, error) {
	connector, err := a.Connector(change)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(most)
	return db, nil
}

// probe is the account of the instruments on the server of a node.
func probe(host, password string) Account {
	return Account{Name: wire.AccountProbe, Password: password, Address: NodeAddress(host)}
}

// EndpointAddress is host:port of an endpoint.
func EndpointAddress(e wire.Endpoint) string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// NodeAddress adds the port that the nodes' servers have, unless host names another.
func NodeAddress(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(Port))
}
