#!/usr/bin/env bash
# Applies the CustomResourceDefinitions to the cluster of KUBECONFIG and waits until they are served.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for manifest in config/300-*.yaml; do
	crd=$(kubectl apply -f "$manifest" -o name)
	# kubectl fails to wait for a condition of what has no conditions yet; this comes with the first.
	kubectl wait --for=jsonpath='{.status.acceptedNames.kind}' --timeout=60s "$crd"
	kubectl wait --for=condition=Established --timeout=60s "$crd"
done
