package main

import (
	"github.com/coredns/coredns/coremain"
	// The plugins that the lab's Corefile names and no others: the full build draws in the SDKs of several clouds.
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func runCoreDNS() { coremain.Run() }
