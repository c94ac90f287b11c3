# Every target says in its `##` comment what it is for: `make` prints them.
# A machine with Go and make is enough; all other tools are built into bin/ from pinned versions.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.NOTPARALLEL:
$(if $(word 2,$(CURDIR))$(word 2,$(LOCAL_DIR)),$(error the paths of the checkout and of LOCAL_DIR must have no blanks))

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
export VERSION
# The same for all, and no -trimpath: other flags would have all dependencies compiled once more.
export CGO_ENABLED := 0
export GOFLAGS += -buildvcs=false

CONTROLLER_GEN_VERSION := v0.23.0
CRD_REF_DOCS_VERSION   := v0.3.0
HELM_VERSION           := v4.3.1
HELM3_VERSION          := v3.22.0
GOLANGCI_LINT_VERSION  := v2.15.0
ACTIONLINT_VERSION     := v1.7.12
KUBECONFORM_VERSION    := v0.8.0
ACT_VERSION            := v0.2.89
CYCLONEDX_GOMOD_VERSION := v1.10.0

BIN            := $(CURDIR)/bin
CRD_REF_DOCS   := $(BIN)/crd-ref-docs-$(CRD_REF_DOCS_VERSION)
CONTROLLER_GEN := $(BIN)/controller-gen-$(CONTROLLER_GEN_VERSION)
HELM           := $(BIN)/helm-$(HELM_VERSION)
HELM3          := $(BIN)/helm3-$(HELM3_VERSION)
GOLANGCI_LINT  := $(BIN)/golangci-lint-$(GOLANGCI_LINT_VERSION)
ACTIONLINT     := $(BIN)/actionlint-$(ACTIONLINT_VERSION)
KUBECONFORM    := $(BIN)/kubeconform-$(KUBECONFORM_VERSION)
ACT            := $(BIN)/act-$(ACT_VERSION)
CYCLONEDX_GOMOD := $(BIN)/cyclonedx-gomod-$(CYCLONEDX_GOMOD_VERSION)

NAMESPACE   ?= replab-system
EXPERIMENT  ?= experiments/semisync.yaml
HELM_ARGS   ?=

# What `make generate` writes.
CRDS      := config/crd/replab.dev_replicationexperiments.yaml config/crd/replab.dev_replicationsuites.yaml
GENERATED := api/v1alpha1/zz_generated.deepcopy.go $(CRDS) config/rbac/role.yaml config/zalando/role.yaml config/k6operator/role.yaml charts/replab/files docs/reference/api.md \
  config/public/operator.json config/packages/operator.json

# The runners and topologies whose rights everybody's operator has.
RUNNERS := $(filter-out internal/load/k6operator/,$(sort $(dir $(wildcard internal/load/*/*.go))))
TOPOLOGIES := $(filter-out internal/topology/zalando/,$(sort $(dir $(wildcard internal/topology/*/*.go))))

# What the operator's settings of config/public and config/packages name in place of the default's images.
OWN_IMAGE      := -e 's|"replab:[^"]*"|"replab.local/replab:dev"|'
PACKAGE_IMAGES := -e 's|"percona/percona-server:[^"]*"|"replab.local/mysql:9.7"|' -e 's|"mariadb:[^"]*"|"replab.local/mariadb:11.8"|' \
  -e 's|\("ZalandoOperator/PostgreSQL": \)"[^"]*"|\1"replab.local/spilo:4.0"|' \
  -e 's|"ghcr.io/zalando/spilo-17:[^"]*"|"replab.local/patroni:4.0"|' -e 's|"haproxy:[^"]*"|"replab.local/haproxy:3.0"|' \
  -e 's|"grafana/k6:[^"]*"|"replab.local/k6:1.8.1"|'

##@ Everyday

