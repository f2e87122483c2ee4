#!/usr/bin/env bash
set -euo pipefail
IMAGE=apache/spark:4.1.0
COMMON=(
  --master k8s://https://10.0.0.1:6443 --deploy-mode cluster
  --conf spark.kubernetes.container.image="$IMAGE" # the same for all
)

"$SPARK_HOME"/bin/spark-submit "${COMMON[@]}" \
  --class org.apache.spark.examples.SparkPi --name pi --num-executors 3 \
  --conf spark.kubernetes.namespace=${NAMESPACE:-team-a} \
  local:///opt/spark/examples/jars/spark-examples.jar 1000

if [ "${1:-}" = report ]; then
  DAY=$(date +%F)
  exec spark-submit "${COMMON[@]}" --driver-memory 2g --queue reports --conf 'spark.my.password=hunter2222' \
    local:///app/report.py --day "$DAY" "$@" > report.log 2>&1
fi

spark-submit --master 'k8s://https://10.0.0.1:6443' --class A /home/me/a.jar
spark-submit --master local[2] --clas A b.jar
spark-submit --kill team-a:pi
