package host

import "testing"

func TestDockerRemoval(t *testing.T) {
	const (
		none  = "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -s 10.0.0.0/8 -j ACCEPT\nCOMMIT\n"
		own   = "*filter\n:FORWARD ACCEPT [1:1]\n:DOCKER - [0:0]\n-A FORWARD -s 10.0.0.0/8 -j ACCEPT\n-A FORWARD -o docker0 -j DOCKER\n-A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A DOCKER -d 172.17.0.2/32 -j ACCEPT\nCOMMIT\n"
		older = "*filter\n:FORWARD ACCEPT [0:0]\n:DOCKER - [0:0]\n-A FORWARD -o docker0 -j DOCKER\n-A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A DOCKER -d 172.17.0.9/32 -j ACCEPT\nCOMMIT\n"
		both  = "*filter\n:FORWARD ACCEPT [0:0]\n:DOCKER - [0:0]\n:DOCKER-USER - [0:0]\n-A FORWARD -j DOCKER-USER\n-A FORWARD -o docker0 -j DOCKER\n-A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A FORWARD -o br-0123456789ab -j ACCEPT\n-A DOCKER-USER -j RETURN\nCOMMIT\n"
	)
	for name, c := range map[string]struct {
		before, now string
		links       []string
		want        string
	}{
		"a machine without Docker":    {before: none, now: none},
		"another Docker's, as before": {before: older, now: older},
		"ours": {
			before: none, now: own, links: []string{"docker0"},
			want: "*filter\n:DOCKER - [0:0]\n-D FORWARD -o docker0 -j DOCKER\n-D FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-X DOCKER\nCOMMIT\n",
		},
		"ours, killed with a published port": {
			before: "*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n",
			now:    "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s 172.18.0.2/32 -d 172.18.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE\nCOMMIT\n",
			want:   "*nat\n-D POSTROUTING -s 172.18.0.2/32 -d 172.18.0.2/32 -p tcp -m tcp --dport 80 -j MASQUERADE\nCOMMIT\n",
		},
		"ours over another's": {
			before: older, now: both, links: []string{"br-0123456789ab"},
			want: "*filter\n:DOCKER - [0:0]\n:DOCKER-USER - [0:0]\n-D FORWARD -j DOCKER-USER\n-D FORWARD -o br-0123456789ab -j ACCEPT\n" +
				"-A DOCKER -d 172.17.0.9/32 -j ACCEPT\n-X DOCKER-USER\nCOMMIT\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := dockerRemoval(c.before, c.now, c.links); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
