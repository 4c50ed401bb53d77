"""Logs of the garbage collector next to the event log, as JVMs with different flags write them."""

from __future__ import annotations

from typing import Iterable, List

from . import spark
from .forms import FILE, FOLDER, STDIN, TAR, UPLOAD, ZIP, Collections, Files, Form, Refused, make_form

FORMS: List[Form] = []
# One log for each executor; a crawl and a REST API are of event logs alone.
form = make_form(FORMS, (FOLDER, ZIP, TAR, UPLOAD))
HEAD = ("OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06), built on Jan 16 2024\n"
        "Memory: 4k page, physical 32000000k(16000000k free), swap 0k(0k free)\nCommandLine flags: -XX:+PrintGC -XX:+PrintGCDetails \n")
TIMES = " [Times: user=0.90 sys=0.05, real=0.30 secs] \n"
AT = (11, 23, 47)  # seconds after the application's start


def of(app: str, records: Iterable[str], head: str = HEAD) -> Files:
    """The log of executor 1, next to the healthy run."""
    return {f"{app}/{app}": spark.lines(spark.run(app)), f"{app}/{app}-1.gc": (head + "".join(records)).encode()}


def stamp(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.300+0000: {second}.300: "


@form("G1 with its ergonomics inside of a collection", "Java 8, `-XX:+PrintAdaptiveSizePolicy`", Collections(3, 750))
def g1_ergonomics(app: str) -> Files:
    return of(app, (
        f"{stamp(at)}[GC pause (G1 Evacuation Pause) (young) {at}.300: [G1Ergonomics (CSet Construction) start choosing CSet, target pause "
        f"time: 200.00 ms]\n {at}.301: [G1Ergonomics (CSet Construction) finish choosing CSet, eden: 60 regions, survivors: 2 regions]\n"
        ", 0.2500000 secs]\n   [Parallel Time: 240.0 ms, GC Workers: 8]\n   [Eden: 240.0M(240.0M)->0.0B(230.0M) Survivors: 8192.0K->16.0M Heap: "
        f"250.0M(1024.0M)->20.0M(1024.0M)]\n{TIMES}" for at in AT))


@form("ages of objects inside of a collection", "Java 7 and 8, `-XX:+PrintTenuringDistribution`", Collections(3, 360))
def tenuring(app: str) -> Files:
    return of(app, (
        f"{stamp(at)}[GC (Allocation Failure) \nDesired survivor size 5242880 bytes, new threshold 4 (max 15)\n"
        f"[PSYoungGen: 524288K->10240K(611584K)] 524288K->10248K(2009856K), 0.1200000 secs]{TIMES}" for at in AT))


@form("heaps before and after each collection", "Java 7 and 8, `-XX:+PrintHeapAtGC`", Collections(3, 90))
def heap_at_gc(app: str) -> Files:
    heap = (" par new generation   total 153344K, used 136320K [0x0000000080000000, 0x000000008a660000, 0x00000000a9990000)\n"
            "  eden space 136320K, 100% used [0x0000000080000000, 0x0000000088520000, 0x0000000088520000)\n")
    return of(app, (
        f"{{Heap before GC invocations={number} (full 0):\n{heap}{stamp(at)}[GC (Allocation Failure) {stamp(at)}[ParNew: "
        f"136320K->5000K(153344K), 0.0298000 secs] 136320K->5000K(494144K), 0.0300000 secs]{TIMES}Heap after GC invocations={number + 1} "
        f"(full 0):\n{heap}}}\n" for number, at in enumerate(AT)))


@form("CMS with its phases and an aborted preclean", "Java 7 and 8, `-XX:+UseConcMarkSweepGC`", Collections(2, 50))
def cms(app: str) -> Files:
    return of(app, [
        f"{stamp(11)}[GC (CMS Initial Mark) [1 CMS-initial-mark: 200000K(341376K)] 220000K(494720K), 0.0100000 secs]{TIMES}",
        f"{stamp(12)}[CMS-concurrent-mark-start]\n{stamp(13)}[CMS-concurrent-mark: 0.800/0.900 secs]{TIMES}",
        f"{stamp(14)}[CMS-concurrent-abortable-preclean-start]\n CMS: abort preclean due to time {stamp(19)}"
        f"[CMS-concurrent-abortable-preclean: 3.100/5.020 secs]{TIMES}",
        f"{stamp(20)}[GC (CMS Final Remark) [YG occupancy: 9000 K (153344 K)]{stamp(20)}[Rescan (parallel) , 0.0300000 secs]{stamp(20)}"
        f"[weak refs processing, 0.0000100 secs] [1 CMS-remark: 200000K(341376K)] 209000K(494720K), 0.0400000 secs]{TIMES}",
    ])


@form("numbers, references and stopped times", "Java 8, `-XX:+PrintGCID -XX:+PrintReferenceGC -XX:+PrintGCApplicationStoppedTime`", Collections(3, 600))
def ids_and_references(app: str) -> Files:
    return of(app, (
        f"{stamp(at)}#{number}: [GC (Allocation Failure) {stamp(at)}#{number}: [SoftReference, 0 refs, 0.0000120 secs]{stamp(at)}#{number}: "
        f"[WeakReference, 9 refs, 0.0000080 secs][PSYoungGen: 65536K->4096K(76288K)] 65536K->4100K(251392K), 0.2000000 secs]{TIMES}"
        f"{stamp(at)}Total time for which application threads were stopped: 0.2011000 seconds, Stopping threads took: 0.0000300 seconds\n"
        for number, at in enumerate(AT)))


@form("Shenandoah with a line for each begin", "Java 8, `-XX:+PrintGCDetails -XX:+UseShenandoahGC`", Collections(3, 15))
def shenandoah(app: str) -> Files:
    return of(app, (
        f"{stamp(at)}[Concurrent marking, start]\n    Using 2 of 4 workers for concurrent marking\n{stamp(at)}[Concurrent marking 200M->210M(512M), 44.000 ms]\n"
        f"{stamp(at)}[Pause Final Mark (process weakrefs), start]\n    Adaptive CSet Selection. Target Free: 12M, Actual Free: 92M\n"
        f"{stamp(at)}[Pause Final Mark (process weakrefs), 5.000 ms]\n" for at in AT))


def unified(decorate: str, collections: Iterable[str]) -> List[str]:
    lines = []
    for place, message in enumerate(collections):
        second = AT[0] + place
        lines.append(decorate.format(time=f"2026-01-01T00:00:{second:02}.300+0000", uptime=f"{second}.300s", nanos=f"{second}300000000ns") + message + "\n")
    return lines


G1 = ["Using G1", "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->6M(256M) 12.500ms", "GC(1) Concurrent Mark 88.000ms",
      "GC(1) Pause Remark 30M->30M(256M) 3.250ms", "GC(2) Pause Full (System.gc()) 60M->9M(256M) 44.250ms"]


@form("unified log without level and tags", "Java 9 and later, `-Xlog:gc*:file=F:time,uptime`", Collections(3, 60))
def without_tags(app: str) -> Files:
    return of(app, unified("[{time}][{uptime}] ", G1), "")


@form("unified log with all decorations", "Java 9 and later", Collections(3, 60))
def all_decorations(app: str) -> Files:
    return of(app, unified("[{time}][{time}][{uptime}][{nanos}][node-3][99][101][info][gc           ] ", G1), "")


@form("unified log with times since the start alone", "Java 9 and later, the default of `-Xlog:gc*:file=F`", Collections(3, 60))
def uptime_alone(app: str) -> Files:
    return of(app, unified("[{uptime}][info][gc] ", G1), "")


@form("unified log without decorations", "Java 9 and later, `-Xlog:gc*:file=F:none`", Collections(0, 0, "4 collections have no time of day"))
def no_decorations(app: str) -> Files:
    return of(app, unified("", G1), "")


@form("ZGC without level and tags", "Java 15 and later", Collections(3, 6))
def zgc(app: str) -> Files:
    return of(app, unified("[{time}][{uptime}] ", [
        "Using The Z Garbage Collector", "GC(0) Garbage Collection (Warmup)", "GC(0) Pause Mark Start 2.500ms", "GC(0) Concurrent Mark 9.000ms",
        "GC(0) Pause Mark End 1.250ms", "GC(0) Pause Relocate Start 2.250ms", "GC(0) Garbage Collection (Warmup) 300M(10%)->90M(3%)"]), "")


@form("log of another JVM's collector", "OpenJ9", Collections(0, 0, "a GC log of an unknown form"))
def openj9(app: str) -> Files:
    text = ('<?xml version="1.0" ?>\n<verbosegc version="wild">\n<gc-op id="3" type="scavenge" timems="8.8" '
            'timestamp="2026-01-01T00:00:11.300">\n</gc-op>\n</verbosegc>\n')
    return {app: spark.lines(spark.run(app)), f"{app}-1.gc": text.encode()}


# Without an event log; a folder of such files is an application (tests/e2e/test_logs_alone.py).
ALONE = (FILE, STDIN, UPLOAD)


def alone(app: str, text: str) -> Files:
    return {f"{app}/{app}-1.gc": text.encode()}


@form("log of a collector without an event log, Java 8", "people who have nothing else", Refused("gc-log"), ALONE)
def gc_alone(app: str) -> Files:
    return alone(app, HEAD + "".join(f"{stamp(at)}[GC (Allocation Failure) 65536K->4100K(251392K), 0.2000000 secs]\n" for at in AT))


@form("log of a collector without an event log, other tags first", "Java 9 and later, `-Xlog`", Refused("gc-log"), ALONE)
def gc_alone_unified(app: str) -> Files:
    other = "[2026-01-01T00:00:01.000+0000][0.006s][info][os] SafePoint Polling address: 0x00007fdb1a030000\n"
    return alone(app, other + "".join(unified("[{time}][{uptime}][info][gc] ", G1)))


@form("log of another JVM's collector without an event log", "OpenJ9", Refused("a GC log of an unknown form"), ALONE)
def openj9_alone(app: str) -> Files:
    return alone(app, '<?xml version="1.0" ?>\n<verbosegc version="wild">\n<gc-op id="3" type="scavenge" timems="8.8" />\n</verbosegc>\n')
