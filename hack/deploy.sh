#!/usr/bin/env bash
# Builds Firesteel's images with ko and applies config/ to the cluster of KUBECONFIG. --eventing also applies
# config/eventing, if Knative Eventing is installed. $APIS chooses the CustomResourceDefinitions, see hack/crds.sh.
# --webhook also applies config/webhook, and --remove-webhook deletes it.
# --remove-eventing runs everything in one process again. --uninstall takes Firesteel's finalizers off all objects, and removes
# the controller. Drivers go on. The CustomResourceDefinitions stay, with all objects of their kinds, unless $CRDS asks for
# them: yes stands for those with Firesteel's label, names (separated by commas) for single ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

has_eventing() { kubectl get crd brokers.eventing.knative.dev --ignore-not-found -o name | grep -q .; }

# Without a limit, an object that another controller holds would stop everything.
delete() { kubectl delete --ignore-not-found --timeout=120s "$@"; }

# A webhook of another installation, such as Knative's, answers nothing while its Pod starts anew: the same deletion works a moment later.
remove() { # manifest...
	local manifest pause errors failed
	for manifest in "$@"; do
		for pause in 1 2 4 8 16 last; do
			failed=''
			{ errors=$(sed 's#ko://##' "$manifest" | delete -f - 2>&1 >&3) || failed=yes; } 3>&1
			[[ -z $errors ]] || echo "$errors" >&2
			[[ -n $failed ]] || break
			[[ $pause != last && $errors == *'failed calling webhook'* ]] || return 1
			sleep "$pause"
		done
	done
}

remove_eventing() {
	if has_eventing; then
		# The controller's sink is deleted first, so that no event is on its way when the Broker is deleted.
		remove config/eventing/800-*.yaml config/archive-eventing/700-*.yaml config/workload-namespaces-eventing/700-*.yaml config/eventing/700-*.yaml config/eventing/600-*.yaml config/eventing/100-*.yaml
	fi
	remove config/eventing/500-*.yaml config/archive-eventing/500-*.yaml config/workload-namespaces-eventing/500-*.yaml
}

# The configurations are deleted first: without an answer of the webhook, the API server refuses annotated Pods, and with Fail what users apply.
remove_webhook() { remove config/webhook/600-*.yaml config/webhook/500-*.yaml; }

delete_crds() {
	case ${CRDS:-} in
	"") echo "The CRDs stay, and with them all applications, clusters and schedules. To delete them, too: make uninstall CRDS=yes" ;;
	yes) delete crd -l app.kubernetes.io/part-of=firesteel ;;
	*)
		local names
		IFS=, read -ra names <<<"$CRDS"
		delete crd "${names[@]}"
		;;
	esac
}

# Of what $CRDS names, nothing may belong to others.
check_crds() {
	[[ -n ${CRDS:-} && $CRDS != yes ]] || return 0
	local name
	for name in ${CRDS//,/ }; do
		if [[ $(kubectl get crd "$name" --ignore-not-found -o jsonpath='{.metadata.labels.app\.kubernetes\.io/part-of}') != firesteel ]]; then
			echo "CRDS=$CRDS: there is no CRD $name with the label app.kubernetes.io/part-of=firesteel. Name CRDs of Firesteel, or write yes." >&2
			exit 2
		fi
	done
}

case ${1:-} in
--uninstall)
	check_crds
	if ! go run ./cmd/setup release-finalizers; then
		echo "Finalizers were not released, and nothing was deleted. The lines above say why. docs/operators/uninstall.md has a kubectl line that does the same." >&2
		exit 1
	fi
	remove_webhook
	remove_eventing
	remove config/console/*.yaml config/archive-service/5*.yaml config/admission*/*.yaml config/driver-logs/*.yaml config/archive/*.yaml config/history/*.yaml config/other-operators/*.yaml config/workload-namespaces/200-*.yaml
	remove config/500-*.yaml config/4*.yaml config/201-*.yaml config/200-*.yaml config/100-*.yaml
	delete_crds
	echo "Drivers go on. When none needs its rights: kubectl delete -f config/workload/rbac.yaml -f config/202-spark-driver-clusterrole.yaml"
	exit
	;;
--remove-webhook)
	remove_webhook
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
if [[ ${1:-} == --webhook ]]; then
	hack/images.sh config/webhook/ >"$manifests/webhook.yaml"
	kubectl apply --server-side -f "$manifests/webhook.yaml"
	kubectl -n firesteel-system rollout status deployment/webhook --timeout=180s
fi
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
