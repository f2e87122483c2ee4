#!/usr/bin/env bash
# Creates a namespace, unless it exists, with what drivers need there, from the templates of config-namespaces: service
# accounts, the binding of the role of a driver, and what else the templates have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

namespace=${1:?the namespace of the drivers}
kubectl apply -f config/202-spark-driver-clusterrole.yaml
go run ./hack/namespace "$namespace"
