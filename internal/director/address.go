package director

import (
	"net"
	"strconv"

	"replab.dev/internal/agent/client"
	"replab.dev/internal/engine"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// address is where a node's server and its agent listen.
type address struct {
	Name     string
	Host     string
	Port     int // of the server
	AgentURL string
}

// addresses returns where the nodes of an experiment listen.
func addresses(cfg wire.DirectorConfig) []address {
	list := make([]address, 0, len(cfg.Nodes))
	for _, n := range cfg.Nodes {
		list = append(list, address{Name: n.Name, Host: n.Host, Port: cfg.Port, AgentURL: client.URL(n.Host)})
	}
	return list
}

// hostPort is the server's address.
func (a address) hostPort() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// source is the node as others replicate from it.
func (a address) source() engine.Source {
	return engine.Source{Name: a.Name, Host: a.Host, Port: a.Port}
}

// secrets are what the director must know to be let in.
type secrets struct {
	admin       string // password of wire.AccountAdmin
	replication string // password of wire.AccountReplication
	token       string // bearer token of the agents, and of requests to the director
}

func readSecrets(dir string) (s secrets, err error) {
	for name, into := range map[string]*string{
		wire.AccountAdmin: &s.admin, wire.AccountReplication: &s.replication, wire.AgentTokenFile: &s.token,
	} {
		if *into, err = process.Secret(dir, name); err != nil {
			return secrets{}, err
		}
	}
	return s, nil
}
