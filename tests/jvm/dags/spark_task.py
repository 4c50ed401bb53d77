"""A task that runs a client of Spark Connect in the trace of its own span, as docs/recipes/observability says. Airflow 2.10 and 3.

The environment says what to run: CLIENT, words separated by "|", which gets the address as its last word; CONNECT, "host:port".
"""

import datetime
import json
import os
import subprocess
from urllib.parse import quote

try:
    from airflow.providers.standard.operators.python import PythonOperator
    from airflow.sdk import DAG
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.operators.python import PythonOperator


def traceparent(ti):
    try:
        from airflow.traces.utils import gen_span_id, gen_trace_id
    except ImportError:  # Airflow 3
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {}
        TraceContextTextMapPropagator().inject(carrier)
        return (carrier or ti.context_carrier or {}).get("traceparent", "")
    return f"00-{gen_trace_id(ti.dag_run)}-{gen_span_id(ti)}-01"


def run_client(ti, **_):
    baggage = quote(f"dag_id={ti.dag_id},task_id={ti.task_id},run_id={quote(ti.run_id)}")
    context = traceparent(ti)
    address = f"sc://{os.environ['CONNECT']}/;traceparent={context};baggage={baggage}"
    done = subprocess.run([*os.environ["CLIENT"].split("|"), address], check=True, stdout=subprocess.PIPE, text=True)
    with open(os.environ["TOLD"], "w", encoding="utf-8") as file:
        json.dump({"traceparent": context, "run_id": ti.run_id, "printed": done.stdout}, file)


with DAG("nightly", schedule="@once", start_date=datetime.datetime(2024, 1, 1), catchup=False, is_paused_upon_creation=False):
    PythonOperator(task_id="load", python_callable=run_client)
