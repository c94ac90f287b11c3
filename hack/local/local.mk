# The local cluster. The root Makefile includes this file.
#
# CLUSTER chooses what the cluster-* targets work on: a cluster of kind, or the
# current context of KUBECONFIG. CLUSTER_KUBECONFIG is the kubeconfig of the
# choice. KIND_CONFIG is the configuration of kind, whose version is in
# hack/local/go.mod.

override LOCAL_DIR := $(abspath $(or $(LOCAL_DIR),.local))
export LOCAL_DIR
LOCAL := $(LOCAL_DIR)/bin/local
KIND_CONFIG ?= config/kind/one.yaml
# Where the images of kind come from, public or packages: by default, what can be pulled. The last choice is in a file.
IMAGES ?=
images-wish = $(if $(IMAGES),--from $(IMAGES)) $(if $(ONLY),--only $(ONLY)) $(if $(IMAGES_FOR),--for $(IMAGES_FOR))
IMAGES_FROM = $(if $(filter kind,$(CLUSTER)),$(shell cat $(LOCAL_DIR)/images-from 2>/dev/null))

CLUSTER ?= kind
CLUSTER_KUBECONFIG_kind = $(LOCAL_DIR)/kubeconfig
CLUSTER_KUBECONFIG_current = $(or $(KUBECONFIG),$(HOME)/.kube/config)
CLUSTER_KUBECONFIG = $(CLUSTER_KUBECONFIG_$(CLUSTER))

# The engine of kind: one of our own, where there is one.
DOCKER = $(shell [ -S $(LOCAL_DIR)/engine/docker.sock ] && echo /usr/bin/docker --host unix://$(LOCAL_DIR)/engine/docker.sock || echo docker)

CLUSTERS := kind current
cluster-target = $(if $(filter $(CLUSTER),$(CLUSTERS)),$(1)-$(CLUSTER),$(error CLUSTER is "$(CLUSTER)" and must be one of: $(CLUSTERS)))

##@ Local cluster

# Compiled every time: the Go build cache makes that a moment, and knows better
# than make what changed.
.PHONY: local-cli
local-cli:
	@mkdir -p $(LOCAL_DIR)/bin
	@GOGC=400 go build -C $(CURDIR)/hack/local -o $(LOCAL) .

.PHONY: cluster-up cluster-down cluster-images cluster-purge
cluster-up: ## Bring up the cluster that CLUSTER names: kind or current
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-up) CLUSTER=$(CLUSTER)

cluster-down: ## Take down the cluster that CLUSTER names; current is left alone
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-down) CLUSTER=$(CLUSTER)

cluster-images: ## Bring the images of this checkout to the cluster that CLUSTER names; ONLY=replab for one
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-images) CLUSTER=$(CLUSTER)

cluster-purge: local-cli ## Take the cluster of kind down, and remove all caches
	@$(LOCAL) down --purge

.PHONY: _cluster-up-kind _cluster-down-kind _cluster-images-kind
_cluster-up-kind: local-cli
	@$(LOCAL) up --config $(KIND_CONFIG) $(images-wish)

_cluster-down-kind: local-cli
	@$(LOCAL) down

_cluster-images-kind: local-cli
	@$(LOCAL) images $(images-wish)

.PHONY: _cluster-up-current _cluster-down-current _cluster-images-current
_cluster-up-current:
	@kubectl --kubeconfig $(CLUSTER_KUBECONFIG_current) version >/dev/null \
		|| { echo "The cluster of $(CLUSTER_KUBECONFIG_current) does not answer: set KUBECONFIG to one that does." >&2; exit 1; }

_cluster-down-current:
	@echo "CLUSTER=current: the cluster is not ours to take down."

_cluster-images-current:
	@echo "CLUSTER=current: nothing is built; the cluster pulls the images that the chart's values name."

# The operator's roles, which its sources have for the namespace default.
.PHONY: cluster-zalando
cluster-zalando: local-cli ## Compile the Zalando operator and run it on kind, for experiments with patroni.provider ZalandoOperator
	@$(LOCAL) bin --only postgres-operator
	@$(LOCAL) images --only spilo,postgres-operator
	@sources=$$(go list -C hack/local/postgres-operator -m -f '{{.Dir}}' github.com/zalando/postgres-operator) && \
	apply="$(KUBECTL) apply --server-side --force-conflicts --field-manager=make" && \
	$$apply -f $$sources/charts/postgres-operator/crds && \
	$(KUBECTL) wait --for=condition=Established --timeout=60s -f $$sources/charts/postgres-operator/crds && \
	$$apply -f hack/local/postgres-operator/operator.yaml && \
	$(KUBECTL) kustomize config/zalando | $$apply -f - && \
	sed 's/namespace: default/namespace: postgres-operator/' $$sources/manifests/operator-service-account-rbac.yaml | $$apply -f - && \
	$(KUBECTL) --namespace postgres-operator rollout status deployment/postgres-operator --timeout 2m

# The operator's roles, and those that it recommends for Prometheus, are for the namespace default in its sources. Of its CRDs those that
# replab's chart and one Prometheus need: the others are large, and the operator does without them.
PROMETHEUS_CRDS := prometheuses servicemonitors podmonitors probes prometheusrules
PROMETHEUS_VERSION = $$(tar -xOf $(LOCAL_DIR)/images/prometheus/*.tar ./var/lib/dpkg/status | awk '/^Package: / {p = $$2} /^Version: / && p == "prometheus" {sub(/[+~-].*/, "", $$2); print $$2}')
.PHONY: cluster-prometheus
cluster-prometheus: local-cli ## Compile the Prometheus operator, and run Debian's Prometheus by it on kind, for e2e-metrics
	@$(LOCAL) bin --only prometheus-operator,prometheus-config-reloader
	@$(LOCAL) images --only prometheus,prometheus-operator,prometheus-config-reloader
	@sources=$$(go list -C hack/local/prometheus-operator -m -f '{{.Dir}}' github.com/prometheus-operator/prometheus-operator) && \
	apply="$(KUBECTL) apply --server-side --force-conflicts --field-manager=make" && \
	for crd in $(PROMETHEUS_CRDS); do crds="$${crds:-} -f $$sources/example/prometheus-operator-crd/monitoring.coreos.com_$$crd.yaml"; done && \
	$$apply $$crds && $(KUBECTL) wait --for=condition=Established --timeout=60s $$crds && \
	$$apply -f hack/local/prometheus-operator/operator.yaml && \
	for role in prometheus-operator prometheus; do for kind in service-account cluster-role cluster-role-binding; do \
	  sed 's/namespace: default/namespace: monitoring/' $$sources/example/rbac/$$role/$$role-$$kind.yaml | $$apply --namespace monitoring -f - || exit 1; \
	done; done && \
	$(KUBECTL) --namespace monitoring rollout status deployment/prometheus-operator --timeout 2m && \
	version=$(PROMETHEUS_VERSION) && sed "s/VERSION/$${version:?of Prometheus is not in its image}/" hack/local/prometheus-operator/prometheus.yaml | $$apply -f - && \
	$(KUBECTL) --namespace monitoring wait --for=condition=Available --timeout=5m prometheus/replab

##@ Binaries and servers for tests

.PHONY: local-bin local-rootfs
local-bin: local-cli ## Compile Kubernetes, kubectl and k6 into .local/bin, which envtest uses as well
	@$(LOCAL) bin

local-rootfs: local-cli ## Unpack MySQL, MariaDB, PostgreSQL and HAProxy below .local/rootfs, for tests against real servers
	@for image in mysql mariadb patroni haproxy; do $(LOCAL) rootfs $$image || exit 1; done
