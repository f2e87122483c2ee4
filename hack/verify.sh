#!/usr/bin/env bash
# Checks that generated files are current and that the code follows the project's rules. Runs every check, so that
# one run shows all problems.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=()
check() {
	local name=$1
	shift
	echo "--- $name"
	"$@" || failed+=("$name")
}

formatted() {
	local files
	files=$(gofmt -l cmd examples hack internal pkg test)
	[[ -z $files ]] || { echo "run gofmt on: $files" && false; }
}

check "generated code and CRDs" go run ./hack/codegen -check
check "events' contract, diagrams of the states" go run ./hack/contract -check
check "licences" go run ./hack/licenses -check
check "dashboards" go run ./hack/dashboards -check
check "chart" go run ./hack/chart -check
check "page of the command line" go run ./hack/manual -check
check "pages made from tables" go test -run '^(TestReferenceIsCurrent|TestPageHasEachFlag)$' ./pkg/dialect/kubeflow/fields ./pkg/dialect/kubeflow/flags ./pkg/metrics
check "links and names in pages" go test ./test/docs
check "gofmt" formatted
check "lint" hack/lint.sh
check "dead code" hack/deadcode.sh
check "release" hack/verify-release.sh
check "vulnerabilities" hack/vulncheck.sh
for module in . tools cmd/kubectl-spark-upload test/harness/s3/versitygw test/e2e/metricsserver test/install test/console test/argocd hack/release hack/release/krew hack/localcluster hack/localcluster/kwok hack/localcluster/eventing test/harness/kubeflow/operator; do
	check "go mod tidy in $module" go -C "$module" mod tidy -diff
done

((${#failed[@]} == 0)) || { printf 'FAILED: %s\n' "${failed[@]}" && exit 1; }
