// Package crd carries the custom resource definitions, for what checks experiments and suites without a cluster.
package crd

import _ "embed"

// File is the definition of experiments as it is installed, YAML.
//
//go:embed replab.dev_replicationexperiments.yaml
var File []byte

// Suites is the definition of suites.
//
//go:embed replab.dev_replicationsuites.yaml
var Suites []byte