.PHONY: help
help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-zA-Z0-9_-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## From nothing to a verdict: cluster, images, operator, EXPERIMENT
	@hack/parts 'from nothing to a verdict' \
	  'bring up the cluster' '$(MAKE) --no-print-directory cluster-up CLUSTER=$(CLUSTER) IMAGES_FOR=$(EXPERIMENT)' \
	  'install the operator' '$(MAKE) --no-print-directory install CLUSTER=$(CLUSTER) IMAGES_FOR=$(EXPERIMENT)' \
	  'build kubectl-replab' 'go build -ldflags "-X main.version=$(VERSION)" -o $(BIN)/kubectl-replab ./cmd/kubectl-replab' \
	  'run $(EXPERIMENT)' 'KUBECONFIG=$(CLUSTER_KUBECONFIG) $(BIN)/kubectl-replab run --replace $(EXPERIMENT) || [ $$? -eq 1 ]' # a goal that is not met is a finding

.PHONY: build
build: ## Build the binary and the plugin into bin/replab and bin/kubectl-replab
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/ ./cmd/replab ./cmd/kubectl-replab

.PHONY: clean
clean: ## Remove bin and dist; the caches of .local go with cluster-purge
	rm -rf $(BIN) dist

##@ Code

.PHONY: generate
generate: $(CONTROLLER_GEN) $(CRD_REF_DOCS) ## Regenerate deepcopy functions, CRD, RBAC, the chart's copies and docs/reference/api.md
	@$(CONTROLLER_GEN) object paths=./api/...
	@$(CONTROLLER_GEN) crd paths=./api/... output:crd:dir=config/crd
	@for crd in $(CRDS); do go run ./hack/crd $$crd || exit 1; done
	@cp config/crd/replab.dev_replicationexperiments.yaml charts/replab/files/crd.yaml
	@cp config/crd/replab.dev_replicationsuites.yaml charts/replab/files/crd-suites.yaml
	@$(CRD_REF_DOCS) --log-level=ERROR --renderer=markdown --max-depth=20 --source-path=api/v1alpha1 --config=hack/docs/config.yaml \
	  --templates-dir=hack/docs/templates --output-path=docs/reference/api.md
	@$(CONTROLLER_GEN) rbac:roleName=replab-operator paths=./controllers/... $(patsubst %/,paths=./%,$(RUNNERS)) paths=./internal/proxy/... $(patsubst %/,paths=./%,$(TOPOLOGIES)) output:rbac:dir=config/rbac
	@$(CONTROLLER_GEN) rbac:roleName=replab-operator-zalando paths=./internal/topology/zalando output:rbac:dir=config/zalando
	@$(CONTROLLER_GEN) rbac:roleName=replab-operator-k6operator paths=./internal/load/k6operator output:rbac:dir=config/k6operator
	@cp config/rbac/role.yaml charts/replab/files/role.yaml
	@cp config/zalando/role.yaml charts/replab/files/zalando.yaml
	@cp config/k6operator/role.yaml charts/replab/files/k6operator.yaml
	@sed $(OWN_IMAGE) config/manager/operator.json >config/public/operator.json
	@sed $(OWN_IMAGE) $(PACKAGE_IMAGES) config/manager/operator.json >config/packages/operator.json

.PHONY: verify
verify: verify-generated verify-modules lint verify-chart verify-workflows verify-words ## Check that what is generated is current, then lint and vet

.PHONY: verify-generated
verify-generated: $(CONTROLLER_GEN) $(CRD_REF_DOCS)
	@echo "verify: generated files are current"
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; cp -r --parents $(GENERATED) "$$before"; \
	$(MAKE) --no-print-directory generate; \
	for path in $(GENERATED); do diff -ru "$$before/$$path" "$$path" || stale=1; done; \
	if [ -n "$${stale:-}" ]; then echo "These files were stale and are now current: commit them." >&2; exit 1; fi

.PHONY: verify-modules
verify-modules:
	@echo "verify: go.mod lists what is imported"
	@go mod tidy -diff
	@for module in test/prometheus hack/local hack/release; do (cd $$module && go mod tidy -diff) || exit 1; done

