#!/usr/bin/env bash
#
# Stops the standalone master that start-master.sh started on this host.

export SPARK_HOME="${SPARK_HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
. "$SPARK_HOME/sbin/spark-config.sh"

exec "$SPARK_HOME/sbin/spark-daemon.sh" stop org.apache.spark.deploy.master.Master 1
