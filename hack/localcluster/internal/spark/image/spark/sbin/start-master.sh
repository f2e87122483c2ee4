#!/usr/bin/env bash
#
# Starts a standalone master on this host; with SPARK_NO_DAEMONIZE, in the foreground.

export SPARK_HOME="${SPARK_HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
. "$SPARK_HOME/sbin/spark-config.sh"
. "$SPARK_HOME/bin/load-spark-env.sh"

exec "$SPARK_HOME/sbin/spark-daemon.sh" start org.apache.spark.deploy.master.Master 1 \
  --host "${SPARK_MASTER_HOST:-$(hostname -f)}" \
  --port "${SPARK_MASTER_PORT:-7077}" \
  --webui-port "${SPARK_MASTER_WEBUI_PORT:-8080}" \
  "$@"
