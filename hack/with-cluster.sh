#!/usr/bin/env bash
# Runs a command with a cluster. CLUSTER says with which:
#   local     a node on this machine, which is booted if it does not run. This is the default.
#   kind      the kind cluster "firesteel", which is created if it is not there. It needs kind and a container engine.
#   existing  the cluster of KUBECONFIG. Images are pushed to KO_DOCKER_REPO, which the cluster must reach.
# Only with existing is the cluster of KUBECONFIG used. --down takes the local or the kind cluster down. With --as-found, one that
# was booted for the command is taken down after it. SPARK_VERSIONS are additional versions of Spark with images in the local
# cluster, separated by commas. With EVENTING set, Knative Eventing runs in the local cluster, and must run in others.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${FIRESTEEL_CACHE:-$HOME/.cache/firesteel}
cluster=${CLUSTER:-local}
kind_cluster=firesteel

# go list downloads the modules first, since go run would print a line for each.
localcluster() {
	(
		cd "$here/localcluster"
		lines=$(go list -deps ./cmd/localcluster 2>&1 >/dev/null) || { echo "$lines" >&2 && exit 1; }
		exec go run ./cmd/localcluster "$@"
	)
}

require_kind() {
	command -v kind >/dev/null || { echo "CLUSTER=kind: there is no kind on the PATH. Install it: https://kind.sigs.k8s.io" >&2 && exit 1; }
	local engine
	for engine in docker podman nerdctl; do ! command -v "$engine" >/dev/null || return 0; done
	echo "CLUSTER=kind: there is no docker, podman or nerdctl on the PATH. Install a container engine, or leave CLUSTER out on Debian." >&2
	exit 1
}

kind_down() { kind delete cluster --name="$kind_cluster" --kubeconfig="$cache/kind/kubeconfig"; }

case $cluster in
existing) ;;
local)
	if [[ $(uname -s) != Linux || $(id -u) != 0 ]]; then
		echo "CLUSTER=local boots a Kubernetes node, which needs root on Debian. Other clusters: CLUSTER=kind, or CLUSTER=existing with KUBECONFIG." >&2
		exit 1
	fi
	;;
kind) require_kind ;;
*)
	echo "CLUSTER is local, kind or existing, not $cluster" >&2
	exit 2
	;;
esac

if [[ $1 == --down ]]; then
	case $cluster in
	local) localcluster down ;;
	kind) kind_down ;;
	existing) echo "CLUSTER=existing: that cluster is not taken down. make uninstall removes Firesteel from it." >&2 && exit 2 ;;
	esac
	exit
fi

as_found=
[[ $1 != --as-found ]] || { as_found=yes && shift; }

case $cluster in
local)
	if [[ -n ${KUBECONFIG:-} && $KUBECONFIG != "$cache/cluster/kubeconfig" ]]; then
		echo "The local cluster is used, not that of KUBECONFIG; CLUSTER=existing uses that one" >&2
	fi
	[[ -e $cache/bin/kubernetes ]] || echo "Booting a Kubernetes node; the first time that builds Kubernetes, for about 10 minutes on two cores" >&2
	if [[ -n $as_found ]] && ! localcluster status >/dev/null 2>&1; then
		trap 'localcluster down' EXIT
	fi
	localcluster up --spark="${SPARK_VERSIONS:-}" ${EVENTING:+--eventing} >/dev/null
	settings=$(localcluster env)
	set -a && eval "$settings" && set +a
	;;
kind)
	export KUBECONFIG=$cache/kind/kubeconfig KIND_CLUSTER_NAME=$kind_cluster KO_DOCKER_REPO=kind.local
	# The node has the architecture of this machine, and ko would build for amd64.
	export KO_DEFAULTPLATFORMS=${KO_DEFAULTPLATFORMS:-linux/$(go env GOARCH)}
	mkdir -p "$cache/kind"
	if kind get clusters 2>/dev/null | grep -qx "$kind_cluster"; then
		kind export kubeconfig --name="$kind_cluster" --kubeconfig="$KUBECONFIG" >&2
	else
		[[ -z $as_found ]] || trap kind_down EXIT
		kind create cluster --name="$kind_cluster" --kubeconfig="$KUBECONFIG" --wait=120s >&2
	fi
	;;
existing)
	: "${KUBECONFIG:?CLUSTER=existing needs the path of a kubeconfig}"
	;;
esac

# If the machine has no kubectl, the local cluster's kubectl is used.
PATH=$PATH:$cache/bin
if ! command -v kubectl >/dev/null; then
	echo "There is no kubectl on the PATH: building the local cluster's, which takes some minutes" >&2
	localcluster control-plane-assets >&2
fi
if [[ $cluster == existing ]]; then
	context=$(kubectl config current-context)
	echo "The cluster is that of the context $context of $KUBECONFIG: $(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')" >&2
fi
if [[ -n ${EVENTING:-} && $cluster != local ]] && ! kubectl get crd brokers.eventing.knative.dev >/dev/null; then
	cat >&2 <<-MESSAGE
		Knative Eventing is not in this cluster, and there it is yours to install, with the Broker on in-memory channels or with
		a channel of your own: https://knative.dev/docs/install/yaml-install/eventing/install-eventing-with-yaml/
	MESSAGE
	exit 1
fi
[[ -n $(trap -p EXIT) ]] || exec "$@" # so that a signal reaches the command
"$@"