.PHONY: verify-chart
verify-chart: $(HELM)
	@echo "verify: helm lint"
	@$(HELM) lint --strict --quiet charts/replab

# Without shellcheck and pyflakes, which are not pinned: what they find would differ by machine.
.PHONY: verify-workflows
verify-workflows: $(ACTIONLINT)
	@echo "verify: actionlint"
	@$(ACTIONLINT) -shellcheck= -pyflakes=

# A hint: long sentences fail no check here. TestPagesAreShort has the same rule.
.PHONY: verify-words
verify-words:
	@echo "verify: length of sentences and cells"
	@go run ./hack/words

# Without what make exports: a runner has none of it.
.PHONY: play-workflow
play-workflow: $(ACT) ## Play a job's `run:` steps in a clean clone of the last commit: WORKFLOW=ci.yaml JOB=image PLAY_ARGS=-help
	@go build -o $(BIN)/play ./hack/play
	@env -u VERSION -u CGO_ENABLED -u GOFLAGS -u LOCAL_DIR $(BIN)/play -act $(ACT) -workflow '$(WORKFLOW)' -job '$(JOB)' $(PLAY_ARGS)

# go vet is one of the linters.
.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters of .golangci.yml
	@echo "lint: golangci-lint"
	@$(GOLANGCI_LINT) run --allow-parallel-runners --build-tags e2e ./...
	@cd hack/local && $(GOLANGCI_LINT) run --allow-parallel-runners ./...
	@cd hack/release && $(GOLANGCI_LINT) run --allow-parallel-runners ./...
	@cd test/prometheus && $(GOLANGCI_LINT) run --allow-parallel-runners --build-tags e2e ./...

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format the Go files
	@$(GOLANGCI_LINT) fmt ./...

##@ Tests

# What the tests need they must find: with REPLAB_REQUIRE_* a missing server is a failure, not a skipped test. Most tests wait for servers of
# theirs more than they compute, so more packages run at once than a small machine has cores. `make verify` vets them. Linking, and tests that
# compute, spend a quarter of their time on the collection of garbage unless they are let have more memory: GOGC.
# Packages in the order in which they begin: those with servers take longest.
PACKAGES ?= ./test/... ./internal/... ./...
test test-unit: export GOGC ?= 400
.PHONY: test
test: local-bin local-rootfs $(HELM) $(KUBECONFORM) $(ACT) ## Run all tests that need no cluster, against real MySQL, MariaDB, PostgreSQL, HAProxy and kube-apiserver processes
	@echo "test: go test $(PACKAGES) with MySQL, MariaDB, PostgreSQL and HAProxy from .local/rootfs and kube-apiserver from .local/bin"
	@REPLAB_REQUIRE_MYSQL=1 REPLAB_MYSQL_ROOTFS=$(LOCAL_DIR)/rootfs/mysql REPLAB_MARIADB_ROOTFS=$(LOCAL_DIR)/rootfs/mariadb \
	  REPLAB_REQUIRE_POSTGRES=1 REPLAB_POSTGRES_ROOTFS=$(LOCAL_DIR)/rootfs/patroni REPLAB_REQUIRE_ENVTEST=1 REPLAB_REQUIRE_HELM=1 REPLAB_REQUIRE_K6=1 \
	  KUBEBUILDER_ASSETS=$(LOCAL_DIR)/bin REPLAB_HELM=$(HELM) REPLAB_REQUIRE_KUBECONFORM=1 REPLAB_KUBECONFORM=$(KUBECONFORM) \
	  REPLAB_REQUIRE_ACT=1 REPLAB_ACT=$(ACT) hack/in-memory go test -count=1 -vet=off -p 6 -timeout 20m $(TEST_ARGS) $(PACKAGES)
	@echo "test: the tests of hack/local"
	@go test -C hack/local -count=1 -vet=off ./...
	@go test -C hack/local/kube -count=1 -vet=off ./provisioner
	@echo "test: what a release is made of"
	@go test -C hack/release -count=1 -vet=off ./...
	@echo "test: dashboards and alerts, by Prometheus' parser"
	@go test -C test/prometheus -count=1 -vet=off ./...

