# Every target says in its `##` comment what it is for: `make` prints them.
# A machine with Go and make is enough; all other tools are built into bin/ from pinned versions.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
export CGO_ENABLED := 0

CONTROLLER_GEN_VERSION := v0.23.0
HELM_VERSION           := v4.3.1
GOLANGCI_LINT_VERSION  := v2.15.0

BIN            := $(CURDIR)/bin
CONTROLLER_GEN := $(BIN)/controller-gen-$(CONTROLLER_GEN_VERSION)
HELM           := $(BIN)/helm-$(HELM_VERSION)
GOLANGCI_LINT  := $(BIN)/golangci-lint-$(GOLANGCI_LINT_VERSION)

# The local cluster: lab-* and cluster-* targets, CLUSTER (kind, lab or current) and CLUSTER_KUBECONFIG.
-include hack/lab/lab.mk

##@ Everyday

.PHONY: help
help: ## Print this list
	@awk 'BEGIN {FS = ":.*?## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-zA-Z0-9_-]+:.*?## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the binary into bin/replab
	go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/replab ./cmd/replab

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Regenerate deepcopy functions, CRD, RBAC, the chart's copies and docs/api.md
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd
	$(if $(wildcard controllers/*.go),$(CONTROLLER_GEN) rbac:roleName=replab-operator paths=./controllers/... output:rbac:dir=config/rbac)
	cp config/crd/replab.dev_replicationexperiments.yaml charts/replab/files/crd.yaml
	cp config/rbac/role.yaml charts/replab/files/role.yaml
	go run ./hack/docs config/crd/replab.dev_replicationexperiments.yaml docs/api.md

##@ Tools

$(CONTROLLER_GEN):
	@$(call install-tool,sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION),$@)

$(HELM):
	@$(call install-tool,helm.sh/helm/v4/cmd/helm@$(HELM_VERSION),$@)

$(GOLANGCI_LINT):
	@$(call install-tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION),$@)

# install-tool builds the command of a module at a version ($1) as the file $2.
define install-tool
echo "building $(notdir $2) ..."; started=$$(date +%s); \
mkdir -p $(BIN)/.install && GOBIN=$(BIN)/.install go install $1 && mv $(BIN)/.install/$(firstword $(subst @, ,$(notdir $1))) $2 && \
echo "built $(notdir $2) in $$(($$(date +%s) - started)) s"
endef
