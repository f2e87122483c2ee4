# make help lists the targets. Those that need a cluster boot one on this machine, with CLUSTER=kind in containers. With
# CLUSTER=existing, KUBECONFIG and, for images, KO_DOCKER_REPO, they work on your cluster.

SHELL := bash
.DEFAULT_GOAL := help

# As ko does, so that tests and images share what is compiled.
export GOFLAGS := -trimpath $(GOFLAGS)
export CGO_ENABLED := 0

CLUSTER ?= local
export CLUSTER

# Packages whose tests need nothing but Go.
UNIT := ./pkg/... ./internal/... ./cmd/... ./hack/... ./test/hostile/... ./test/crd/... ./test/policies/... ./test/model/... ./test/parity/... ./test/docs/... \
	./test/harness/... ./test/invariants/... ./test/observability ./test/bench/peers/... ./test/bench/report
LOCALCLUSTER := cd hack/localcluster && go run ./cmd/localcluster
# Tests of ./test/integration that take longest on two processors: they wait for leases, boot control planes or build other operators.
LONG := ^Test(AdmissionRulesRefuseEarlyWithTheControllersWords|ArchiveHasAttemptsLaterIfItsStorageWasAway|ConsoleHasNothingOfAnotherNamespace|ControllerMemoryAtRest|EveryPanelOfTheDashboardsHasData|HostileObjectsAffectNoOtherApplication|HostileQuantitiesAffectNoOtherApplication|InstallationsSideBySideHaveQuotasOfTheirOwn|InstallationsSideBySideServeTheirOwnNamespaces|KubeflowOperatorThatStillServesTheNamespace|ListedNamespacesAreServedWithoutAClusterRole|MoveFromTheKubeflowOperatorAndBack|NamespaceThatIsSlowLeavesWorkersToOthers|QuotaIsSharedByManyApplications|ReplicasShareTheApplications|RestoreOfAnApplicationWithoutRecordStartsItAgain|RestoreOfTheAPIServerWhileTheControllerRuns|ScheduleMissesAndDoublesNoRun|UninstallReleasesAllFinalizers)$$
# The programs of a control plane, and kwok beside them, are built unless KUBEBUILDER_ASSETS names their folder.
CONTROL_PLANE := assets=$${KUBEBUILDER_ASSETS:-$$($(LOCALCLUSTER) control-plane-assets)} && KUBEBUILDER_ASSETS=$$assets
ASSETS := assets=$${KUBEBUILDER_ASSETS:-$$($(LOCALCLUSTER) control-plane-assets --kwok)} && KUBEBUILDER_ASSETS=$$assets

.PHONY: help
help: ## Show this help.
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Code

.PHONY: build
build: ## Build all packages.
	go build ./...

.PHONY: generate
generate: ## Write all generated files: code, CRDs, pages, event contract, licences, dashboards, chart.
	go run ./hack/codegen
	go run ./hack/contract
	go generate ./pkg/dialect/kubeflow/fields ./pkg/dialect/kubeflow/flags ./pkg/metrics
	go run ./hack/licenses
	go run ./hack/dashboards
	go run ./hack/chart
	go run ./hack/manual

.PHONY: verify
verify: ## Check that generated files are current and that the code follows the rules.
	hack/verify.sh

.PHONY: lint
lint: ## Run golangci-lint.
	hack/lint.sh

# BIN is a folder of PATH, and MAN one of man pages. NAMES are other names of the program: spark-submit may be one of them, and hides Spark's.
.PHONY: install-cli
install-cli: BIN ?= $(HOME)/.local/bin
install-cli: MAN ?= $(HOME)/.local/share/man/man1
install-cli: NAMES ?= sparkctl
install-cli: ## Build kubectl spark into BIN (~/.local/bin), with its other NAMES, completion and man pages.
	go build -tags=grpcnotrace -ldflags='-s -w' -o '$(BIN)/kubectl-spark' ./cmd/kubectl-spark
	go build -C cmd/kubectl-spark-upload -tags=grpcnotrace -ldflags='-s -w' -o '$(abspath $(BIN))/kubectl-spark-upload' .
	for name in kubectl_complete-spark $(NAMES); do ln -sf kubectl-spark '$(BIN)'/"$$name"; done
	go run ./hack/manual -man '$(MAN)'

