package director

import (
	"net"
	"strconv"

	"replab.dev/internal/process"
	"replab.dev/internal/protocol"
)

// address is where a node's server and its agent listen.
type address struct {
	Name     string
	Host     string
	Port     int // of the server
	AgentURL string
}

// addresses returns where the nodes of an experiment listen.
func addresses(nodes []protocol.Node) []address {
	list := make([]address, 0, len(nodes))
	for _, n := range nodes {
		agent := net.JoinHostPort(n.Host, strconv.Itoa(protocol.PortAgent))
		list = append(list, address{Name: n.Name, Host: n.Host, Port: protocol.PortMySQL, AgentURL: "http://" + agent})
	}
	return list
}

// hostPort is the server's address, also as replication shows its source and as a clone names its donor.
func (a address) hostPort() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }

// secrets are what the director must know to be let in.
type secrets struct {
	admin       string // password of protocol.AccountAdmin
	replication string // password of protocol.AccountReplication
	token       string // bearer token of the agents, and of requests to the director
}

func readSecrets(dir string) (s secrets, err error) {
	for name, into := range map[string]*string{
		protocol.AccountAdmin: &s.admin, protocol.AccountReplication: &s.replication, protocol.AgentTokenFile: &s.token,
	} {
		if *into, err = process.Secret(dir, name); err != nil {
			return secrets{}, err
		}
	}
	return s, nil
}