.PHONY: test-helm3
test-helm3: local-bin $(HELM3) $(KUBECONFORM) ## Run the charts' tests with Helm 3: `make test` has Helm 4
	@REPLAB_REQUIRE_ENVTEST=1 KUBEBUILDER_ASSETS=$(LOCAL_DIR)/bin REPLAB_REQUIRE_HELM=1 REPLAB_HELM=$(HELM3) \
	  REPLAB_REQUIRE_KUBECONFORM=1 REPLAB_KUBECONFORM=$(KUBECONFORM) go test -count=1 $(TEST_ARGS) ./test/charts

# What depends on the kernel, on Debian's: users' machines rarely have the one of this machine.
.PHONY: test-vm
test-vm: ## Run the tests of links, partitions, processes and control groups on Debian's kernel, in a virtual machine
	@hack/vm/test ./internal/agent/link ./internal/agent/nft ./internal/agent/proc ./internal/usage ./hack/local/internal/cgroups

.PHONY: test-unit
test-unit: ## Run the tests that need nothing but Go: no server, no browser, nothing downloaded
	@go test -short -vet=off -p 4 $(TEST_ARGS) $(PACKAGES)

# Benches are tests named TestBench, which are skipped unless REPLAB_BENCH is set. Each prints its figures a line each, see
# test/benchmark: what, measured, value or ratio, target, reached or not. The rest of what they say is shown if they fail.
BENCH_LOG = $(LOCAL_DIR)/bench.log
define print-figures
2>&1 | tee $(BENCH_LOG) | sed -un 's/^bench: //p' || { echo "Failed; $(BENCH_LOG) ends with:"; tail -n 40 $(BENCH_LOG); exit 1; } >&2
endef

.PHONY: bench
bench: bench-processes bench-cluster ## Print the figures of recorder, probes, audit, seed, app and operator, each beside its target

.PHONY: bench-processes
bench-processes: local-bin local-rootfs
	@$(LOCAL) rootfs sysbench
	@REPLAB_REQUIRE_MYSQL=1 REPLAB_MYSQL_ROOTFS=$(LOCAL_DIR)/rootfs/mysql REPLAB_MARIADB_ROOTFS=$(LOCAL_DIR)/rootfs/mariadb \
	  REPLAB_REQUIRE_POSTGRES=1 REPLAB_POSTGRES_ROOTFS=$(LOCAL_DIR)/rootfs/patroni REPLAB_K6=$(LOCAL_DIR)/bin/k6 \
	  REPLAB_HAPROXY_ROOTFS=$(LOCAL_DIR)/rootfs/haproxy REPLAB_SYSBENCH_ROOTFS=$(LOCAL_DIR)/rootfs/sysbench REPLAB_BENCH=1 \
	  go test -p 1 -count=1 -timeout 90m -v -run '^TestBench' $(TEST_ARGS) ./internal/... $(print-figures)

.PHONY: bench-cluster
bench-cluster: ## Print the figures that need the cluster that CLUSTER names, with the operator installed
	@mkdir -p $(LOCAL_DIR)
	@KUBECONFIG=$(CLUSTER_KUBECONFIG) NAMESPACE=$(NAMESPACE) REPLAB_BENCH=1 \
	  go test -tags e2e -count=1 -timeout 20m -v -run '^TestBenchCluster$$' $(TEST_ARGS) ./test/benchmark $(print-figures)

# Docker command for kind; CRDs of optional operators, if installed.
foreign = REPLAB_DOCKER='$(if $(filter kind,$(CLUSTER)),$(DOCKER))' REPLAB_ZALANDO=$$($(KUBECTL) get crd postgresqls.acid.zalan.do --ignore-not-found --output name) \
  REPLAB_K6_OPERATOR=$$($(KUBECTL) get crd testruns.k6.io --ignore-not-found --output name)