# VERSION is git's tag unless set, KO_DOCKER_REPO the registry that the manifests name, and RELEASE_URL where krew finds the archives. The images are built on
# KO_DEFAULTBASEIMAGE, ko's own choice unless set: name it by its digest. COSIGN_KEY and COSIGN_PASSWORD sign.
RELEASE := cd hack/release && go run . -version='$(VERSION)' -registry='$(KO_DOCKER_REPO)' -url='$(RELEASE_URL)'

.PHONY: release
release: ## Write the release/ folder for two platforms: VERSION, KO_DOCKER_REPO, COSIGN_KEY.
	$(RELEASE)

.PHONY: image
image: ## Write release/ with images of the tag image-tag: make image-tag=T image.
	$(if $(image-tag),,$(error image-tag names no tag: make image-tag=T image))
	$(RELEASE) -tag='$(image-tag)'

.PHONY: push
push: ## Copy images and chart of release/ to KO_DOCKER_REPO, and name that in its manifests.
	$(if $(KO_DOCKER_REPO),,$(error KO_DOCKER_REPO names no registry: make image-tag=T push KO_DOCKER_REPO=registry.example.com/firesteel))
	@[ -x release/push ] || { echo "release/ is not there: make release, or make image-tag=T image" >&2; exit 1; }
	$(if $(image-tag),grep -q '"controller:$(image-tag)"' release/oci/index.json || { echo "release/ has no images with the tag $(image-tag): make image-tag=$(image-tag) image" >&2; exit 1; })
	release/push '$(KO_DOCKER_REPO)'

# It needs Debian, as the local cluster's images do, and no cluster and no container engine.
.PHONY: spark-image
spark-image: ## Build an image of Spark with s3a, gs and the JMX exporter, push it to KO_DOCKER_REPO or write OUT (spark-image.tar), and print its name.
	@($(LOCALCLUSTER) spark-image $(if $(KO_DOCKER_REPO),--push='$(KO_DOCKER_REPO)',--archive='$(abspath $(or $(OUT),spark-image.tar))'))

##@ Tests

.PHONY: test
test: ## Run all tests but those of make e2e, and print how long each part took.
	@hack/test.sh

# Its parts wait for linkers and servers, so two of them run at once.
UNIT_PARTS := test-packages test-localcluster test-install test-release test-upload
.PHONY: test-unit
test-unit: ## Run the tests that need only Go.
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(UNIT_PARTS)

# Go's cache of results does not notice changes of files outside a module, such as the chart: hence -count=1, and a cache of our own.
UNLESS_PASSED := $(CURDIR)/hack/unless-passed.sh
# A busy machine may take ten times as long as an idle one, for which Go's own time limit is.
.PHONY: $(UNIT_PARTS)
test-packages:
	go test -timeout=1h $(UNIT)
test-localcluster:
	cd hack/localcluster && go test -timeout=1h ./cmd/localcluster/... ./internal/...
test-install:
	cd test/install && $(UNLESS_PASSED) test-install go test -count=1 -timeout=1h .
test-release:
	cd hack/release && $(UNLESS_PASSED) test-release go test -count=1 -timeout=1h ./build ./push
test-upload:
	$(UNLESS_PASSED) test-upload go test -count=1 -timeout=1h ./test/upload

.PHONY: test-alerts
test-alerts: ## Test alerts and panels with promtool, which is installed from Debian's package prometheus.
	($(LOCALCLUSTER) prometheus)
	go test -count=1 -timeout=1h ./test/observability/promtool

# The hostile manifests are left out: they bound time, and counting takes time.
.PHONY: cover
cover: ## Print how much of each package the tests cover that need nothing but Go.
	@dir=$$(mktemp -d) && trap 'rm -r "$$dir" "$$dir.log"' EXIT \
		&& { go test -count=1 -coverpkg=./pkg/...,./internal/...,./cmd/... $(filter-out ./test/hostile/...,$(UNIT)) -args -test.gocoverdir="$$dir" >"$$dir.log" || { cat "$$dir.log"; exit 1; }; } \
		&& go tool covdata percent -i="$$dir" | awk '/coverage:/ { print $$(NF-2), $$(NF-4) }'

