package host

import "testing"

func TestRemoval(t *testing.T) {
	for name, c := range map[string]struct{ save, want string }{
		"a machine without our chains is left alone": {
			save: "*filter\n:INPUT ACCEPT [0:0]\n:DOCKER - [0:0]\n-A INPUT -j DOCKER\nCOMMIT\n",
			want: "",
		},
		"our chains go, with the rules that lead into them": {
			save: "*filter\n:INPUT ACCEPT [0:0]\n:KUBE-FIREWALL - [0:0]\n" +
				"-A INPUT -p tcp -j ACCEPT\n-A INPUT -m comment --comment \"kubernetes -j ACCEPT\" -j KUBE-FIREWALL\n" +
				"-A KUBE-FIREWALL -j DROP\nCOMMIT\n",
			want: "*filter\n:KUBE-FIREWALL - [0:0]\n-D INPUT -m comment --comment \"kubernetes -j ACCEPT\" -j KUBE-FIREWALL\n" +
				"-X KUBE-FIREWALL\nCOMMIT\n",
		},
		"a rule of ours inside a chain of ours needs no removal of its own": {
			save: "*nat\n:KUBE-SERVICES - [0:0]\n:KUBE-SVC-A - [0:0]\n-A KUBE-SERVICES -j KUBE-SVC-A\nCOMMIT\n",
			want: "*nat\n:KUBE-SERVICES - [0:0]\n:KUBE-SVC-A - [0:0]\n-X KUBE-SERVICES\n-X KUBE-SVC-A\nCOMMIT\n",
		},
		"a CNI chain of another network is somebody else's": {
			save: "*nat\n:POSTROUTING ACCEPT [0:0]\n:CNI-0a - [0:0]\n" +
				`-A POSTROUTING -m comment --comment "name: \"podman\" id: \"1\"" -j CNI-0a` + "\nCOMMIT\n",
			want: "",
		},
		"a CNI chain of our network is ours": {
			save: "*nat\n:POSTROUTING ACCEPT [0:0]\n:CNI-0b - [0:0]\n" +
				`-A POSTROUTING -m comment --comment "name: \"replab\" id: \"1\"" -j CNI-0b` + "\nCOMMIT\n",
			want: "*nat\n:CNI-0b - [0:0]\n" +
				`-D POSTROUTING -m comment --comment "name: \"replab\" id: \"1\"" -j CNI-0b` + "\n-X CNI-0b\nCOMMIT\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := removal(c.save); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestEmptyTable(t *testing.T) {
	for name, c := range map[string]struct {
		listing string
		want    bool
	}{
		"chains without rules that let all pass": {
			"table ip nat {\n\tchain POSTROUTING {\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t}\n}\n", true,
		},
		"a rule": {
			"table ip nat {\n\tchain POSTROUTING {\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t\tmasquerade\n\t}\n}\n", false,
		},
		"a policy that drops": {
			"table ip filter {\n\tchain INPUT {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := emptyTable(c.listing); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
