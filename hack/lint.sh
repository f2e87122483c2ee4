#!/usr/bin/env bash
# Runs golangci-lint on each module separately, with one set of rules. The local cluster's kubernetes command is left out:
# to lint its few lines, the linter would compile all of Kubernetes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

lint() { go tool -modfile="$root/tools/go.mod" golangci-lint run --allow-parallel-runners --config "$root/.golangci.yaml" "$@"; }

status=0
lint || status=1
(cd cmd/kubectl-spark-upload && lint) || status=1
(cd test/install && lint) || status=1
(cd test/console && lint) || status=1
(cd hack/release && lint) || status=1
(cd hack/localcluster && lint ./cmd/localcluster/... ./cmd/pause/... ./internal/...) || status=1
exit $status
