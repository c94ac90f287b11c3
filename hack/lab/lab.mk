# The local cluster. The root Makefile includes this file.
#
# CLUSTER chooses what the cluster-* targets work on: kind, the lab of this
# folder, or the current context of KUBECONFIG. CLUSTER_KUBECONFIG is the
# kubeconfig of the choice. KIND_CONFIG is the configuration of kind, whose
# version is in hack/lab/go.mod.

LAB_DIR ?= $(CURDIR)/.lab
export LAB_DIR
LAB := $(LAB_DIR)/bin/lab
KIND_CONFIG ?= config/kind/one.yaml
# Where the images of kind come from, public or packages: by default, what can be pulled. The last choice is in a file.
IMAGES ?=
kind-images = $(if $(IMAGES),--from $(IMAGES)) $(if $(ONLY),--only $(ONLY)) $(if $(IMAGES_FOR),--for $(IMAGES_FOR))
KIND_IMAGES_FROM = $(shell cat $(LAB_DIR)/kind.images 2>/dev/null)

# Asked only when a cluster-* target is made, and once: "docker info" is slow
# where Docker is installed and does not answer.
CLUSTER ?= $(eval CLUSTER := $(shell docker info >/dev/null 2>&1 && echo kind || echo lab))$(CLUSTER)

CLUSTER_KUBECONFIG_lab = $(LAB_DIR)/kubeconfig
CLUSTER_KUBECONFIG_kind = $(LAB_DIR)/kind.kubeconfig
CLUSTER_KUBECONFIG_current = $(or $(KUBECONFIG),$(HOME)/.kube/config)
CLUSTER_KUBECONFIG = $(CLUSTER_KUBECONFIG_$(CLUSTER))

CLUSTERS := kind lab current
cluster-target = $(if $(filter $(CLUSTER),$(CLUSTERS)),$(1)-$(CLUSTER),$(error CLUSTER is "$(CLUSTER)" and must be one of: $(CLUSTERS)))

##@ Local cluster

# Compiled every time: the Go build cache makes that a moment, and knows better
# than make what changed.
.PHONY: lab-cli
lab-cli:
	@mkdir -p $(LAB_DIR)/bin
	@GOGC=400 go build -C $(CURDIR)/hack/lab -o $(LAB) .

.PHONY: lab-up lab-down lab-status lab-images lab-bin lab-rootfs lab-purge
lab-up: lab-cli ## Bring up the lab, a Kubernetes from packages without Docker, or repair it
	@$(LAB) up

lab-down: lab-cli ## Take the lab down; only its caches stay
	@$(LAB) down

lab-purge: lab-cli ## Take the lab, and an engine of our own, down and remove their caches too
	@$(LAB) down --purge
	@$(LAB) engine down --purge

lab-status: lab-cli ## Show the lab's components, node and pods, and what to do next
	@$(LAB) status

lab-images: lab-cli ## Assemble the images and import them into the lab; ONLY=replab for one
	@$(LAB) images $(if $(ONLY),--only $(ONLY))

lab-bin: lab-cli ## Compile the lab's binaries, which serve envtest as well
	@$(LAB) bin

lab-rootfs: lab-cli ## Unpack MySQL, MariaDB, PostgreSQL and HAProxy below .lab/rootfs, for tests against real servers
	@$(LAB) rootfs mysql
	@$(LAB) rootfs mariadb
	@$(LAB) rootfs patroni
	@$(LAB) rootfs haproxy

# The operator's roles, which its sources have for the namespace default.
.PHONY: lab-operators
lab-operators: lab-cli ## Compile the Zalando operator and run it in the lab, for experiments with patroni.provider ZalandoOperator
	@$(LAB) bin --only postgres-operator
	@$(LAB) images --only spilo,postgres-operator
	@sources=$$(go list -C hack/lab/postgres-operator -m -f '{{.Dir}}' github.com/zalando/postgres-operator) && \
	apply="$(KUBECTL_lab) --kubeconfig $(CLUSTER_KUBECONFIG_lab) apply --server-side --force-conflicts --field-manager=make" && \
	$$apply -f $$sources/charts/postgres-operator/crds && \
	$(KUBECTL_lab) --kubeconfig $(CLUSTER_KUBECONFIG_lab) wait --for=condition=Established --timeout=60s -f $$sources/charts/postgres-operator/crds && \
	$$apply -f hack/lab/postgres-operator/operator.yaml && \
	$(KUBECTL_lab) kustomize config/zalando | $$apply -f - && \
	sed 's/namespace: default/namespace: postgres-operator/' $$sources/manifests/operator-service-account-rbac.yaml | $$apply -f - && \
	$(KUBECTL_lab) --kubeconfig $(CLUSTER_KUBECONFIG_lab) --namespace postgres-operator rollout status deployment/postgres-operator --timeout 2m

