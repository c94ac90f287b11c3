package family

import (
	"fmt"
	"net"
	"strconv"

	sqldriver "database/sql/driver"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// Port is where the family's servers listen for clients, unless they are given another one.
const Port = 3306

// Account is who connects where. Its address is host:port.
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
	c.Logger = &driver.NopLogger{}
	change(c)
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure the connections of %s to %s: %w", a.Name, a.Address, err)
	}
	return connector, nil
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