# Runs without figures go side by side, for which the operator must not make them wait: `make install` makes it do so again.
.PHONY: e2e e2e-full
e2e e2e-full: export ONE_AT_A_TIME = Never
e2e: cluster-up install ## Check the operator's claims on the cluster that CLUSTER names: a short run for each behaviour
	@echo "e2e: short runs on $(CLUSTER)"
	@$(foreign) KUBECONFIG=$(CLUSTER_KUBECONFIG) go test -tags e2e -count=1 -timeout 55m -parallel 32 -v $(if $(RUN),-run '$(RUN)') $(TEST_ARGS) ./test/e2e/...

e2e-full: cluster-up install $(HELM) ## The same with the experiments as people apply them, and e2e-metrics where there is, or can be, a Prometheus
	@echo "e2e: the experiments on $(CLUSTER)"
	@$(foreign) KUBECONFIG=$(CLUSTER_KUBECONFIG) E2E_FULL=1 REPLAB_HELM=$(HELM) go test -tags e2e -count=1 -timeout 150m -parallel 32 -v $(if $(RUN),-run '$(RUN)') $(TEST_ARGS) ./test/e2e/...
	@if [ -z '$(RUN)' ] && { [ '$(IMAGES_FROM)' = packages ] || $(KUBECTL) get crd prometheuses.monitoring.coreos.com >/dev/null 2>&1; }; then \
	  $(MAKE) --no-print-directory CLUSTER=$(CLUSTER) e2e-metrics && $(MAKE) --no-print-directory CLUSTER=$(CLUSTER) install; fi

# Where images can be pulled, `make install-stack` installs a Prometheus. Those that the operator lets in are as in its documentation.
METRICS_ARGS = --set metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboards.enabled=true \
  --set metrics.prometheus.namespace=monitoring,metrics.prometheus.podLabels.app\\.kubernetes\\.io/name=prometheus

# On kind `make install` is by kustomize, whose Deployment selects its pods otherwise than the chart's, so that neither can take the
# other's over: the chart is there for as long as this takes, and the experiments stay.
.PHONY: e2e-metrics
e2e-metrics: cluster-up cluster-images $(HELM) ## Ask a Prometheus under its operator all that dashboards and alerts do, about runs on the cluster
	@$(if $(filter packages,$(IMAGES_FROM)),$(MAKE) --no-print-directory CLUSTER=$(CLUSTER) cluster-prometheus)
	@$(if $(filter-out current,$(CLUSTER)),$(KUBECTL) --namespace $(NAMESPACE) delete deployment replab-operator --ignore-not-found)
	@$(MAKE) --no-print-directory install CLUSTER=$(CLUSTER) HELM_ARGS='$(METRICS_ARGS) $(HELM_ARGS)'
	@echo "e2e: what Prometheus has of runs on $(CLUSTER)"
	@status=0; KUBECONFIG=$(CLUSTER_KUBECONFIG) REPLAB_KUBECTL=$(KUBECTL_$(CLUSTER)) \
	  go test -C test/prometheus -tags e2e -count=1 -timeout 60m -v -run '^TestPrometheusAnswers$$' $(TEST_ARGS) . || status=$$?; \
	$(if $(filter-out current,$(CLUSTER)),$(HELM) uninstall replab --kubeconfig $(CLUSTER_KUBECONFIG) --namespace $(NAMESPACE) --wait;) exit $$status

##@ Operator

.PHONY: images
images: cluster-images ## Build the images of this checkout and bring them to the cluster that CLUSTER names

# Helm takes minutes to build. It is used only for HELM_ARGS, another NAMESPACE, or CLUSTER=current.
.PHONY: install
install: cluster-images ## Install or upgrade the operator of this checkout on the cluster that CLUSTER names
	@$(MAKE) --no-print-directory CLUSTER=$(CLUSTER) \
	  $(if $(strip $(HELM_ARGS) $(filter-out replab-system,$(NAMESPACE))),install-helm,$(call cluster-target,_install))

