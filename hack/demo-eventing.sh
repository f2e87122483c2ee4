#!/usr/bin/env bash
# Deploys Firesteel behind a Knative Broker and shows, step by step, a chain of events. An application fails, the restart
# handler in its own Pod gives the verdict, and a user's own functions get the events. When the application has succeeded,
# one of them starts the next application. The cluster and Firesteel keep running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\n==> %s\n' "$*"; }

application=sparkapplications.spark.apache.org
followers=()
stop_following() { ((${#followers[@]} == 0)) || kill "${followers[@]}" 2>/dev/null || true; }
trap stop_following EXIT

# follow shows a Deployment's log from now on, each line behind a name.
follow() { # deployment name
	kubectl -n firesteel-system logs --follow --since=1s "deployment/$1" > >(sed -u "s/^/$2  /") &
	followers+=($!)
}

explain() { # application
	kubectl describe "$application" "$1" >&2 || true
	echo "$1 did not succeed; the lines above say why. What no Trigger could deliver: kubectl -n firesteel-system logs deployment/dead-letter" >&2
	exit 1
}

say "Deploying Firesteel with a Broker, and the handlers behind it"
hack/deploy.sh --eventing
say "Deploying functions: print and follow-up in Go, explain in Python"
functions="print follow-up"
hack/images.sh examples/functions/print/print.yaml examples/functions/follow-up/follow-up.yaml | kubectl apply -f -
kubectl apply -f examples/functions/print/trigger.yaml
if [[ ${CLUSTER:-local} == local ]]; then
	function=$PWD/examples/functions/python
	(cd hack/localcluster && go run ./cmd/localcluster function "$function" firesteel-examples/explain:1)
	kubectl apply -f "$function/function.yaml"
	functions+=" explain"
fi
for name in $functions; do
	kubectl -n firesteel-system rollout status "deployment/$name" --timeout=120s
	kubectl -n firesteel-system wait --for=condition=Ready --timeout=60s "trigger/$name"
done

say "extract is submitted. Its first attempt fails; all that follows is reported by events:"
kubectl delete --ignore-not-found --wait -f examples/functions/follow-up/extract.yaml >/dev/null
for report in $(kubectl get "$application" -o name | grep /report- || true); do kubectl delete --wait "$report" >/dev/null; done
for name in $functions; do follow "$name" "$(printf '%-10s' "$name")"; done
kubectl apply -f examples/functions/follow-up/extract.yaml >/dev/null
kubectl get "$application" extract --watch -o jsonpath='{.status.firesteel.verdict}{"\n"}' \
	> >(awk 'NF && $0 != last { print "verdict     " $0; fflush(); last = $0 }') &
followers+=($!)
kubectl wait --for=condition=Succeeded --timeout=420s "$application/extract" >/dev/null || explain extract
report=
for _ in {1..60}; do
	report=$(kubectl get "$application" -o name | grep /report- || true)
	[[ -z $report ]] || break
	sleep 1
done
[[ -n $report ]] || explain extract
kubectl wait --for=condition=Succeeded --timeout=420s "$report" >/dev/null || explain "${report#*/}"
for _ in {1..30}; do # the last event is published after the status
	! kubectl -n firesteel-system logs deployment/print --since=5m | grep -q "${report#*/} .*(final" || break
	sleep 1
done
stop_following

say "Who wrote the status of extract: the controller, and the restart handler from its own Pod"
kubectl get "$application" extract --show-managed-fields \
	-o jsonpath='{range .metadata.managedFields[?(@.subresource=="status")]}{.manager}{"  "}{.time}{"\n"}{end}'
kubectl -n firesteel-system get pods -l 'app.kubernetes.io/name in (controller, handler-restart)' \
	-o custom-columns=POD:.metadata.name,SERVICE-ACCOUNT:.spec.serviceAccountName
say "What the follow-up came to"
kubectl get "$application" extract "${report#*/}"
kubectl logs "${report#*/}-0-driver" | grep 'Pi is roughly'

cat <<-HINTS

	==> Go on with
	  export KUBECONFIG=$KUBECONFIG PATH=\$PATH:$(dirname "$(command -v kubectl)")
	  kubectl -n firesteel-system get broker,triggers,sinkbindings,eventtypes
	  kubectl -n firesteel-system logs -f deployment/print          # every event, as it comes
	  kubectl -n firesteel-system logs deployment/dead-letter       # what no Trigger could deliver
	  make undeploy-eventing                                        # the handlers back in the controller
	  make cluster-down                                             # stops the local cluster
HINTS
