#!/usr/bin/env bash
# Runs all tests, and prints how long each part took. Chaos and benchmarks mostly wait, so they run beside the end-to-end
# tests. Their output is printed after those have ended, so that it is in one piece. Failures are printed last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

assets=$(cd hack/localcluster && go run ./cmd/localcluster control-plane-assets --kwok)
export KUBEBUILDER_ASSETS=$assets
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

part() { # name: runs make test-NAME
	local began=$SECONDS
	make --no-print-directory "test-$1" || return
	echo "  test-$1 $((SECONDS - began)) s" >>"$work/took"
}
beside() { part chaos && part bench; }

part unit
part alerts
part integration
beside >"$work/beside" 2>&1 &
failed=
part e2e || failed+=" e2e"
if wait $!; then
	[[ -n $failed ]] || cat "$work/beside"
else
	cat "$work/beside"
	failed+=" chaos or bench"
fi
if [[ -n $failed ]]; then
	echo "failed:$failed" >&2
	exit 1
fi
printf 'all tests passed in %d s; chaos and bench ran beside e2e:\n' "$SECONDS"
cat "$work/took"