.PHONY: lifecycle-steps
lifecycle-steps: ## Drive the state machine through STEPS (default a million) random steps.
	FIRESTEEL_STEPS=$(or $(STEPS),1000000) go test -count=1 -timeout=0 -v -run '^TestRandomSimulation$$' ./pkg/lifecycle/

.PHONY: test-integration
test-integration: ## Run the tests against a real API server.
	$(CONTROL_PLANE) go test -count=1 -timeout=1h -skip='$(LONG)' ./test/integration/...

# Its parts wait for servers, so two of them run at once.
LONG_PARTS := test-bench test-long-integration test-long-release test-long-install
.PHONY: test-long
test-long: ## Run the longest tests against a real API server, and those of the release, the chart and the benchmarks.
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line $(LONG_PARTS)

.PHONY: $(filter test-long-%,$(LONG_PARTS))
test-long-integration:
	$(CONTROL_PLANE) go test -count=1 -timeout=1h -run='$(LONG)' ./test/integration/...
test-long-release:
	$(CONTROL_PLANE) && export KUBEBUILDER_ASSETS && cd hack/release && go test -count=1 -timeout=1h ./apply
test-long-install:
	$(CONTROL_PLANE) && export KUBEBUILDER_ASSETS && cd test/install && go test -count=1 -timeout=1h ./live

# Set SEED to the seed that a failed run printed to repeat that run.
CHAOS := $(ASSETS) go test -count=1 -v -timeout=2h ./test/chaos $(SEED:%=-chaos.seed=%)

.PHONY: test-chaos
test-chaos: ## Inject random faults for half a minute, and check the invariants.
	$(CHAOS)

# EARLIER is the commit whose controller and handlers run in turns with the current ones. This one reads the fence of a first launch. One
# that does not, such as the previous release, takes over the driver of a replica that was killed as that of another operator.
EARLIER ?= f5ec5a0efacfa9d2decceddb4cfc01022d104810

.PHONY: chaos
chaos: FAULTS ?= 10000
chaos: ## Inject FAULTS (10000) faults; then a fifth with restores, and a fifth with two versions.
	$(CHAOS) -chaos.faults=$(FAULTS) -chaos.length=90m -chaos.replica
	$(CHAOS) -chaos.faults=$$(($(FAULTS) / 5)) -chaos.length=30m -chaos.restore
	$(CHAOS) -chaos.faults=$$(($(FAULTS) / 5)) -chaos.length=30m -chaos.guard=3s -chaos.versions=$(EARLIER)

.PHONY: test-bench
test-bench: ## Run each part of the benchmarks with twenty applications, to check that it works.
	$(ASSETS) go test -count=1 -timeout=1h ./test/bench

# It prints the seed of its random manifests. Set SEED to that seed to repeat the run.
.PHONY: hostile
hostile: ## Measure COUNT (500) hostile manifests of each kind, and apply a tenth of them: SEED.
	go test -count=1 -v -timeout=2h ./test/hostile -hostile.count=$(or $(COUNT),500) $(SEED:%=-hostile.seed=%)
	$(CONTROL_PLANE) FIRESTEEL_HOSTILE=$$(( ($(or $(COUNT),500) + 9) / 10 )) FIRESTEEL_SEED=$(SEED) \
		go test -count=1 -v -timeout=2h -run='^TestHostileObjectsAffectNoOtherApplication$$' ./test/integration

# PARTS=throughput,cost measures only those, N=100 uses fewer applications, LARGE=yes also 10,000 live ones. The shell
# becomes the benchmark, so that ending make ends it, too.
.PHONY: bench
bench: ## Measure Firesteel against what the API server alone can do. OUT (bench.json) is the report's file.
	$(if $(filter-out yes no,$(LARGE)),$(error LARGE=$(LARGE): it is yes or no))
	go build -o .bin/bench ./test/bench
	$(ASSETS) && export KUBEBUILDER_ASSETS && exec .bin/bench -out='$(or $(OUT),bench.json)' -parts='$(PARTS)' $(if $(N),-n='$(N)') \
		$(if $(filter yes,$(LARGE)),-large) -profiles='$(PROFILES)'

