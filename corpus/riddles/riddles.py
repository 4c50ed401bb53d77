"""The riddles: programs with one fault each, and what shows it. `jobs/NAME_repaired.py` is `jobs/NAME.py` without it."""

from __future__ import annotations

from dataclasses import dataclass, field

SPARK_3, SPARK_4 = "3.5.6", "4.3.0"
SIDES = ("faulty", "repaired")
SPACY = ("spacy==3.8.7", "click==8.1.8")


@dataclass(frozen=True)
class Riddle:
    """A program with a fault."""

    name: str
    rules: tuple[str, ...]  # one of them must be the first finding of the folder
    unseen: bool = False  # by the event log alone
    python: bool = False  # with the profilers of python/
    function: str = ""  # of Python: it has most samples, or writes most lines
    waits: bool = False  # the fault is waiting, not work
    version: str = SPARK_4
    master: str = "local-cluster[2,1,1024]"
    memory: str = "1g"
    conf: dict[str, str] = field(default_factory=dict)
    repaired_conf: dict[str, str] | None = None  # of the repaired side; None: the same
    packages: tuple[str, ...] = ()  # that its functions import
    files: tuple[str, ...] = ()  # of jobs/, that executors import
    flight: bool = False  # with Java Flight Recorder on the executors
    java: str = ""  # classes that the program uses, compiled for it

    def script(self, side: str) -> str:
        """Return the name of the program of a side."""
        return self.name if side == "faulty" else f"{self.name}_{side}"


RIDDLES = (
    Riddle("straggler", ("straggler", "data-skew"), version=SPARK_3, flight=True),
    Riddle(
        "fatso",
        ("executor-oom", "gc-pressure"),
        master="local-cluster[2,2,512]",
        memory="512m",
        conf={"spark.executor.extraJavaOptions": "-XX:+UseSerialGC -Xmn3m"},
        repaired_conf={"spark.executor.extraJavaOptions": "-XX:+UseSerialGC"},
        version=SPARK_3,
        flight=True,
    ),
    Riddle("slacker", ("hot-method",), True, True, "ask_service", waits=True, master="local-cluster[2,2,1024]"),
    Riddle("slacker_jvm", ("hot-method",), True, waits=True, master="local-cluster[2,2,1024]", version=SPARK_3, flight=True),
    Riddle("heckler", ("hot-method",), True, True, "load", packages=SPACY, files=("pipelines.py",)),
    Riddle(
        "turnstile",
        ("lock-contention",),
        True,
        master="local-cluster[1,2,1024]",
        version=SPARK_3,
        flight=True,
        java="Signatures.java",
    ),
    Riddle("limited", ("logged-errors",), True, packages=("tenacity==9.0.0",), files=("limited.py", "prices.py")),
    Riddle("porter", ("python-worker-time",), True, python=True),
)
