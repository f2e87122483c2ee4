#!/usr/bin/env bash
# Says how long the demonstration takes, and in an existing cluster what it creates there. Then it deploys Firesteel to the
# cluster that CLUSTER says, runs the applications of examples/, and shows their events as they arrive, and their results. The
# cluster and Firesteel keep running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cluster=${CLUSTER:-local}
cache=${FIRESTEEL_CACHE:-$HOME/.cache/firesteel}

say() { printf '\n==> %s\n' "$*"; }

plan() {
	local total node boot build=20s
	case $cluster in
	local)
		node="boot a Kubernetes node on this machine, in $cache"
		if [[ -e $cache/cluster/complete ]]; then
			total="about 1 minute" boot=5s node="use the Kubernetes node that runs on this machine"
		elif [[ -e $cache/bin/kubernetes ]]; then
			total="about 1.5 minutes" boot=10s
		else
			total="about 12 minutes on two cores, and the next time 1.5 minutes" boot=9min build=2min
			node="build Kubernetes and images of Spark, and $node"
		fi
		;;
	kind) total="2 to 10 minutes; images are pulled from their registries" boot=1min node="use the kind cluster firesteel, and create it if it is not there" ;;
	existing) total="about 1 minute; the first time 2 more to build the images, and some for the cluster to pull them" boot=1s node="connect to the cluster of KUBECONFIG" ;;
	esac
	say "The demonstration takes $total:"
	printf '  %-6s %s\n' "$boot" "$node" "$build" "build Firesteel's images and deploy it" 1min "run the applications of examples/ with real Spark"
}

# In an existing cluster, objects with these names may belong to others.
creates() {
	say "It creates, or replaces if they are there:"
	printf '  %-28s %s\n' \
		"namespace firesteel-system" "Firesteel, and the function print, which prints its events" \
		"namespace default" "the applications spark-pi, word-count, flaky and misspelt-class, the SparkCluster cluster, the schedule nightly," \
		"" "and what drivers run as: config/workload/rbac.yaml" \
		"cluster-wide" "the CRDs of $APIS, the ClusterRoles firesteel-controller," \
		"" "firesteel-controller-watch and spark-driver, and their bindings" \
		"$KO_DOCKER_REPO" "Firesteel's images"
}

if [[ ${1:-} != --in-cluster ]]; then
	plan
	if [[ $cluster == existing ]]; then
		: "${KO_DOCKER_REPO:?the registry to push Firesteel\'s images to, which the cluster pulls from}"
	fi
	echo
	exec hack/with-cluster.sh hack/demo.sh --in-cluster
fi
[[ $cluster != existing ]] || creates

follower=
stop_following() { [[ -z $follower ]] || kill "$follower" 2>/dev/null || true; }
trap stop_following EXIT

kube() { kubectl -n default "$@"; }

explain() { # application
	kube describe sparkapplications.spark.apache.org "$1" >&2 || true
	echo "The application $1 did not succeed; the lines above say why. Its driver's log: kubectl -n default logs -l spark.operator/spark-app-name=$1" >&2
	exit 1
}

say "Deploying Firesteel"
hack/deploy.sh
go build -tags=grpcnotrace -o .bin/kubectl-spark ./cmd/kubectl-spark
hack/images.sh examples/functions/print/print.yaml | kubectl apply -f -
kubectl -n firesteel-system rollout status deployment/print --timeout=120s
kubectl -n firesteel-system set env deployment/controller K_SINK=http://print.firesteel-system.svc
kubectl -n firesteel-system rollout status deployment/controller --timeout=120s

say "Applying the applications of examples/; their events, as they come:"
kube delete --ignore-not-found --wait -f examples/ >/dev/null
# By its label: a Pod of an earlier version may still be there, and kubectl would choose one of both.
kubectl -n firesteel-system logs --follow --since=1s --selector=app.kubernetes.io/name=print &
follower=$!
kube apply -f examples/ >/dev/null
for application in spark-pi word-count flaky; do
	kube wait --for=condition=Succeeded --timeout=420s "sparkapplications.spark.apache.org/$application" >/dev/null || explain "$application"
done
kube wait --for=delete --timeout=120s sparkapplications.spark.apache.org/flaky >/dev/null
kube wait --for=condition=Succeeded=False --timeout=120s sparkapplications.spark.apache.org/misspelt-class >/dev/null
stop_following

say "Results, from the logs of the drivers"
kube logs spark-pi-0-driver | grep 'Pi is roughly'
echo "The most frequent words of the Gettysburg Address:"
kube logs word-count-0-driver | grep -E "^[a-z']+: [0-9]+$"

say "Why did misspelt-class fail? kubectl spark why misspelt-class:"
.bin/kubectl-spark -n default why misspelt-class

say "Go on with"
if [[ $cluster != existing ]]; then
	kubectl=$(dirname "$(command -v kubectl)")
	echo "  export KUBECONFIG=$KUBECONFIG$([[ $kubectl != "$cache/bin" ]] || echo " PATH=\$PATH:$kubectl")"
fi
cat <<-HINTS
	  kubectl -n default get sparkapplications
	  kubectl -n default describe sparkapplication spark-pi
	  kubectl -n default logs spark-pi-0-driver
	  kubectl -n firesteel-system logs -f deployment/print     # events, as they come
	  make install-cli && kubectl spark list -A                # the command line; kubectl spark --help
	  kubectl -n default delete --ignore-not-found -f examples/
HINTS
case $cluster in
local) echo "  make cluster-down                                        # stops the node" ;;
kind) echo "  make cluster-down CLUSTER=kind                           # deletes the kind cluster" ;;
existing) echo "  make uninstall CLUSTER=existing                          # removes Firesteel; CRDS=yes its CRDs, too" ;;
esac

say "See all of it in a browser, live. This prints the console's address with a link that signs you in, and ends with Ctrl-C:"
[[ $cluster == existing ]] || echo "  export KUBECONFIG=$KUBECONFIG"
echo "  $PWD/.bin/kubectl-spark console"
