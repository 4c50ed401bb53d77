#!/usr/bin/env python3
"""Makes the dashboards of the chart, from the typed builders of Grafana (PyPI grafana-foundation-sdk).

    python3 deploy/dashboards/make_dashboards.py            # writes charts/spark-3.5/dashboards/*.json
    python3 deploy/dashboards/make_dashboards.py --check    # says whether they are up to date
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, List, Tuple

from grafana_foundation_sdk.builders import bargauge, dashboard, heatmap, prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef, DynamicConfigValue

OUTPUT = Path(__file__).resolve().parents[2] / "charts" / "spark-3.5" / "dashboards"
SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
OF = '{app_id=~"$app"}'


def of(**labels: str) -> str:
    """The selector of the chosen applications and these labels."""
    return '{app_id=~"$app"' + "".join(f',{name}="{value}"' for name, value in labels.items()) + "}"


def query(expression: str, legend: str, instant: bool = False) -> Any:
    made = prometheus.Dataquery().expr(expression).legend_format(legend).datasource(SOURCE)
    return made.instant() if instant else made


def panel(kind: Any, title: str, text: str, unit: str, *queries: Tuple[str, str]) -> Any:
    made = kind.Panel().title(title).description(text).datasource(SOURCE).unit(unit).height(8).span(12)
    for expression, legend in queries:
        made = made.with_target(query(expression, legend))
    return made


def quantile(share: float, phase: str) -> str:
    rate = f"rate(spark_task_duration_seconds_bucket{of(phase=phase)}[$__rate_interval])"
    return f"histogram_quantile({share}, sum by (app_name, le) ({rate}))"


def rate(metric: str, *by: str, **labels: str) -> str:
    return f"sum by ({', '.join(('app_name', *by))}) (rate({metric}{of(**labels)}[$__rate_interval]))"


def begin(title: str, uid: str) -> Any:
    source = dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")
    app = (
        dashboard.QueryVariable("app").label("Application").datasource(SOURCE)
        .query("label_values(spark_application_info, app_id)").multi(True).include_all(True).all_value(".*")
    )
    return (
        dashboard.Dashboard(title).uid(uid).tags(["spark", "pyrometer"]).refresh("30s").time("now-3h", "now")
        .timezone("browser").with_variable(source).with_variable(app)
    )


def link_to_traces(made: Any) -> Any:
    """The trace of a run opens where the variable `traces` says."""
    link = {"title": "Trace", "url": "${traces}${__value.raw}", "targetBlank": True}
    return made.override_by_name("trace_id", [DynamicConfigValue(id_val="links", value=[link])])


def job_phase_timeline() -> Any:
    traces = dashboard.TextBoxVariable("traces").label("Address of traces").default_value("http://jaeger:16686/trace/")
    made = begin("Spark job phases", "pyrometer-job-phase-timeline").with_variable(traces)
    panels: List[Any] = [
        panel(statetimeline, "Phases", "What each application does now: waits for executors, computes, writes, or only the driver "
              "works", "none", (f"spark_phase_active{OF} == 1", "{{app_name}} {{phase}}")).span(24),
        panel(bargauge, "Phase breakdown", "Share of the time so far; the rest is the driver's", "percentunit",
              (f"spark_phase_breakdown_ratio{OF}", "{{app_name}} {{phase}}")),
        panel(stat, "Time to first executor", "From the start of the application to its first executor", "s",
              (f"spark_resource_wait_seconds{OF}", "{{app_name}}")),
        panel(timeseries, "Compute efficiency", "Task slots that have a task, and processor time of tasks by their run time",
              "percentunit", (f"spark_slot_utilization_ratio{OF}", "{{app_name}} slots"),
              (f"{rate('spark_task_cpu_seconds_total')} / {rate('spark_task_run_seconds_total')}", "{{app_name}} processor")),
        panel(timeseries, "S3 throughput", "Bytes that executors read from and wrote to S3", "Bps",
              (rate("spark_filesystem_bytes_total", "direction", filesystem="s3a"), "{{app_name}} {{direction}}")),
        panel(timeseries, "Compute and write tasks (p95)", "95 % of tasks took at most this", "s",
              (quantile(0.95, "compute"), "{{app_name}} compute"), (quantile(0.95, "write"), "{{app_name}} write")),
        panel(timeseries, "Executors", "Executors asked for, at work, about to end, ended", "none",
              (f"spark_executors{OF}", "{{app_name}} {{state}}")),
        panel(timeseries, "Commits", "Committing output: of tasks, of jobs, and since when a job's commit goes on", "s",
              (f"spark_commit_seconds{OF}", "{{app_name}} {{step}}")),
        panel(timeseries, "Retries and throttles", "Requests to the store that were tried again or refused for their rate", "reqps",
              (rate("spark_filesystem_retries_total", "filesystem"), "{{app_name}} {{filesystem}} retries"),
              (rate("spark_filesystem_throttles_total", "filesystem"), "{{app_name}} {{filesystem}} throttles")),
        link_to_traces(panel(table, "Runs", "Which task of an orchestrator runs the application, and its trace", "none",
                             (f"spark_application_info{OF}", "")).span(24)),
    ]
    for one in panels:
        made = made.with_panel(one)
    return made


def profiling() -> Any:
    made = begin("Spark profiling", "pyrometer-spark-profiling")
    gc = f"{rate('spark_gc_seconds_total')} / {rate('spark_task_run_seconds_total')}"
    panels: List[Any] = [
        panel(timeseries, "Garbage collection", "Share of the run time of tasks", "percentunit", (gc, "{{app_name}}")),
        panel(timeseries, "Serialization", "Deserializing tasks, and serializing their results", "s",
              (rate("spark_task_deserialize_seconds_total"), "{{app_name}} deserialize"),
              (rate("spark_task_serialize_seconds_total"), "{{app_name}} serialize")),
        panel(timeseries, "Shuffle skew", "Most shuffle bytes of one task by the mean of its stage", "none",
              (f"spark_shuffle_skew_ratio{OF}", "{{app_name}} stage {{stage}}")),
        panel(timeseries, "Task size skew", "Most bytes of one task by the median of its stage", "none",
              (f"spark_task_size_skew_ratio{OF}", "{{app_name}} stage {{stage}}")),
        panel(timeseries, "Shuffle", "Bytes, and time in which tasks waited for them", "Bps",
              (rate("spark_shuffle_read_bytes_total"), "{{app_name}} read"),
              (rate("spark_shuffle_write_bytes_total"), "{{app_name}} write"),
              (rate("spark_shuffle_fetch_wait_seconds_total"), "{{app_name}} wait (s/s)")),
        panel(timeseries, "Spill", "What tasks spilled, in memory and on disk", "Bps",
              (rate("spark_memory_spill_bytes_total"), "{{app_name}} memory"), (rate("spark_disk_spill_bytes_total"), "{{app_name}} disk")),
        panel(timeseries, "Utilization", "Share of task slots with a task", "percentunit",
              (f"spark_slot_utilization_ratio{OF}", "{{app_name}}")),
        panel(timeseries, "Idle executors", "Executors without a task", "none", (f"spark_idle_executors{OF}", "{{app_name}}")),
        panel(timeseries, "Peak memory", "Largest heap and off-heap memory seen in executors", "bytes",
              (f"max by (app_name, kind) (spark_executor_peak_memory_bytes{OF})", "{{app_name}} {{kind}}")),
        panel(heatmap, "Task durations", "Tasks that ended, by duration", "s",
              (f"sum by (le) (increase(spark_task_duration_seconds_bucket{OF}[$__rate_interval]))", "{{le}}")),
        panel(timeseries, "Longest stages", "Duration of the 20 longest stage attempts", "s",
              (f"topk(20, spark_stage_duration_seconds{OF})", "{{app_name}} stage {{stage}}")),
        panel(timeseries, "Streaming", "Duration of the newest batch of each query", "s",
              (f"spark_streaming_batch_duration_seconds{OF}", "{{app_name}} {{query}}")),
    ]
    for one in panels:
        made = made.with_panel(one)
    return made


def main() -> int:
    stale = False
    for name, made in (("job-phase-timeline", job_phase_timeline()), ("profiling", profiling())):
        text = JSONEncoder(sort_keys=True, indent=2).encode(made.build()) + "\n"
        path = OUTPUT / f"{name}.json"
        if "--check" in sys.argv[1:]:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                print(f"{path} is stale: run deploy/dashboards/make_dashboards.py", file=sys.stderr)
                stale = True
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
