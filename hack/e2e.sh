#!/usr/bin/env bash
# Deploys the current build with a subscriber that prints its events, and runs these packages of tests against it.
# A Firesteel that was deployed before stays, updated; one that was not is removed again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! kubectl get namespace firesteel-system >/dev/null 2>&1; then
	trap 'hack/deploy.sh --remove >/dev/null' EXIT
fi
hack/deploy.sh
hack/images.sh examples/functions/print/print.yaml | kubectl apply -f -
kubectl -n firesteel-system rollout status deployment/print --timeout=120s
kubectl -n firesteel-system set env deployment/controller K_SINK=http://print.firesteel-system.svc
kubectl -n firesteel-system rollout status deployment/controller --timeout=120s
go test -count=1 -v -p=1 -timeout=1h "$@"
