#!/usr/bin/env bash
# Runs the controller as a process on this machine, with the cluster of KUBECONFIG, until it is interrupted. Events are sent
# to $K_SINK if it is set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deployed=$(kubectl -n firesteel-system get deployment controller -o jsonpath='{.spec.replicas}' --ignore-not-found)
if [[ ${deployed:-0} -gt 0 ]]; then
	cat >&2 <<-MESSAGE
		A controller is deployed in this cluster already, and two would get in each other's way. Take it away first:
		  kubectl -n firesteel-system scale deployment controller --replicas=0
	MESSAGE
	exit 1
fi
kubectl apply -f config/100-namespace.yaml -f config/202-spark-driver-clusterrole.yaml
hack/crds.sh
for manifest in config/400-*.yaml; do kubectl apply -f "$manifest"; done
kubectl apply -f config/workload

export SYSTEM_NAMESPACE=firesteel-system CONFIG_LOGGING_NAME=config-logging
export CONFIG_OBSERVABILITY_NAME=config-observability CONFIG_LEADERELECTION_NAME=config-leader-election
export PROFILING_PORT=${PROFILING_PORT:-0}
# It is not run by go run: a signal would end go run and leave the controller running.
controller=${FIRESTEEL_CACHE:-$HOME/.cache/firesteel}/run/controller
go build -o "$controller" ./cmd/controller
echo "Running the controller; interrupt it with Ctrl-C" >&2
exec "$controller" -local