.PHONY: install-helm
install-helm: $(HELM) ## Install or upgrade the operator by Helm: NAMESPACE, HELM_ARGS
	@$(HELM) upgrade --install replab charts/replab --kubeconfig $(CLUSTER_KUBECONFIG) \
	  --namespace $(NAMESPACE) --create-namespace --wait --timeout 5m --hide-notes --take-ownership --force-conflicts \
	  --set oneAtATime=$(ONE_AT_A_TIME) $(HELM_ARGS_$(CLUSTER)) $(HELM_ARGS)

# A part of charts/replab-stack ($1) in the namespace ($2) in which config/default expects it. replab's own operator comes with `make install`.
install-part = $(HELM) upgrade --install replab-stack charts/replab-stack --kubeconfig $(CLUSTER_KUBECONFIG) --namespace $2 --create-namespace \
  --wait --timeout 10m --hide-notes $(foreach part,replab prometheus k6Operator postgresOperator,--set install.$(part)=$(if $(filter $1,$(part)),true,false))

.PHONY: install-stack
install-stack: $(HELM) ## Install what replab works with, by charts/replab-stack: Prometheus and Grafana, k6-operator, postgres-operator
	@$(HELM) dependency update charts/replab-stack >/dev/null
	@$(call install-part,prometheus,monitoring)
	@$(call install-part,k6Operator,k6-operator-system)
	@$(call install-part,postgresOperator,postgres-operator)
	@for role in zalando k6operator; do $(KUBECTL) kustomize config/$$role | $(KUBECTL) apply --server-side --force-conflicts --field-manager=make -f -; done

IMAGE_VALUES   = --set-string podAnnotations.replab\\.dev/image=$$($(IMAGE_CONTENT))
HELM_ARGS_kind = $(if $(filter packages,$(IMAGES_FROM)),--values config/packages/values.yaml,--set images.replab=replab.local/replab:dev) $(IMAGE_VALUES)

.PHONY: _install-kind _install-current
_install-current: install-helm
_install-kind:
	@$(KUBECTL) kustomize config/$(IMAGES_FROM) \
	  | sed "s/IMAGE_CONTENT/$$($(IMAGE_CONTENT))-$(ONE_AT_A_TIME)/; s/SingleNode/$(ONE_AT_A_TIME)/" \
	  | $(KUBECTL) apply --server-side --force-conflicts --field-manager=make -f - >/dev/null
	@$(KUBECTL) --namespace replab-system rollout status deployment/replab-operator --timeout 5m

KUBECTL_kind = $(or $(shell command -v kubectl),$(LOCAL_DIR)/bin/kubectl)
KUBECTL_current = kubectl
KUBECTL      = $(KUBECTL_$(CLUSTER)) --kubeconfig $(CLUSTER_KUBECONFIG)

# Whether experiments wait for one another: SingleNode, Always or Never.
ONE_AT_A_TIME ?= SingleNode

# The image keeps its name whatever is in it: this, in an annotation, restarts the operator when that changes.
IMAGE_CONTENT = sha256sum $(LOCAL_DIR)/images/replab/binary | cut -c1-16

.PHONY: uninstall
uninstall: ## Remove the operator; the CRD, the namespace and the experiments stay
	@$(MAKE) --no-print-directory CLUSTER=$(CLUSTER) $(call cluster-target,_uninstall)

.PHONY: _uninstall-kind _uninstall-current
_uninstall-kind:
	@for role in zalando k6operator; do $(KUBECTL) kustomize config/$$role | $(KUBECTL) delete --ignore-not-found -f -; done
	@$(KUBECTL) kustomize config/$(IMAGES_FROM) | awk 'BEGIN {RS = ORS = "---\n"} !/\nkind: (CustomResourceDefinition|Namespace)\n/' \
	  | $(KUBECTL) delete --ignore-not-found -f -
