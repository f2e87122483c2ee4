#!/usr/bin/env bash
# Runs all tests but those of make e2e, and prints how long each part took. Real Spark and chaos wait for much, so they run beside the
# parts that compute, one after the other and before them in line for a processor. Their output is printed after those, so that it is in
# one piece. The parts that failed are named last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

assets=$(cd hack/localcluster && go run ./cmd/localcluster control-plane-assets --kwok)
export KUBEBUILDER_ASSETS=$assets
work=$(mktemp -d)

part() { # name [command]: runs make test-NAME, by a command
	local began=$SECONDS
	if ! "${@:2}" make --no-print-directory "test-$1"; then
		echo "$1" >>"$work/failed"
		return 1
	fi
	echo "  test-$1 $((SECONDS - began)) s" >>"$work/took"
}
beside() {
	part e2e || true
	part chaos || true
}
set -m # in a process group of its own, which is ended as a whole
beside >"$work/beside" 2>&1 </dev/null &
group=$!
set +m
trap 'kill -INT -- "-$group" 2>/dev/null && wait "$group"; rm -r "$work"' EXIT

for name in unit alerts integration; do
	part "$name" nice -n 5 || break
done
wait "$group"
cat "$work/beside"
if [[ -e $work/failed ]]; then
	mapfile -t failed <"$work/failed"
	echo "failed: ${failed[*]}" >&2
	exit 1
fi
printf 'all tests passed in %d s; e2e and chaos ran beside the others:\n' "$SECONDS"
cat "$work/took"