# A difference that is larger than chance has a percentage. For that, each side needs some reports: OLD="a.json b.json".
.PHONY: bench-compare
bench-compare: ## Compare reports of make bench: OLD with NEW (bench.json).
	$(if $(OLD),,$(error OLD names no reports: make bench-compare OLD=before.json NEW=after.json))
	dir=$$(mktemp -d) && trap 'rm -r "$$dir"' EXIT && go build -o "$$dir/bench" ./test/bench \
		&& "$$dir/bench" -benchmarks $(OLD) >"$$dir/old" && "$$dir/bench" -benchmarks $(or $(NEW),bench.json) >"$$dir/new" \
		&& go tool -modfile=tools/go.mod benchstat -ignore=cpu old="$$dir/old" new="$$dir/new"

# AKO and JOSDK are clones of apache/spark-kubernetes-operator and operator-framework/java-operator-sdk. Maven builds the
# Apache operator from them, with the JDK 25 of JAVA_HOME. OUT names the report (peers.json). N=100 ROUNDS=1 is a try. go run ./test/bench/peers table FILE
# writes OUT into the pages.
.PHONY: bench-peers
bench-peers: ## Measure Firesteel and the Apache operator, built from the clones AKO and JOSDK: OUT.
	$(if $(and $(AKO),$(JOSDK)),,$(error AKO and JOSDK name no clones: make bench-peers AKO=spark-kubernetes-operator JOSDK=java-operator-sdk))
	go build -o .bin/peers ./test/bench/peers
	$(ASSETS) && export KUBEBUILDER_ASSETS && exec .bin/peers -ako='$(AKO)' -josdk='$(JOSDK)' -out='$(or $(OUT),peers.json)' \
		$(if $(N),-n='$(N)') $(if $(ROUNDS),-rounds='$(ROUNDS)') -profiles='$(PROFILES)'

.PHONY: bench-eventing
bench-eventing: export EVENTING := yes
bench-eventing: ## Measure the time until a handler acts on a transition, behind the Broker and in the controller.
	hack/with-cluster.sh hack/e2e.sh ./test/e2e/eventing -run='^TestHandlerGetsTheEventSoon' -rounds=$(or $(ROUNDS),25)

.PHONY: bench-schedules
bench-schedules: ## Measure what 10,000 schedules cost at rest, and how long a thousand runs take that are due at once.
	$(CONTROL_PLANE) go test -run='^$$' -bench=Schedules -benchtime=1x -timeout=20m ./test/integration

.PHONY: chaos-schedules
chaos-schedules: ## Kill controller and handler around INSTANTS (1000) instants of schedules, and count the runs.
	$(CONTROL_PLANE) FIRESTEEL_INSTANTS=$(or $(INSTANTS),1000) go test -count=1 -v -timeout=30m -run='^TestScheduleMissesAndDoublesNoRun$$' ./test/integration

.PHONY: chaos-quota
chaos-quota: ## Run APPLICATIONS (500) of RUNS (30s) in a quota for ROOM (10), and kill a replica.
	$(CONTROL_PLANE) FIRESTEEL_QUOTA=$(or $(APPLICATIONS),500)/$(or $(ROOM),10)/$(or $(RUNS),30s) go test -count=1 -v -timeout=90m -run='^TestQuotaIsSharedByManyApplications$$' ./test/integration

.PHONY: parity
parity: ## Record again what real spark-submit creates; fail if the recording or Firesteel differs.
	$(CONTROL_PLANE) && export KUBEBUILDER_ASSETS && cd test/parity && go run ./record $(if $(RECORD),-write) $(if $(filter missing,$(RECORD)),-missing)

# EVENTING= runs them without a Knative Broker.
.PHONY: test-e2e
test-e2e: export EVENTING ?= yes
test-e2e: ## Run the tests on a cluster, with real Spark.
	hack/with-cluster.sh --as-found hack/e2e.sh ./test/e2e

