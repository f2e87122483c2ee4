#!/usr/bin/env bash
# Applies the CustomResourceDefinitions of the APIs that $APIS names, separated by commas (all but spark-operator.k8s.io if it is not set), to the
# cluster of KUBECONFIG, and waits until they are served. CRDs of other APIs stay as they are. --check only checks the names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

manifests=()
IFS=, read -ra apis <<<"${APIS:-spark.apache.org,sparkoperator.k8s.io}"
for api in "${apis[@]}"; do
	case $api in
	spark.apache.org) manifests+=(config/300-sparkapplication.yaml config/300-sparkcluster.yaml config/300-scheduledsparkapplication.yaml) ;;
	sparkoperator.k8s.io) manifests+=(config/300-sparkoperator-*.yaml) ;;
	spark-operator.k8s.io) manifests+=(config/early/300-*.yaml) ;;
	*)
		echo "APIS=$APIS: Firesteel has no API \"$api\". Name some of spark.apache.org, sparkoperator.k8s.io and spark-operator.k8s.io, with commas between." >&2
		exit 2
		;;
	esac
done
[[ ${1:-} != --check ]] || exit 0

for manifest in "${manifests[@]}"; do
	crd=$(kubectl apply -f "$manifest" -o name)
	# kubectl cannot wait for a condition before the object has any conditions. This one comes with the first.
	kubectl wait --for=jsonpath='{.status.acceptedNames.kind}' --timeout=60s "$crd"
	kubectl wait --for=condition=Established --timeout=60s "$crd"
done