# The operator's roles, and those that it recommends for Prometheus, are for the namespace default in its sources. Of its CRDs those that
# replab's chart and one Prometheus need: the others are large, and the operator does without them.
PROMETHEUS_CRDS := prometheuses servicemonitors podmonitors probes prometheusrules
PROMETHEUS_VERSION = $$(tar -xOf $(LAB_DIR)/images/prometheus/*.tar ./var/lib/dpkg/status | awk '/^Package: / {p = $$2} /^Version: / && p == "prometheus" {sub(/[+~-].*/, "", $$2); print $$2}')
.PHONY: lab-prometheus
lab-prometheus: lab-cli ## Compile the Prometheus operator, and run Debian's Prometheus by it in the lab, for e2e-metrics
	@$(LAB) bin --only prometheus-operator,prometheus-config-reloader
	@$(LAB) images --only prometheus,prometheus-operator,prometheus-config-reloader
	@sources=$$(go list -C hack/lab/prometheus-operator -m -f '{{.Dir}}' github.com/prometheus-operator/prometheus-operator) && \
	kubectl="$(KUBECTL_lab) --kubeconfig $(CLUSTER_KUBECONFIG_lab)" && apply="$$kubectl apply --server-side --force-conflicts --field-manager=make" && \
	for crd in $(PROMETHEUS_CRDS); do crds="$${crds:-} -f $$sources/example/prometheus-operator-crd/monitoring.coreos.com_$$crd.yaml"; done && \
	$$apply $$crds && $$kubectl wait --for=condition=Established --timeout=60s $$crds && \
	$$apply -f hack/lab/prometheus-operator/operator.yaml && \
	for role in prometheus-operator prometheus; do for kind in service-account cluster-role cluster-role-binding; do \
	  sed 's/namespace: default/namespace: monitoring/' $$sources/example/rbac/$$role/$$role-$$kind.yaml | $$apply --namespace monitoring -f - || exit 1; \
	done; done && \
	$$kubectl --namespace monitoring rollout status deployment/prometheus-operator --timeout 2m && \
	version=$(PROMETHEUS_VERSION) && sed "s/VERSION/$${version:?of Prometheus is not in its image}/" hack/lab/prometheus-operator/prometheus.yaml | $$apply -f - && \
	$$kubectl --namespace monitoring wait --for=condition=Available --timeout=5m prometheus/lab

.PHONY: cluster-up cluster-down cluster-images
cluster-up: ## Bring up the cluster that CLUSTER names: kind, lab or current
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-up) CLUSTER=$(CLUSTER)

cluster-down: ## Take down the cluster that CLUSTER names; current is left alone
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-down) CLUSTER=$(CLUSTER)

cluster-images: ## Bring the images of this checkout to the cluster that CLUSTER names
	@$(MAKE) --no-print-directory $(call cluster-target,_cluster-images) CLUSTER=$(CLUSTER)

.PHONY: _cluster-up-lab _cluster-down-lab _cluster-images-lab
_cluster-up-lab: lab-up
_cluster-down-lab: lab-down
_cluster-images-lab: lab-images

.PHONY: _cluster-up-kind _cluster-down-kind _cluster-images-kind
_cluster-up-kind: lab-cli
	@$(LAB) kind up --config $(KIND_CONFIG) $(kind-images)

_cluster-down-kind: lab-cli
	@$(LAB) kind down

_cluster-images-kind: lab-cli
	@$(LAB) kind images $(kind-images)

.PHONY: _cluster-up-current _cluster-down-current _cluster-images-current
_cluster-up-current:
	@kubectl --kubeconfig $(CLUSTER_KUBECONFIG_current) version >/dev/null \
		|| { echo "The cluster of $(CLUSTER_KUBECONFIG_current) does not answer: set KUBECONFIG to one that does." >&2; exit 1; }

_cluster-down-current:
	@echo "CLUSTER=current: the cluster is not ours to take down."

_cluster-images-current:
	@echo "CLUSTER=current: nothing is built; the cluster pulls the images that the chart's values name."
