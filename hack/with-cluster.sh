#!/usr/bin/env bash
# Runs a command with a cluster. By default this is the local cluster, which is booted if it does not run. With
# CLUSTER=existing it is the cluster of KUBECONFIG. Images are then pushed to KO_DOCKER_REPO, which the cluster must reach.
# With --as-found, a local cluster that was booted for the command is taken down after it. SPARK_VERSIONS are additional
# versions of Spark with images in the cluster, separated by commas. With EVENTING set, Knative Eventing runs in it.
set -euo pipefail

localcluster() { (cd "$(dirname "${BASH_SOURCE[0]}")/localcluster" && go run ./cmd/localcluster "$@"); }

as_found=
[[ $1 != --as-found ]] || { as_found=yes && shift; }

case ${CLUSTER:-local} in
local)
	if [[ -n $as_found ]] && ! localcluster status >/dev/null 2>&1; then
		trap 'localcluster down' EXIT
	fi
	localcluster up --spark="${SPARK_VERSIONS:-}" ${EVENTING:+--eventing} >&2
	settings=$(localcluster env)
	set -a && eval "$settings" && set +a
	;;
existing)
	: "${KUBECONFIG:?CLUSTER=existing needs the path of a kubeconfig}"
	;;
*)
	echo "CLUSTER is local or existing, not $CLUSTER" >&2
	exit 2
	;;
esac

# If the machine has no kubectl, the local cluster's kubectl is used.
PATH=$PATH:${FIRESTEEL_CACHE:-$HOME/.cache/firesteel}/bin
if ! command -v kubectl >/dev/null; then
	echo "There is no kubectl on the PATH: building the local cluster's" >&2
	localcluster control-plane-assets >&2
fi
if [[ -n ${EVENTING:-} && ${CLUSTER:-local} == existing ]] && ! kubectl get crd brokers.eventing.knative.dev >/dev/null; then
	cat >&2 <<-MESSAGE
		Knative Eventing is not in this cluster, and there it is yours to install, with the Broker on in-memory channels or with
		a channel of your own: https://knative.dev/docs/install/yaml-install/eventing/install-eventing-with-yaml/
	MESSAGE
	exit 1
fi
[[ -n $(trap -p EXIT) ]] || exec "$@" # so that a signal reaches the command
"$@"
