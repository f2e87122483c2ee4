"""Waits with Airflow's sensor for the end of an application that is there."""

from datetime import datetime

from airflow.providers.cncf.kubernetes.sensors.spark_kubernetes import SparkKubernetesSensor
from airflow.sdk import DAG

with DAG("sensor", schedule=None, start_date=datetime(2026, 1, 1), params={"application": ""}):
    SparkKubernetesSensor(
        task_id="sensor",
        application_name="{{ params.application }}",
        namespace="{{ var.value.spark_namespace }}",
        attach_log=True,
        poke_interval=1,
        timeout=120,
    )
