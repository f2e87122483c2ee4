#!/bin/bash
#
# What Spark's pods start: "driver" and "executor" run the two roles that Spark's
# Kubernetes scheduler knows, anything else runs as it is. The contract is that
# of the project's own images.

set -e

# A process without a name makes Hadoop's login fail, so a user id that nobody
# has gets one, where the image's user may write it down.
if ! getent passwd "$(id -u)" >/dev/null && [ -w /etc/passwd ]; then
  echo "spark-$(id -u):x:$(id -u):$(id -g)::$SPARK_HOME:/bin/false" >>/etc/passwd
fi

if [ -n "$HADOOP_HOME" ] && [ -z "$SPARK_DIST_CLASSPATH" ]; then
  SPARK_DIST_CLASSPATH="$("$HADOOP_HOME/bin/hadoop" classpath)"
  export SPARK_DIST_CLASSPATH
fi

[ -z "$PYSPARK_PYTHON" ] || export PYSPARK_PYTHON
[ -z "$PYSPARK_DRIVER_PYTHON" ] || export PYSPARK_DRIVER_PYTHON

# The executor's class path, most specific first. Java expands the wildcards.
class_path() {
  local path="${SPARK_CONF_DIR:-$SPARK_HOME/conf}"
  [ -z "$HADOOP_CONF_DIR" ] || path="$path:$HADOOP_CONF_DIR"
  [ -z "$SPARK_CLASSPATH" ] || path="$path:$SPARK_CLASSPATH"
  path="$path:$SPARK_HOME/jars/*"
  [ -z "$SPARK_DIST_CLASSPATH" ] || path="$path:$SPARK_DIST_CLASSPATH"
  [ -z "$SPARK_EXTRA_CLASSPATH" ] || path="$path:$SPARK_EXTRA_CLASSPATH"
  echo "$path:$PWD"
}

case "$1" in
driver)
  shift
  command=(
    "$SPARK_HOME/bin/spark-submit"
    --conf "spark.driver.bindAddress=$SPARK_DRIVER_BIND_ADDRESS"
    --conf "spark.executorEnv.SPARK_DRIVER_POD_IP=$SPARK_DRIVER_BIND_ADDRESS"
    --deploy-mode client
    "$@"
  )
  ;;
executor)
  shift
  # The driver hands over Java options as SPARK_JAVA_OPT_0, SPARK_JAVA_OPT_1, ...
  options=()
  for name in $(compgen -e SPARK_JAVA_OPT_ | sort -t_ -k4 -n); do
    options+=("${!name}")
  done
  command=(
    "${JAVA_HOME:-/usr}/bin/java"
    "${options[@]}"
    "-Xms$SPARK_EXECUTOR_MEMORY"
    "-Xmx$SPARK_EXECUTOR_MEMORY"
    -cp "$(class_path)"
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend
    --driver-url "$SPARK_DRIVER_URL"
    --executor-id "$SPARK_EXECUTOR_ID"
    --cores "$SPARK_EXECUTOR_CORES"
    --app-id "$SPARK_APPLICATION_ID"
    --hostname "$SPARK_EXECUTOR_POD_IP"
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID"
    --podName "$SPARK_EXECUTOR_POD_NAME"
  )
  ;;
*)
  command=("$@")
  ;;
esac

exec /usr/bin/tini -s -- "${command[@]}"
