#!/usr/bin/env bash
# Deploys Firesteel, runs the applications of examples/ and shows their events as they arrive, then their results. The
# cluster and Firesteel keep running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n==> %s\n' "$*"; }

follower=
stop_following() { [[ -z $follower ]] || kill "$follower" 2>/dev/null || true; }
trap stop_following EXIT

explain() { # application
	kubectl describe sparkapplications.spark.apache.org "$1" >&2 || true
	echo "The application $1 did not succeed; the lines above say why. Its driver's log: kubectl logs -l spark.operator/spark-app-name=$1" >&2
	exit 1
}

say "Deploying Firesteel"
hack/deploy.sh
hack/images.sh examples/functions/print/print.yaml | kubectl apply -f -
kubectl -n firesteel-system rollout status deployment/print --timeout=120s
kubectl -n firesteel-system set env deployment/controller K_SINK=http://print.firesteel-system.svc
kubectl -n firesteel-system rollout status deployment/controller --timeout=120s

say "Applying the applications of examples/; their events, as they come:"
kubectl delete --ignore-not-found --wait -f examples/ >/dev/null
kubectl -n firesteel-system logs --follow --since=1s deployment/print &
follower=$!
kubectl apply -f examples/ >/dev/null
for application in spark-pi word-count flaky; do
	kubectl wait --for=condition=Succeeded --timeout=420s "sparkapplications.spark.apache.org/$application" >/dev/null || explain "$application"
done
kubectl wait --for=delete --timeout=120s sparkapplications.spark.apache.org/flaky >/dev/null
stop_following

say "Results, from the logs of the drivers"
kubectl logs spark-pi-0-driver | grep 'Pi is roughly'
echo "The most frequent words of the Gettysburg Address:"
kubectl logs word-count-0-driver | grep -E "^[a-z']+: [0-9]+$"

cat <<-HINTS

	==> Go on with
	  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$(command -v kubectl)"):\$PATH
	  kubectl get sparkapplications
	  kubectl describe sparkapplication spark-pi
	  kubectl logs spark-pi-0-driver
	  kubectl -n firesteel-system logs -f deployment/print     # events, as they come
	  kubectl delete --ignore-not-found -f examples/
	  make cluster-down                                        # takes the local cluster away
HINTS
