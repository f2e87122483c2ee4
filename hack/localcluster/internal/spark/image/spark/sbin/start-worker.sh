#!/usr/bin/env bash
#
# Starts a standalone worker on this host; with SPARK_NO_DAEMONIZE, in the foreground.

export SPARK_HOME="${SPARK_HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
. "$SPARK_HOME/sbin/spark-config.sh"
. "$SPARK_HOME/bin/load-spark-env.sh"

port=()
[ -z "$SPARK_WORKER_PORT" ] || port=(--port "$SPARK_WORKER_PORT")

exec "$SPARK_HOME/sbin/spark-daemon.sh" start org.apache.spark.deploy.worker.Worker 1 \
  --webui-port "${SPARK_WORKER_WEBUI_PORT:-8081}" \
  "${port[@]}" \
  "$@"
