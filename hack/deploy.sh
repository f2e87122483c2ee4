#!/usr/bin/env bash
# Builds Firesteel's images with ko and applies config/ to the cluster of KUBECONFIG. --eventing also applies
# config/eventing, if Knative Eventing is installed. $APIS chooses the CustomResourceDefinitions, see hack/crds.sh. --remove
# deletes everything, and with the CustomResourceDefinitions that have Firesteel's label also every application.
# --remove-eventing runs everything in one process again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

has_eventing() { kubectl get crd brokers.eventing.knative.dev --ignore-not-found -o name | grep -q .; }

remove() { # manifest...
	for manifest in "$@"; do sed 's#ko://##' "$manifest" | kubectl delete --ignore-not-found -f -; done
}

remove_eventing() {
	if has_eventing; then
		# The controller's sink is deleted first, so that no event is on its way when the Broker is deleted.
		remove config/eventing/800-*.yaml config/eventing/700-*.yaml config/eventing/600-*.yaml config/eventing/100-*.yaml
	fi
	remove config/eventing/500-*.yaml
}

case ${1:-} in
--remove)
	remove_eventing
	kubectl delete --ignore-not-found -f config/workload
	kubectl delete crd -l app.kubernetes.io/part-of=firesteel
	remove config/500-*.yaml config/4*.yaml config/2*.yaml config/100-*.yaml
	exit
	;;
--remove-eventing)
	kubectl apply -f config/400-config-handlers.yaml
	remove_eventing
	kubectl -n firesteel-system rollout status deployment/controller --timeout=180s
	exit
	;;
esac

: "${KO_DOCKER_REPO:?the registry to push Firesteel\'s images to, which the cluster pulls from}"
hack/crds.sh --check
manifests=$(mktemp -d)
trap 'rm -rf "$manifests"' EXIT
hack/images.sh config/[!3]*.yaml >"$manifests/core.yaml"
kubectl apply -f config/100-namespace.yaml
hack/crds.sh
kubectl apply -f "$manifests/core.yaml" -f config/workload
kubectl -n firesteel-system rollout status deployment/controller --timeout=180s
[[ ${1:-} == --eventing ]] || exit 0

hack/images.sh config/eventing/ >"$manifests/eventing.yaml"
kubectl apply -f "$manifests/eventing.yaml"
ready=(broker/firesteel sinkbinding/controller)
for manifest in config/eventing/500-handler-*.yaml; do
	handler=$(basename "$manifest" .yaml)
	handler=${handler#500-}
	kubectl -n firesteel-system rollout status "deployment/$handler" --timeout=180s
	ready+=("trigger/$handler")
done
kubectl -n firesteel-system rollout status deployment/dead-letter --timeout=180s
kubectl -n firesteel-system wait --for=condition=Ready --timeout=120s "${ready[@]}"
kubectl -n firesteel-system rollout status deployment/controller --timeout=180s