# It downloads two more versions of Spark.
.PHONY: e2e
e2e: export EVENTING ?= yes
e2e: export SPARK_VERSIONS := 3.5.9,4.3.0
e2e: ## Run the longest tests, the end-to-end tests of all features and Spark versions, the History Server's, the console's in Chromium, and Argo CD's code.
	$(MAKE) test-long
	($(LOCALCLUSTER) prometheus)
	($(LOCALCLUSTER) tmux)
	go test -count=1 -timeout=20m ./test/history
	($(LOCALCLUSTER) chromium)
	cd test/console && FIRESTEEL_PICTURES=$(CURDIR)/.bin/console go test -count=1 -timeout=20m .
	cd test/argocd && go test -count=1 -tags=kubernetes_protomessage_one_more_release ./...
	hack/with-cluster.sh --as-found hack/e2e.sh ./test/e2e/...

.PHONY: console-pictures
console-pictures: ## Renew what the pictures of the console's pages are compared with. Look at .bin/console before you commit it.
	cd test/console && FIRESTEEL_PICTURES=$(CURDIR)/.bin/console FIRESTEEL_RENEW=yes go test -count=1 -timeout=20m -run '^TestPagesAreForEverybodyAtEachWidth$$' .

##@ Clusters

.PHONY: cluster
cluster: ## Boot a Kubernetes cluster on this machine, and print its kubeconfig's path.
	@hack/with-cluster.sh printenv KUBECONFIG

.PHONY: eventing
eventing: export EVENTING := yes
eventing: ## Install Knative Eventing in the local cluster.
	hack/with-cluster.sh kubectl -n knative-eventing get pods

.PHONY: cluster-down
cluster-down: ## Stop the local cluster; with CLUSTER=kind delete the kind cluster.
	@hack/with-cluster.sh --down

.PHONY: apis
apis:
	@hack/crds.sh --check

.PHONY: run
run: apis ## Run the controller as a local process.
	hack/with-cluster.sh hack/run.sh

.PHONY: deploy
deploy: apis ## Build images and deploy Firesteel; APIS=spark.apache.org,sparkoperator.k8s.io chooses its APIs.
	hack/with-cluster.sh hack/deploy.sh

.PHONY: deploy-eventing
deploy-eventing: export EVENTING := yes
deploy-eventing: apis ## Build images and deploy Firesteel with a Knative Broker, and the handlers behind it.
	hack/with-cluster.sh hack/deploy.sh --eventing

.PHONY: undeploy-eventing
undeploy-eventing: ## Remove the Broker and its handlers; the handlers run in the controller again.
	hack/with-cluster.sh hack/deploy.sh --remove-eventing

.PHONY: deploy-webhook
deploy-webhook: apis ## Build images and deploy Firesteel with the webhook.
	hack/with-cluster.sh hack/deploy.sh --webhook

.PHONY: undeploy-webhook
undeploy-webhook: ## Remove the webhook.
	hack/with-cluster.sh hack/deploy.sh --remove-webhook

.PHONY: uninstall
uninstall: export CRDS := $(CRDS)
uninstall: ## Remove Firesteel. Drivers and applications stay; CRDS=yes, or names, deletes CRDs, too.
	hack/with-cluster.sh hack/deploy.sh --uninstall

.PHONY: namespace
namespace: ## Create the namespace NAMESPACE (default), if absent, with what drivers need.
	hack/with-cluster.sh hack/namespace.sh $(or $(NAMESPACE),default)

.PHONY: demo
demo: export APIS ?= spark.apache.org
demo: ## Boot a node, deploy Firesteel, run the applications of examples/, show their events, and say how to see them in a browser.
	@hack/demo.sh

.PHONY: demo-eventing
demo-eventing: export EVENTING := yes
demo-eventing: export APIS ?= spark.apache.org
demo-eventing: ## Deploy Firesteel with a Knative Broker, and run a pipeline of applications driven by events.
	hack/with-cluster.sh hack/demo-eventing.sh
