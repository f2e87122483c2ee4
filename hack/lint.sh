#!/usr/bin/env bash
# Runs golangci-lint on the modules, each by itself, with one set of rules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

status=0
for module in . hack/localcluster; do
	(cd "$module" && go tool -modfile="$root/tools/go.mod" golangci-lint run --config "$root/.golangci.yaml") || status=1
done
exit $status
