#!/bin/bash
# Command lines as documentation and scripts have them.
./bin/spark-submit \
    --master k8s://https://<k8s-apiserver-host>:<k8s-apiserver-port> \
    --deploy-mode cluster \
    --name spark-pi \
    --class org.apache.spark.examples.SparkPi \
    --conf spark.executor.instances=5 \
    --conf spark.kubernetes.container.image=<spark-image> \
    local:///path/to/examples.jar

IMAGE=apache/spark:4.1.0
ARGS=(--conf spark.kubernetes.container.image=$IMAGE --class org.example.Main)
if [[ -n ${BIG:-} ]]; then ARGS+=(--executor-memory 16g); fi

spark-submit --master "$MASTER" --deploy-mode $MODE \
  "${ARGS[@]}" \
  --name etl --conf spark.executor.instances=$N \
  "$JAR" "$@"

spark-submit --master yarn --deploy-mode client --name from-yarn \
  --conf spark.kubernetes.container.image=$IMAGE $EXTRA_OPTIONS \
  local:///app/etl.py --day today

spark-submit ${OPTIONS} "$@"
spark-submit –-class A local:///a.jar
spark-submit --master local[8] --conf spark.kubernetes.container.image=$IMAGE --driver-memory 1.5g local:///b.jar
