"""pyrometer profile flags: what the printed options are, and that Spark starts with them and leaves a profile behind."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import Run, binary_path, run_command
from schemas import validate
from servers import Unavailable, spark

JOB = """
import time
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("flags").getOrCreate()
deadline = time.time() + 2
while time.time() < deadline:
    spark.range(0, 3000000, 1, 4).selectExpr("sum(sqrt(id) * 3) AS s").collect()
spark.stop()
"""


def flags(*arguments: str) -> Run:
    return run_command([str(binary_path()), "profile", "flags", *arguments])


def words_of(*arguments: str) -> List[str]:
    """The words of the command line as a shell splits them; its comments are comments."""
    run = flags(*arguments)
    assert (run.exit, run.err) == (0, b""), run.explain()
    text = "".join(line for line in run.out.decode().splitlines(True) if not line.startswith(("#", "mkdir")))
    return shlex.split(text, comments=False)


def settings_of(words: List[str]) -> Dict[str, str]:
    assert words[0] == "spark-submit"
    pairs = [words[i + 1].partition("=") for i, word in enumerate(words) if word == "--conf"]
    assert len({key for key, _, _ in pairs}) == len(pairs), "a setting is there twice"
    return {key: value for key, _, value in pairs}


def test_flight_recorder_on_driver_and_executors() -> None:
    for target in ("--emr", "--k8s", "--yarn"):
        words = words_of(target)
        settings = settings_of(words)
        assert words[-1] == "APPLICATION" and settings["spark.eventLog.enabled"] == "true"
        for key, name in (("spark.driver.extraJavaOptions", "driver"), ("spark.executor.extraJavaOptions", "{{APP_ID}}-{{EXECUTOR_ID}}")):
            recording, collections = settings[key].split(" ")
            assert recording.startswith("-XX:StartFlightRecording=") and recording.endswith(f"/{name}.jfr")
            assert collections.startswith("-Xlog:gc*:file=") and f"/{name}.gc:time" in collections
    assert settings_of(words_of("--k8s"))["spark.kubernetes.executor.volumes.persistentVolumeClaim.profiles.mount.path"] == "/profiles"


def test_the_plugin_of_spark_4() -> None:
    words = words_of("--emr", "--spark", "4.0.1", "--to", "s3://mine/p")
    settings = settings_of(words)
    assert settings["spark.plugins"] == "org.apache.spark.profiler.ProfilerPlugin"
    assert settings["spark.profiler.driver.enabled"] == settings["spark.profiler.executor.enabled"] == "true"
    assert settings["spark.profiler.dfsDir"] == "s3://mine/p"
    assert "org.apache.spark:spark-profiler_2.13:4.0.1" in words[words.index("--packages") + 1]
    assert "spark.plugins" not in settings_of(words_of("--emr", "--spark", "3.5.6"))
    assert "spark.plugins" not in settings_of(words_of("--local", "--spark", "4.0.1"))


def test_other_profilers() -> None:
    uber = settings_of(words_of("--emr", "--with", "uber"))
    assert uber["spark.jars"].startswith("s3://") and uber["spark.jars"].endswith("/jvm-profiler.jar")
    assert "-javaagent:jvm-profiler.jar=reporter=com.uber.profiling.reporters.ConsoleOutputReporter,metricInterval=1000,sampleInterval=100" \
        in uber["spark.executor.extraJavaOptions"]
    agent = settings_of(words_of("--yarn", "--with", "async", "--to", "/shared"))
    assert "file=/shared/{{APP_ID}}-{{EXECUTOR_ID}}.jfr" in agent["spark.executor.extraJavaOptions"]
    assert "-Xloggc:<LOG_DIR>/driver.gc" in settings_of(words_of("--yarn", "--java", "8"))["spark.driver.extraJavaOptions"]


def test_python() -> None:
    words = words_of("--yarn", "--python")
    assert settings_of(words)["spark.python.profile"] == "true"
    assert words[words.index("--py-files") + 1] == "pyrometer-profilers.zip"
    comments = flags("--yarn", "--python").out.decode()
    for name in ("profiler_cls=CpuMemStackProfiler", "sc.dump_profiles(", "sc.show_profiles()", "sc.addPyFile("):
        assert name in comments


@pytest.mark.parametrize("arguments, reason", [
    ([], "--emr, --k8s, --yarn, --local"),
    (["--emr", "--yarn"], "--emr, --k8s, --yarn, --local"),
    (["--emr", "--spark", "four"], "such as 4.0.1"),
    (["--emr", "--with", "plugin"], "needs the version of Spark"),
    (["--emr", "--with", "plugin", "--spark", "3.5.6"], "needs the version of Spark"),
    (["--local", "--to", "a'; rm -rf b"], "--to cannot be"),
    (["--local", "more"], "options only"),
])
def test_wrong_usage(arguments: List[str], reason: str) -> None:
    run = flags(*arguments)
    assert (run.exit, run.out) == (2, b"") and reason in run.err.decode()


def test_spark_starts_with_them(tmp_path: Path) -> None:
    """The printed lines as a shell runs them, with the job in the application's place."""
    try:
        venv = spark.venv("4.3.0")
    except Unavailable as reason:
        pytest.skip(str(reason))
    (tmp_path / "job.py").write_text(JOB)
    lines = flags("--local").out.decode().replace("local[*]", "local[2]").replace("APPLICATION", "job.py")
    environment = {**os.environ, "PATH": f"{venv / 'bin'}:{os.environ['PATH']}", "PYSPARK_PYTHON": str(venv / "bin" / "python3"),
                   "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(["sh", "-ec", lines], cwd=tmp_path, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    run = run_command([str(binary_path()), "profile", str(tmp_path / "profiles"), "-f", "json"])
    assert run.exit == 0, run.explain()
    check_profile(validate(run.json))


def check_profile(found: Any) -> None:
    assert {row["kind"] for row in found["files"]} == {"jfr", "gc-log"}
    assert found["application_name"] == "flags" and found["jobs"] and found["stages"] and found["tasks"]
    (driver,) = found["processes"]
    assert driver["name"] == "driver" and driver["samples"] > 0 and driver["gc_pauses"] > 0
    assert {row["process"] for row in found["tasks"]} == {0}
    assert {"heap.used", "cpu.process"} <= {row["name"] for row in found["series"]}
    assert any(row["event"] == "cpu" for row in found["top_methods"]) and found["top_allocations"]
    # Everything is on the same axis: each job lies within it.
    assert all(found["start_ms"] <= row["start_ms"] <= row["end_ms"] <= found["end_ms"] for row in found["jobs"])
