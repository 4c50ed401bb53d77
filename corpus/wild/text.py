"""Text logs of a driver, and what other programs write around each of their lines."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Sequence

from .forms import TEXT_WAYS, Error, Files, Form, Text, make_form

FORMS: List[Form] = []
form = make_form(FORMS, TEXT_WAYS)
# Second of a minute, level, logger, message, lines that follow.
RECORDS = (
    (0, "INFO", "SparkContext", "Running Spark version 3.5.6", ()),
    (1, "INFO", "StandaloneSchedulerBackend", "Connected to Spark cluster with app ID {app}", ()),
    (2, "INFO", "DAGScheduler", "Got job 0 (save at Wild.scala:21) with 2 output partitions", ()),
    (2, "INFO", "DAGScheduler", "Submitting 2 missing tasks from ResultStage 0 (MapPartitionsRDD[3] at map at Wild.scala:20) (first 15 tasks are "
     "for partitions Vector(0, 1))", ()),
    (3, "INFO", "TaskSetManager", "Starting task 0.0 in stage 0.0 (TID 0) (10.1.0.4, executor 1, partition 0, PROCESS_LOCAL, 8000 bytes) ", ()),
    (3, "INFO", "TaskSetManager", "Starting task 1.0 in stage 0.0 (TID 1) (10.1.0.5, executor 2, partition 1, PROCESS_LOCAL, 8000 bytes) ", ()),
    (9, "INFO", "TaskSetManager", "Finished task 0.0 in stage 0.0 (TID 0) in 6000 ms on 10.1.0.4 (executor 1) (1/2)", ()),
    (15, "ERROR", "TaskSchedulerImpl", "Lost executor 2 on 10.1.0.5: Container killed by YARN for exceeding physical memory limits. 2.3 GB of 2.2 GB "
     "physical memory used. Consider boosting spark.executor.memoryOverhead.", ()),
    (15, "WARN", "TaskSetManager", "Lost task 1.0 in stage 0.0 (TID 1) (10.1.0.5 executor 2): java.io.UncheckedIOException: row 17 is refused",
     ("\tat com.example.wild.Sink.append(Sink.scala:88)", "\tat java.base/java.lang.Thread.run(Thread.java:840)",
      "Caused by: java.nio.file.AccessDeniedException: /data/out/part-1", "\tat java.base/sun.nio.fs.UnixException.translate(UnixException.java:90)")),
    (17, "INFO", "TaskSetManager", "Starting task 1.1 in stage 0.0 (TID 2) (10.1.0.4, executor 1, partition 1, PROCESS_LOCAL, 8000 bytes) ", ()),
    (24, "INFO", "TaskSetManager", "Finished task 1.1 in stage 0.0 (TID 2) in 7000 ms on 10.1.0.4 (executor 1) (2/2)", ()),
    (24, "INFO", "DAGScheduler", "Job 0 finished: save at Wild.scala:21, took 22.000000 s", ()),
)
ERRORS = (
    Error("ERROR", "Lost executor 2 on 10.1.0.5", "container-memory"),
    Error("WARN", "java.nio.file.AccessDeniedException: /data/out/part-1", "credentials"),
)
PLAIN = Text(ERRORS, 1, 3)
ONE_POD = Text(ERRORS, 1, 3, 3, ("wild-7-driver",))
Wrap = Callable[[str, int], str]  # a line, and the second at which it was written


def plain_line(second: int, level: str, logger: str, message: str) -> str:
    return f"26/03/04 05:06:{second:02} {level} {logger}: {message}"


def log(app: str, wrap: Wrap = lambda line, _: line, head: Callable[[int, str, str, str], str] = plain_line) -> bytes:
    lines: List[str] = []
    for second, level, logger, message, more in RECORDS:
        for line in (head(second, level, logger, message.format(app=app)), *more):
            lines.append(wrap(line, second))
    return "".join(f"{line}\n" for line in lines).encode()


def driver(app: str, data: bytes) -> Files:
    return {f"{app}/driver.log": data}


@form("driver's log", "Spark's default layout, 1.x to 4.x", PLAIN)
def text_plain(app: str) -> Files:
    return driver(app, log(app))


@form("driver's log inside a task's log (Airflow 2.3 and later)", "Airflow", PLAIN)
def airflow(app: str) -> Files:
    return driver(app, log(app, lambda line, second: f"[2026-03-04T05:06:{second:02}.120+0000] {{spark_submit.py:571}} INFO - {line}"))


@form("driver's log inside a task's log (before Airflow 2.3)", "Airflow", PLAIN)
def airflow_old(app: str) -> Files:
    return driver(app, log(app, lambda line, second: f"[2026-03-04, 05:06:{second:02} UTC] {{spark_submit.py:490}} INFO - {line}"))


@form("lines after the name of a service", "`docker compose logs`", Text(ERRORS, 1, 3, 3, ("wild-spark-1",)))
def compose(app: str) -> Files:
    return driver(app, log(app, lambda line, _: f"wild-spark-1  | {line}"))


@form("lines after a time", "`kubectl logs --timestamps`", PLAIN)
def kubectl_timestamps(app: str) -> Files:
    return driver(app, log(app, lambda line, second: f"2026-03-04T05:06:{second:02}.987654321Z {line}"))


@form("lines after pod and container", "`kubectl logs --prefix`", ONE_POD)
def kubectl_prefix(app: str) -> Files:
    return driver(app, log(app, lambda line, _: f"[pod/wild-7-driver/spark-kubernetes-driver] {line}"))


@form("lines after pod and container, without brackets", "stern", ONE_POD)
def stern(app: str) -> Files:
    return driver(app, log(app, lambda line, _: f"wild-7-driver spark-kubernetes-driver {line}"))


@form("lines after time, host and process", "journald, syslog", PLAIN)
def journald(app: str) -> Files:
    return driver(app, log(app, lambda line, second: f"Mar 04 05:06:{second:02} edge-3 spark-submit[812]: {line}"))


@form("lines in `MESSAGE` of JSON", "`journalctl -o json`", PLAIN)
def journald_json(app: str) -> Files:
    return driver(app, log(app, lambda line, _: json.dumps({"_HOSTNAME": "edge-3", "MESSAGE": line, "__REALTIME_TIMESTAMP": "1772600760000000"})))


@form("lines in `log` of JSON", "Docker's json-file driver", PLAIN)
def docker(app: str) -> Files:
    return driver(app, log(app, lambda line, second: json.dumps(
        {"log": line + "\n", "stream": "stderr", "time": f"2026-03-04T05:06:{second:02}.5Z"})))


@form("lines in `log` of JSON, with the pod", "Fluent Bit", ONE_POD)
def fluent_bit(app: str) -> Files:
    pod = {"pod_name": "wild-7-driver", "namespace_name": "etl", "host": "node-2"}
    return driver(app, log(app, lambda line, second: json.dumps({"date": 1772600760 + second, "log": line, "kubernetes": pod})))


@form("lines in `textPayload` of JSON", "Dataproc, Google Cloud Logging", PLAIN)
def google(app: str) -> Files:
    return driver(app, log(app, lambda line, second: json.dumps({"textPayload": line, "timestamp": f"2026-03-04T05:06:{second:02}Z"})))


@form("lines after the header of a server that reads them", "Livy", PLAIN)
def livy(app: str) -> Files:
    return driver(app, log(app, lambda line, second: f"26/03/04 05:06:{second:02} INFO LineBufferedStream: {line}"))


def glue_line(second: int, level: str, logger: str, message: str) -> str:
    return f"2026-03-04 05:06:{second:02},321 {level} [main] scheduler.{logger} (Logging.scala:logInfo(60)): {message}"


@form("headers with thread, class and line", "Glue", PLAIN)
def glue(app: str) -> Files:
    return driver(app, log(app, head=glue_line))


def cloudera_line(second: int, level: str, logger: str, message: str) -> str:
    return f"26/03/04 05:06:{second:02} {level:5} scheduler.{logger}: [dag-scheduler-event-loop]: {message}"


@form("headers with the thread in brackets behind the logger", "Cloudera, Kyuubi", PLAIN)
def cloudera(app: str) -> Files:
    return driver(app, log(app, head=cloudera_line))


def hdinsight_line(second: int, level: str, logger: str, message: str) -> str:
    return f"2026-03-04 05:06:{second:02},321 {level} {logger} [Driver]: {message}"


@form("headers with the thread in brackets and no colon behind the logger", "HDInsight, Synapse", PLAIN)
def hdinsight(app: str) -> Files:
    return driver(app, log(app, head=hdinsight_line))


@form("lines of the submitting program before the log", "`gcloud dataproc jobs wait`", PLAIN)
def dataproc(app: str) -> Files:
    return driver(app, b"Job [9f3c] submitted.\nWaiting for job output...\n" + log(app))


@form("folders of a job run", "EMR Serverless", PLAIN)
def emr_serverless(app: str) -> Files:
    return {f"{app}/applications/00fabc/jobs/00gdef/SPARK_DRIVER/stderr": log(app)}


@form("output of `yarn logs`", "YARN", PLAIN)
def yarn_logs(app: str) -> Files:
    number = app[-4:]
    text = log(f"application_1772600000000_{number}").decode()
    head = f"Container: container_1772600000000_{number}_01_000001 on host-4_8041\nLogAggregationType: AGGREGATED\n{'=' * 60}\nLogType:stderr\n"
    size = f"LogLastModifiedTime:Wed Mar 04 05:06:24 +0000 2026\nLogLength:{len(text)}\nLogContents:\n"
    return {f"application_1772600000000_{number}/yarn.log": f"{head}{size}{text}\nEnd of LogType:stderr\n{'*' * 60}\n".encode()}


@form("progress bars between the records", "consoles, notebooks, `spark-submit` in scripts", PLAIN)
def progress_bars(app: str) -> Files:
    bar = "[Stage 0:=====>                                  (1 + 1) / 2]"
    return driver(app, log(app).replace(b"26/03/04 05:06:15 ERROR", f"{bar}\r{' ' * 70}\r26/03/04 05:06:15 ERROR".encode()))


@form("progress bars without carriage returns", "notebooks, terminals that were copied", PLAIN)
def bars_without_returns(app: str) -> Files:
    bar = "[Stage 0:>                                        (0 + 2) / 2]"
    return driver(app, log(app).replace(b"26/03/04 05:06:15 ERROR", f"{bar}{' ' * 40}26/03/04 05:06:15 ERROR".encode()))


@form("text log in UTF-16 with Windows line ends", "PowerShell, Windows", PLAIN)
def text_utf_16(app: str) -> Files:
    return driver(app, b"\xff\xfe" + log(app).decode().replace("\n", "\r\n").encode("utf-16-le"))


@form("text log with a byte order mark", "PowerShell, Windows", PLAIN)
def text_mark(app: str) -> Files:
    return driver(app, b"\xef\xbb\xbf" + log(app))


def azure_record(app: str, second: int, level: str, logger: str, message: str, more: Sequence[str]) -> Dict[str, Any]:
    """Of the diagnostic emitter of Azure."""
    time = f"2026-03-04T05:06:{second:02}.250Z"
    properties: Dict[str, Any] = {"timestamp": time, "message": message, "logger_name": f"org.apache.spark.scheduler.{logger}",
                                  "level": level, "thread_name": "dag-scheduler-event-loop"}
    if more:
        stack = [message.partition("): ")[2], *more]
        properties["exception"] = {"exception_class": stack[0].partition(":")[0], "stacktrace": "\n".join(stack)}
    return {"timestamp": time, "category": "Log", "workspaceName": "wild", "sparkPool": "small", "livyId": "17", "applicationId": app,
            "applicationName": "wild", "executorId": "driver", "properties": properties}


def azure_records(app: str) -> List[Dict[str, Any]]:
    return [azure_record(app, second, level, logger, message.format(app=app), more) for second, level, logger, message, more in RECORDS]


def json_lines(rows: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def among_metrics(rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    metric = {**rows[0], "category": "Metrics", "properties": {"metricType": "Gauge", "name": "jvm.heap.used", "value": 7}}
    event = {**rows[0], "category": "EventLog", "properties": {"Event": "SparkListenerBlockManagerAdded", "Timestamp": 1}}
    return [one for row in rows for one in (row, metric, event)]


def emitted(app: str) -> str:
    return f"application_1772600000000_{app[-4:]}"


@form("records of a log as JSON, among metrics and events", "Synapse's diagnostic emitter, files in a storage account",
      PLAIN._replace(notes=("metrics and events, were left out: 24",)))
def synapse_records(app: str) -> Files:
    return driver(emitted(app), json_lines(among_metrics(azure_records(emitted(app)))))


@form("records of a log as JSON, many to a line", "Event Hubs (`{\"records\": [...]}`)", PLAIN)
def event_hub_records(app: str) -> Files:
    rows = azure_records(emitted(app))
    return driver(emitted(app), json_lines({"records": rows[at:at + 5]} for at in range(0, len(rows), 5)))


@form("records of a log as JSON, in an array", "Event Hubs, queries of Log Analytics", PLAIN)
def array_of_records(app: str) -> Files:
    rows = ",\n".join(json.dumps(row) for row in azure_records(emitted(app)))
    return driver(emitted(app), f"[\n{rows}\n]\n".encode())


@form("records of a log as JSON, with their properties as a text", "resource logs of Azure Monitor", PLAIN)
def records_with_texts(app: str) -> Files:
    rows = azure_records(emitted(app))
    return driver(emitted(app), json_lines({"time": row["timestamp"], "resourceId": "/WILD", "category": "BigDataPoolDriverLogs", "level": "Informational",
                                   "properties": json.dumps({**row["properties"], "applicationId": emitted(app)})} for row in rows))


@form("records of a log as JSON, with a tenant and a workspace", "Microsoft Fabric's diagnostic emitter", PLAIN)
def fabric_records(app: str) -> Files:
    left_out = ("workspaceName", "sparkPool", "livyId")
    more = {"fabricLivyId": "8", "userId": "u", "fabricTenantId": "t", "capacityId": "c", "artifactType": "SynapseNotebook",
            "fabricWorkspaceId": "w", "executorMin": "1", "executorMax": "9", "isHighConcurrencyEnabled": "false"}
    rows = azure_records(emitted(app))
    return driver(emitted(app), json_lines({**{key: value for key, value in row.items() if key not in left_out}, **more} for row in rows))


@form("rows of a table of logs as JSON", "Log Analytics (`SparkLoggingEvent_CL`), exports of it", PLAIN)
def log_analytics_rows(app: str) -> Files:
    def row(one: Dict[str, Any]) -> Dict[str, Any]:
        inner = one["properties"]
        flat = {"TimeGenerated": inner["timestamp"][:-1] + "0000Z", "Message": inner["message"], "Level": inner["level"].title(),
                "logger_name_s": inner["logger_name"], "thread_name_s": inner["thread_name"], "applicationId_s": one["applicationId"],
                "executorId_s": "driver", "Type": "SparkLoggingEvent_CL"}
        return {**flat, "exception_stacktrace_s": inner["exception"]["stacktrace"]} if "exception" in inner else flat

    return driver(emitted(app), json_lines(row(one) for one in azure_records(emitted(app))))


def structured(second: int, level: str, logger: str, message: str) -> str:
    row = {"ts": f"2026-03-04T05:06:{second:02}.000Z", "level": level, "msg": message, "logger": logger}
    return json.dumps(row)


def iso_line(second: int, level: str, logger: str, message: str) -> str:
    return f"2026-03-04T05:06:{second:02}.000+00:00 {level} {logger}: {message}"


@form("times with a zone", "log4j2 configurations of platforms", PLAIN)
def zoned(app: str) -> Files:
    return driver(app, log(app, head=iso_line))
