"""Runs a SparkApplication of spark.apache.org. Airflow has no operator for it: one task creates it, and a sensor waits for its end.

Each run has an application of its own, which a time to live deletes after an hour.
"""

from datetime import datetime

from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook
from airflow.providers.cncf.kubernetes.operators.resource import KubernetesCreateResourceOperator
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException

NAMESPACE = "{{ var.value.get('spark_namespace', 'default') }}"
NAME = "spark-pi-{{ ts_nodash | lower }}"

APPLICATION = f"""
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata:
  name: {NAME}
  namespace: {NAMESPACE}
spec:
  mainClass: org.apache.spark.examples.SparkPi
  jars: local:///opt/spark/examples/jars/spark-examples.jar
  driverArgs: ["{{{{ params.slices }}}}"]
  sparkConf:
    spark.executor.instances: "1"
    spark.driver.memory: 512m
    spark.executor.memory: 512m
    spark.kubernetes.driver.request.cores: 200m
    spark.kubernetes.executor.request.cores: 200m
    spark.kubernetes.authenticate.driver.serviceAccountName: spark
  applicationTolerations:
    ttlAfterStopMillis: 3600000
  runtimeVersions:
    sparkVersion: 4.1.4
"""

with DAG("spark_pi_apache", schedule=None, start_date=datetime(2026, 1, 1), params={"slices": "20"}):
    create = KubernetesCreateResourceOperator(
        task_id="create", namespace=NAMESPACE, yaml_conf=APPLICATION, custom_resource_definition=True
    )

    @task.sensor(poke_interval=5, timeout=3600)
    def succeeded(name, namespace):
        """Reads the condition Succeeded: Unknown until the end, also while a failed attempt is restarted."""
        application = KubernetesHook(conn_id="kubernetes_default").get_custom_object(
            group="spark.apache.org", version="v1", plural="sparkapplications", name=name, namespace=namespace
        )
        for condition in application.get("status", {}).get("conditions", []):
            if condition["type"] == "Succeeded":
                if condition["status"] == "False":
                    raise AirflowFailException(f"{condition['reason']}: {condition['message']}")
                return condition["status"] == "True"
        return False

    create >> succeeded(NAME, NAMESPACE)
