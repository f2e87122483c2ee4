#!/usr/bin/env bash
# Gives a namespace the service accounts that the manifests of both Spark operators name, and binds the role of a
# driver to them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

namespace=${1:?the namespace of the drivers}
kubectl apply -f config/202-spark-driver-clusterrole.yaml
sed "s/namespace: default/namespace: ${namespace}/" config/workload/rbac.yaml | kubectl apply -f -
