#!/usr/bin/env bash
# Builds Firesteel's images with ko and applies config/ to the cluster of KUBECONFIG; --remove takes it away again,
# and with the CustomResourceDefinitions every application.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --remove ]]; then
	kubectl delete --ignore-not-found -f config/workload
	for manifest in config/300-*.yaml; do kubectl delete --ignore-not-found -f "$manifest"; done
	for manifest in config/500-*.yaml config/4*.yaml config/2*.yaml config/100-*.yaml; do
		sed 's#ko://##' "$manifest" | kubectl delete --ignore-not-found -f -
	done
	exit
fi

: "${KO_DOCKER_REPO:?the registry to push Firesteel\'s images to, which the cluster pulls from}"
manifests=$(mktemp)
trap 'rm -f "$manifests"' EXIT
hack/images.sh config/ >"$manifests"
kubectl apply -f config/100-namespace.yaml
hack/crds.sh
kubectl apply -f "$manifests" -f config/workload
kubectl -n firesteel-system rollout status deployment/controller --timeout=180s
