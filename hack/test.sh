#!/usr/bin/env bash
# Runs all tests but those of make e2e, and prints how long each part took. Chaos mostly waits, so it runs beside the end-to-end
# tests. Its output is printed after those have ended, so that it is in one piece. Failures are printed last.
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
part unit
part alerts
part integration
part chaos >"$work/chaos" 2>&1 &
failed=
part e2e || failed+=" e2e"
if wait $!; then
	[[ -n $failed ]] || cat "$work/chaos"
else
	cat "$work/chaos"
	failed+=" chaos"
fi
if [[ -n $failed ]]; then
	echo "failed:$failed" >&2
	exit 1
fi
printf 'all tests passed in %d s; chaos ran beside e2e:\n' "$SECONDS"
cat "$work/took"
