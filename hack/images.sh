#!/usr/bin/env bash
# Builds the images that manifests name as ko://, pushes them to KO_DOCKER_REPO, and prints the manifests with the
# images' digests in their place.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=$(mktemp)
echo "Building images; the first time, that compiles ko and Firesteel for some minutes" >&2
started=$SECONDS
while sleep 60 &>/dev/null; do echo "Still building images, after $((SECONDS - started)) s" >&2; done &
progress=$!
trap 'kill "$progress"; rm -f "$log"' EXIT
if ! go tool -modfile=tools/go.mod ko resolve "${@/#/--filename=}" 2>"$log"; then
	cat "$log" >&2
	echo "The images of $* could not be built or pushed to $KO_DOCKER_REPO; the lines above say why." >&2
	exit 1
fi
echo "Built in $((SECONDS - started)) s" >&2
