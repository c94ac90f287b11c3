package family

import (
	"context"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// OpenSocketReader connects to a server on a unix socket as the administrator.
func OpenSocketReader(ctx context.Context, socket, password string, words ReaderWords) (*Reader, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = wire.AccountAdmin, password, "unix", socket, wire.Database
	c.Timeout, c.ReadTimeout, c.WriteTimeout = dialTimeout, stallTimeout, stallTimeout
	c.Logger = &driver.NopLogger{} // the errors are returned as well
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return newReader(ctx, connector, words)
}
