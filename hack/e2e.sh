#!/usr/bin/env bash
# Deploys the current build with a subscriber that prints its events, and runs these packages of tests against it. With
# EVENTING set, the events pass through a Knative Broker, and the handlers run behind it. Otherwise they are sent to the
# subscriber. If Firesteel was deployed before, it is updated and stays, also after the tests of its removal. Otherwise it is
# uninstalled again; the CRDs stay.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deployed() { kubectl -n firesteel-system get deployment controller >/dev/null 2>&1; }

# Spark's JVMs live for seconds here, and take half as much processor time if they compile methods only once.
compile_once='{"data": {"spark-defaults.conf": "spark.driver.defaultJavaOptions -XX:TieredStopAtLevel=1\nspark.executor.defaultJavaOptions -XX:TieredStopAtLevel=1\n"}}'

if deployed; then
	trap 'deployed || hack/deploy.sh ${EVENTING:+--eventing} >/dev/null' EXIT
	hack/deploy.sh ${EVENTING:+--eventing}
else
	trap 'hack/deploy.sh --uninstall >/dev/null' EXIT
	hack/deploy.sh ${EVENTING:+--eventing}
	for settings in config-defaults config-kubeflow; do
		kubectl -n firesteel-system patch configmap "$settings" --type=merge --patch="$compile_once"
	done
fi
if [[ -n ${EVENTING:-} ]]; then
	hack/images.sh examples/functions/print/print.yaml test/e2e/eventing/testdata/parts.yaml | kubectl apply -f -
	kubectl apply -f examples/functions/print/trigger.yaml
	kubectl -n firesteel-system wait --for=condition=Ready --timeout=180s trigger/print
	kubectl -n firesteel-system rollout status deployment/subscriber --timeout=120s
else
	hack/images.sh examples/functions/print/print.yaml | kubectl apply -f -
	kubectl -n firesteel-system set env deployment/controller K_SINK=http://print.firesteel-system.svc
fi
kubectl -n firesteel-system rollout status deployment/print --timeout=120s
kubectl -n firesteel-system rollout status deployment/controller --timeout=120s
go test -count=1 -v -p=1 -parallel=3 -timeout=1h "$@"
