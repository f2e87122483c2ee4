"""Runs a SparkApplication of sparkoperator.k8s.io with Airflow's own operator.

The task shows the driver's log, fails if the application fails, and deletes the application at its end.
"""

from datetime import datetime

from airflow.providers.cncf.kubernetes.operators.spark_kubernetes import SparkKubernetesOperator
from airflow.sdk import DAG

with DAG("spark_pi", schedule=None, start_date=datetime(2026, 1, 1), params={"slices": "20"}):
    SparkKubernetesOperator(
        task_id="spark_pi",
        namespace="{{ var.value.get('spark_namespace', 'default') }}",
        application_file="spark-pi.yaml",
    )
