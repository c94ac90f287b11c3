package mysql

import (
	"fmt"
	"net"
	"strconv"

	sqldriver "database/sql/driver"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// account is who connects where. Its address is host:port.
type account struct {
	name, password, address string
	database                string // "" for none
}

// connector returns what opens connections for an account; change sets what differs from the driver's defaults. The
// driver's own log is off: every error is returned as well.
func (a account) connector(change func(*driver.Config)) (sqldriver.Connector, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.DBName = a.name, a.password, a.database
	c.Net, c.Addr = "tcp", a.address
	c.Logger = &driver.NopLogger{}
	change(c)
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure the connections of %s to %s: %w", a.name, a.address, err)
	}
	return connector, nil
}

// endpointAddress is host:port of an endpoint.
func endpointAddress(e wire.Endpoint) string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// nodeAddress adds the port that the nodes' servers have, unless host names another.
func nodeAddress(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(Port))
}