_uninstall-current: $(HELM)
	@$(HELM) uninstall replab --kubeconfig $(CLUSTER_KUBECONFIG) --namespace $(NAMESPACE) --ignore-not-found --wait

##@ Release

.PHONY: image-check
image-check: ## Build the Dockerfile with buildah, as far as that goes without a registry, and look at what comes of it
	@REPLAB_IMAGE=1 go test -count=1 -timeout 60m -v ./test/image

# Whose release it is: GitHub sets it.
GITHUB_REPOSITORY ?= owner/replab

.PHONY: release-check
release-check: local-bin $(HELM) ## Publish dist to a registry of Debian's, install from there, and upgrade from the release before: needs skopeo
	@mkdir -p $(LOCAL_DIR)/registry; cd $(LOCAL_DIR)/registry; [ -x usr/bin/docker-registry ] || \
	  { apt-get download -qq docker-registry && dpkg -x docker-registry_*.deb . && rm docker-registry_*.deb; }
	@REPLAB_RELEASE=1 REPLAB_REGISTRY=$(LOCAL_DIR)/registry/usr/bin/docker-registry REPLAB_HELM=$(HELM) \
	  REPLAB_REQUIRE_ENVTEST=1 KUBEBUILDER_ASSETS=$(LOCAL_DIR)/bin go test -count=1 -timeout 10m -v $(TEST_ARGS) ./test/release

.PHONY: release
release: $(if $(DRY_RUN),$(HELM) $(CYCLONEDX_GOMOD)) ## Build all that a tag publishes into dist: VERSION, DRY_RUN=1
	@[ -n '$(DRY_RUN)' ] || { echo 'A tag such as v0.1.0 makes the release, in CI. DRY_RUN=1 builds what the tag would publish into dist.' >&2; exit 1; }
	@go build -C hack/release -o $(BIN)/release .
	@rm -rf dist
	@$(BIN)/release -version '$(VERSION)' -repository '$(GITHUB_REPOSITORY)' -helm $(HELM) -cyclonedx $(CYCLONEDX_GOMOD)

# The local cluster: cluster-* and local-* targets, CLUSTER (kind or current) and CLUSTER_KUBECONFIG.
include hack/local/local.mk

# Tools

$(CRD_REF_DOCS):
	@$(call install-tool,github.com/elastic/crd-ref-docs@$(CRD_REF_DOCS_VERSION),$@)

$(CONTROLLER_GEN):
	@$(call install-tool,sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION),$@)

$(HELM):
	@$(call install-tool,helm.sh/helm/v4/cmd/helm@$(HELM_VERSION),$@)

$(HELM3):
	@$(call install-tool,helm.sh/helm/v3/cmd/helm@$(HELM3_VERSION),$@)

$(GOLANGCI_LINT):
	@$(call install-tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION),$@)

$(ACTIONLINT):
	@$(call install-tool,github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION),$@)

$(KUBECONFORM):
	@$(call install-tool,github.com/yannh/kubeconform/cmd/kubeconform@$(KUBECONFORM_VERSION),$@)

$(ACT):
	@$(call install-tool,github.com/nektos/act@$(ACT_VERSION),$@)

$(CYCLONEDX_GOMOD):
	@$(call install-tool,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_GOMOD_VERSION),$@)

# install-tool builds the command of a module at a version ($1) as the file $2.
define install-tool
echo "building $(notdir $2) ..."; started=$$(date +%s); \
mkdir -p $(BIN)/.install && GOBIN=$(BIN)/.install GOGC=400 go install $1 && mv $(BIN)/.install/$(firstword $(subst @, ,$(notdir $1))) $2 && \
took=$$(($$(date +%s) - started)) && echo "built $(notdir $2) in $$took s" && \
printf '%s\t  build %s\n' "$$took" "$(notdir $2)" >>"$${PARTS_FILE:-/dev/null}"
endef
