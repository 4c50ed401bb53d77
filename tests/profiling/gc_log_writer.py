"""Logs of garbage collectors as the JVM's of Java 7, 8 and later write them, with any of the flags that change their lines,
and what they say; and a second reading of such logs, which shares nothing with the product's."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import List, NamedTuple, Sequence, Tuple

FLAGS = ("AdaptiveSizePolicy", "TenuringDistribution", "GCID", "HeapAtGC", "ReferenceGC", "GCCause", "ApplicationStoppedTime")
OLD_COLLECTORS = ("Serial", "Parallel", "CMS", "G1")
STAMPS = ("date", "uptime", "both")
DECORATIONS = (
    "time",
    "utctime",
    "uptime",
    "timemillis",
    "uptimemillis",
    "timenanos",
    "uptimenanos",
    "hostname",
    "pid",
    "tid",
    "level",
    "tags",
)
UNIFIED_COLLECTORS = ("Serial", "Parallel", "G1", "ZGC", "Shenandoah")
START_S = 1_709_284_500  # 2024-03-01T09:15:00Z
KIB, MIB = 1 << 10, 1 << 20


class Event(NamedTuple):
    pause: bool
    duration_ns: int
    heap: Tuple[int, ...]  # bytes before and after, or nothing


@dataclass
class Written:
    """A log, and what it says."""

    text: str = ""
    events: List[Event] = field(default_factory=list)

    def totals(self) -> Tuple[int, int, int, int, int]:
        """Pauses and their time, other phases and theirs, and the sum of all sizes of the heap."""
        pauses = [one.duration_ns for one in self.events if one.pause]
        phases = [one.duration_ns for one in self.events if not one.pause]
        return len(pauses), sum(pauses), len(phases), sum(phases), sum(sum(one.heap) for one in self.events)


class OldLog:
    """One log of Java 7 or 8."""

    def __init__(self, collector: str, flags: Sequence[str], stamps: str, java: int, generator: random.Random) -> None:
        self.collector, self.flags, self.stamps, self.java, self.random = collector, set(flags), stamps, java, generator
        self.out = Written()
        self.at_ms = 1_000
        self.id = 0

    # ---- Parts of records

    def stamp(self) -> str:
        self.at_ms += self.random.randrange(0, 40)
        seconds, ms = divmod(self.at_ms, 1000)
        date = f"2024-03-01T09:{15 + seconds // 60:02d}:{seconds % 60:02d}.{ms:03d}+0000: " if self.stamps in ("date", "both") else ""
        uptime = f"{seconds}.{ms:03d}: " if self.stamps in ("uptime", "both") else ""
        return date + uptime + (f"#{self.id}: " if "GCID" in self.flags else "")

    def seconds(self) -> Tuple[int, str]:
        units = self.random.randrange(1, 40_000_000)  # of 100 ns, as the JVM prints them
        return units * 100, f"{units / 10**7:.7f}"

    def inner_seconds(self) -> str:
        return self.seconds()[1]

    def sizes(self, unit: str = "K") -> Tuple[Tuple[int, int], str]:
        whole = self.random.randrange(1_000, 4_000_000)
        before = self.random.randrange(0, whole)
        after = self.random.randrange(0, before + 1)
        scale = KIB if unit == "K" else MIB
        return (before * scale, after * scale), f"{before}{unit}->{after}{unit}({whole}{unit})"

    def inner_sizes(self) -> str:
        return self.sizes()[1]

    def cause(self, text: str) -> str:
        return f" ({text})" if "GCCause" in self.flags else ""

    def references(self) -> str:
        if "ReferenceGC" not in self.flags:
            return ""
        kinds = ("SoftReference, 0 refs", "WeakReference, 12 refs", "FinalReference, 7 refs", "PhantomReference, 0 refs, 3 refs", "JNI Weak Reference")
        return "".join(f"{self.stamp()}[{kind}, {self.inner_seconds()} secs]" for kind in kinds)

    def tenuring(self) -> str:
        if "TenuringDistribution" not in self.flags:
            return ""
        rows = "".join(f"- age {age:3d}: {self.random.randrange(10**7):10d} bytes, {self.random.randrange(10**8):10d} total\n" for age in range(1, self.random.randrange(1, 6)))
        return f"\nDesired survivor size 10485760 bytes, new threshold 7 (max 15)\n{rows}"

    def adaptive(self) -> str:
        if "AdaptiveSizePolicy" not in self.flags:
            return ""
        return (
            "AdaptiveSizePolicy::update_averages:  survived: 10485760  promoted: 8192  overflow: false\n"
            f"AdaptiveSizeStart: {self.at_ms / 1000:.3f} collection: 4 \n"
            "  avg_survived_padded_avg: 31457280.000000  avg_promoted_padded_avg: 24576.000000  tenuring_thresh: 7  target_size: 10485760\n"
            "AdaptiveSizePolicy::survivor space sizes: collection: 4 (2621440, 2621440) -> (2621440, 2621440) \n"
            "AdaptiveSizeStop: collection: 4 \n"
        )

    def ergonomics(self) -> str:
        if "AdaptiveSizePolicy" not in self.flags:
            return ""
        uptime = f"{self.at_ms / 1000:.3f}: "
        return (
            f" {uptime}[G1Ergonomics (CSet Construction) start choosing CSet, _pending_cards: 0, target pause time: 200.00 ms]\n"
            f" {uptime}[G1Ergonomics (CSet Construction) finish choosing CSet, eden: 100 regions, survivors: 0 regions]\n"
        )

    def heap(self, word: str) -> None:
        if "HeapAtGC" not in self.flags:
            return
        bracket, end = ("{", "") if word == "before" else ("", "}\n")
        self.out.text += (
            f"{bracket}Heap {word} GC invocations={self.id} (full 0):\n"
            " par new generation   total 1310720K, used 830688K [0x0000000640000000, 0x00000006a0000000, 0x00000006a0000000)\n"
            "  eden space 1048576K,  76% used [0x0000000640000000, 0x000000067140a1f0, 0x0000000680000000)\n"
            f" Metaspace       used 38929K, capacity 43528K, committed 43796K, reserved 1087488K\n{end}"
        )

    def times(self) -> str:
        return f" [Times: user={self.random.random():.2f} sys=0.02, real=0.20 secs] \n"

    def add(self, pause: bool, duration_ns: int, heap: Tuple[int, ...] = ()) -> None:
        self.out.events.append(Event(pause, duration_ns, heap))

    # ---- Records

    def young(self) -> None:
        self.heap("before")
        space = "" if self.java == 7 and "GCCause" not in self.flags else " "
        cause = self.cause("Allocation Failure")
        duration, seconds = self.seconds()
        heap, change = self.sizes()
        if self.collector == "Parallel":
            body = f"{cause} {self.references()}{self.adaptive()}{self.tenuring()}[PSYoungGen: {self.inner_sizes()}] {change}, {seconds} secs]"
        else:
            name = "DefNew" if self.collector == "Serial" else "ParNew"
            inner = f"[{name}{self.references()}{self.tenuring()}: {self.inner_sizes()}, {self.inner_seconds()} secs]"
            body = f"{cause}{space}{self.stamp()}{inner} {change}, {seconds} secs]"
        self.out.text += f"{self.stamp()}[GC{body}{self.times()}"
        self.add(True, duration, heap)
        self.heap("after")

    def full(self) -> None:
        self.heap("before")
        duration, seconds = self.seconds()
        heap, change = self.sizes()
        old = {"Serial": "Tenured", "Parallel": "ParOldGen", "CMS": "CMS"}[self.collector]
        if self.collector == "Parallel":
            inner = f" {self.adaptive()}[PSYoungGen: {self.inner_sizes()}] [{old}: {self.inner_sizes()}]"
        else:
            mixed = ""
            if self.collector == "CMS" and self.random.random() < 0.5:
                mixed = f"{self.stamp()}[CMS-concurrent-mark: 0.648/1.322 secs]{self.times()} (concurrent mode failure)"
            inner = f"{self.stamp()}[{old}{mixed}: {self.inner_sizes()}, {self.inner_seconds()} secs]"
        meta = f", [Metaspace: {self.inner_sizes()}]" if self.java == 8 else f", [CMS Perm : {self.inner_sizes()}]"
        self.out.text += f"{self.stamp()}[Full GC{self.cause('System.gc()')}{inner} {change}{meta}, {seconds} secs]{self.times()}"
        self.add(True, duration, heap)
        self.heap("after")

    def cms_cycle(self) -> None:
        duration, seconds = self.seconds()
        self.out.text += f"{self.stamp()}[GC{self.cause('CMS Initial Mark')} [1 CMS-initial-mark: 5K(9K)] 7K(9K), {seconds} secs]{self.times()}"
        self.add(True, duration)
        for phase in ("mark", "preclean", "abortable-preclean"):
            self.out.text += f"{self.stamp()}[CMS-concurrent-{phase}-start]\n"
            ms = self.random.randrange(0, 9_000)
            aborted = " CMS: abort preclean due to time " if phase == "abortable-preclean" and self.stamps != "" else ""
            self.out.text += f"{aborted}{self.stamp()}[CMS-concurrent-{phase}: 0.005/{ms / 1000:.3f} secs]{self.times()}"
            self.add(False, ms * 1_000_000)
        duration, seconds = self.seconds()
        scavenge = ""
        if self.random.random() < 0.5:  # CMSScavengeBeforeRemark: inside the remark, on a line of its own
            scavenge = f"\n{self.stamp()}[GC{self.cause('CMS Final Remark')} {self.stamp()}[ParNew{self.tenuring()}: {self.inner_sizes()}, {self.inner_seconds()} secs] {self.inner_sizes()}, {self.inner_seconds()} secs]\n"
        self.out.text += (
            f"{self.stamp()}[GC{self.cause('CMS Final Remark')} [YG occupancy: 15 K (6 K)]{scavenge}{self.stamp()}[Rescan (parallel) , {self.inner_seconds()} secs]"
            f"{self.references()}{self.stamp()}[weak refs processing, {self.inner_seconds()} secs] [1 CMS-remark: 1K(2K)] 3K(4K), {seconds} secs]{self.times()}"
        )
        self.add(True, duration)

    def g1_pause(self) -> None:
        self.heap("before")
        duration, seconds = self.seconds()
        (before, after), _ = self.sizes("M")
        kind = self.random.choice(("(young)", "(young) (initial-mark)", "(mixed)", "(young) (to-space exhausted)"))
        mixed = f"{self.stamp()}[GC concurrent-root-region-scan-start]\n" if self.random.random() < 0.3 else ""
        self.out.text += (
            f"{self.stamp()}[GC pause{self.cause('G1 Evacuation Pause')} {kind}{mixed}{self.tenuring()}{self.ergonomics()}{self.references()}, {seconds} secs]\n"
            "   [Parallel Time: 190.0 ms, GC Workers: 4]\n"
            f"   [Eden: 400.0M(400.0M)->0.0B(380.0M) Survivors: 0.0B->20.0M Heap: {before / MIB:.1f}M(4096.0M)->{after / MIB:.1f}M(4096.0M)]\n{self.times()}"
        )
        self.add(True, duration, (before, after))
        self.heap("after")

    def g1_cycle(self) -> None:
        for phase in ("root-region-scan", "mark"):
            duration, seconds = self.seconds()
            self.out.text += f"{self.stamp()}[GC concurrent-{phase}-start]\n{self.stamp()}[GC concurrent-{phase}-end, {seconds} secs]\n"
            self.add(False, duration)
        duration, seconds = self.seconds()
        self.out.text += (
            f"{self.stamp()}[GC remark {self.stamp()}[Finalize Marking, {self.inner_seconds()} secs] {self.stamp()}[GC ref-proc{self.references()}, "
            f"{self.inner_seconds()} secs] {self.stamp()}[Unloading, {self.inner_seconds()} secs], {seconds} secs]\n{self.times()}"
        )
        self.add(True, duration)
        duration, seconds = self.seconds()
        heap, change = self.sizes("M")
        self.out.text += f"{self.stamp()}[GC cleanup {change}, {seconds} secs]\n{self.times()}"
        self.add(True, duration, heap)

    def write(self, count: int) -> Written:
        self.out.text = (
            'OpenJDK 64-Bit Server VM (25.292-b10) for linux-amd64 JRE (1.8.0_292-b10), built on Apr 20 2021 18:32:08 by "x" with gcc 7.5.0\n'
            "Memory: 4k page, physical 16000000k(9000000k free), swap 0k(0k free)\n"
            f"CommandLine flags: -XX:+PrintGC -XX:+Use{self.collector}GC \n"
        )
        kinds = {"Serial": (self.young, self.full), "Parallel": (self.young, self.full), "CMS": (self.young, self.full, self.cms_cycle), "G1": (self.g1_pause, self.g1_cycle)}
        for self.id in range(count):
            self.random.choice(kinds[self.collector])()
            if "ApplicationStoppedTime" in self.flags:
                self.out.text += f"{self.stamp()}Total time for which application threads were stopped: 0.0012340 seconds, Stopping threads took: 0.0000120 seconds\n"
        return self.out


class OldShenandoahLog(OldLog):
    """One log of Shenandoah in Java 8, which has records of its own; flags: Details, GCID."""

    def __init__(self, flags: Sequence[str], stamps: str, generator: random.Random) -> None:
        super().__init__("Shenandoah", flags, stamps, 8, generator)

    def phase(self, name: str, change: bool, *details: str) -> None:
        micros = self.random.randrange(1, 400_000)
        before, after = self.random.randrange(1, 4_000), self.random.randrange(1, 4_000)
        head = f"{self.stamp()}[{name}"
        if "Details" in self.flags:
            self.out.text += f"{head}, start]\n" + "".join(f"    {one}\n" for one in details)
            head = f"{self.stamp()}[{name}"
        self.out.text += f"{head}{f' {before}M->{after}M(4096M)' if change else ''}, {micros / 1000:.3f} ms]\n"
        self.add(name.startswith("Pause"), micros * 1000, (before * MIB, after * MIB) if change else ())

    def cycle(self) -> None:
        weak = self.random.choice(("", " (process weakrefs)", " (update refs)", " (update refs) (process weakrefs)", " (unload classes)"))
        self.out.text += "Trigger: Free (12M) is below minimum threshold (409M)\nFree: 55M (192 regions), Max regular: 256K, External frag: 14%\n"
        self.phase("Concurrent reset", True, "Using 1 of 2 workers for concurrent reset")
        self.phase(f"Pause Init Mark{weak}", False, "Using 2 of 2 workers for init marking", "Pacer for Mark. Expected Live: 12M, Free: 87M, Alloc Tax Rate: 0.5x")
        self.phase(f"Concurrent marking{weak}", True, "Using 1 of 2 workers for concurrent marking")
        if self.random.random() < 0.2:
            self.out.text += "Cancelling GC: Allocation Failure\n"
            self.phase("Pause Degenerated GC (Mark)", True, "Good progress for free space: 12288K, need 512K")
            return
        self.phase(f"Pause Final Mark{weak}", self.random.random() < 0.3, "Collectable Garbage: 0M (0% of total), 0M CSet, 0 CSet regions")
        self.phase("Concurrent cleanup", True)
        self.phase("Concurrent evacuation", True, "Using 1 of 2 workers for concurrent evacuation")
        self.phase("Pause Init Update Refs", False)
        self.phase("Concurrent update references ", True)
        self.phase("Pause Final Update Refs", False, "Using 2 of 2 workers for final reference update")

    def write(self, count: int) -> Written:
        self.out.text = "CommandLine flags: -XX:+PrintGC -XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC \nPeriodic GC triggered. Time since last GC: 3 ms\n"
        for self.id in range(count):
            if self.random.random() < 0.2:
                self.phase(f"Pause Full{self.random.choice(('', ' (System.gc())'))}", True)
            else:
                self.cycle()
        self.out.text += "\nGC STATISTICS:\nPause Init Mark (G)        =     0.04 s (a =     7001 us) (n =     6)\n"
        return self.out


# ---- Unified logging


class UnifiedLog:
    """One log of Java 9 or later."""

    def __init__(self, collector: str, decorations: Sequence[str], generator: random.Random) -> None:
        self.collector, self.decorations, self.random = collector, [one for one in DECORATIONS if one in decorations], generator
        self.out = Written()
        self.at_ms = 1_000

    def line(self, tags: str, message: str) -> None:
        self.at_ms += self.random.randrange(1, 40)
        seconds, ms = divmod(self.at_ms, 1000)
        clock = f"2024-03-01T09:{15 + seconds // 60:02d}:{seconds % 60:02d}.{ms:03d}+0000"
        values = {
            "time": clock,
            "utctime": clock,
            "uptime": f"{seconds}.{ms:03d}s",
            "timemillis": f"{START_S * 1000 + self.at_ms}ms",
            "uptimemillis": f"{self.at_ms}ms",
            "timenanos": f"{10**13 + self.at_ms * 10**6}ns",
            "uptimenanos": f"{self.at_ms * 10**6}ns",
            "hostname": "node-7",
            "pid": "4711",
            "tid": "4713",
            "level": "info",
            "tags": f"{tags:13}",
        }
        text = "".join(f"[{values[one]}]" for one in self.decorations)
        self.out.text += f"{text} {message}\n" if text else f"{message}\n"

    def phase(self, number: int, name: str, change: bool = False, start: bool = False) -> None:
        micros = self.random.randrange(1, 4_000_000)
        heap: Tuple[int, ...] = ()
        if start:
            self.line("gc,start", f"GC({number}) {name}")
        text = f"GC({number}) {name}"
        if change:
            before = self.random.randrange(1, 4_000)
            after = self.random.randrange(0, before)
            heap = (before * MIB, after * MIB)
            text += f" {before}M->{after}M(4096M)"
        pause = name.split(": ")[-1].startswith("Pause")
        self.line("gc" if pause else "gc,phases", f"{text} {micros // 1000}.{micros % 1000:03d}ms")
        self.out.events.append(Event(pause, micros * 1000, heap))

    def collection(self, number: int) -> None:
        if self.collector in ("Serial", "Parallel"):
            self.phase(number, self.random.choice(("Pause Young (Allocation Failure)", "Pause Full (System.gc())")), True, True)
            self.line("gc,heap", f"GC({number}) Tenured: 512K(1024K)->100K(1024K)")
        elif self.collector == "G1":
            self.phase(number, "Pause Young (Normal) (G1 Evacuation Pause)", True, True)
            self.line("gc,heap", f"GC({number}) Eden regions: 12->0(13)")
            for name in ("Concurrent Clear Claimed Marks", "Concurrent Mark", "Pause Remark", "Pause Cleanup"):
                self.phase(number, name, name.startswith("Pause"), True)
        elif self.collector == "ZGC":
            generation = self.random.choice(("", "Y: ", "y: ", "O: "))
            self.line("gc,start", f"GC({number}) Garbage Collection (Warmup)")
            for name in ("Pause Mark Start", "Concurrent Mark", "Pause Mark End", "Concurrent Relocate", "Pause Relocate Start"):
                self.phase(number, generation + name)
            self.line("gc", f"GC({number}) Garbage Collection (Warmup) 410M(10%)->102M(3%)")
        else:
            for name in ("Concurrent reset", "Pause Init Mark (unload classes)", "Concurrent marking", "Pause Final Mark", "Concurrent cleanup"):
                self.phase(number, name, name in ("Concurrent reset", "Concurrent cleanup"), True)
        self.line("gc,cpu", f"GC({number}) User=0.01s Sys=0.00s Real=0.00s")

    def write(self, count: int) -> Written:
        self.line("gc", f"Using {'The Z Garbage Collector' if self.collector == 'ZGC' else self.collector}")
        for number in range(count):
            self.collection(number)
        return self.out


# ---- A second reading

STAMP = r"(?:\}|\ CMS: abort preclean due to time )?(?:\d{4}-\d\d-\d\dT[\d:]{8}[.,]\d{3}[+-]\d{4}: )?\ *(?:\d+[.,]\d+: )?(?:#\d+: )?"
RECORD = re.compile(rf"(?m)^{STAMP}\[(?:Full GC|GC)(?! concurrent-)(?=[ \-\[(\d]|AdaptiveSize|Before GC|\n)")
PHASE = re.compile(rf"(?m)^{STAMP}\[(?:GC concurrent-[a-z-]+-end, ([\d.,]+)(?: secs?)?|CMS-concurrent-[a-z-]+: [\d.,]+/([\d.,]+) secs)\]")
SHENANDOAH = re.compile(rf"(?m)^{STAMP}\[(Pause|Concurrent) [A-Za-z][^\[\],]*, ([\d.,]+) ms\]$")
UNIFIED = re.compile(r"(?m)^(?:\[[^]]*\])*\s*GC\(\d+\) (?:[YyO]: )?(Pause|Concurrent) .*?(?:(\d+)M->(\d+)M\(\d+M\) )?(\d+\.\d+)ms$")


def nanoseconds(text: str) -> int:
    whole, _, part = text.replace(",", ".").partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")[:9] or 0)


def outer_text(text: str) -> str:
    """What is in no inner bracket of the record that begins `text`; nothing where it does not close."""
    text = text.replace("[0x", "(0x")
    depth = 0
    for bracket in re.finditer(r"[\[\]]", text):
        depth += 1 if bracket.group() == "[" else -1
        if depth == 0:
            text = text[1 : bracket.start()]
            break
    else:
        return ""
    while True:
        less = re.sub(r"\[[^\[\]]*\]", "", text)
        if less == text:
            return text
        text = less


def read_old(text: str) -> Tuple[int, int, int, int]:
    """Pauses and their time, other phases and theirs."""
    found, begins, inside = [], [one.start() for one in RECORD.finditer(text)], False
    for i, begin in enumerate(begins):
        if inside:  # a young collection of a remark
            inside = False
            continue
        line = text[begin:].split("\n", 1)[0]
        remark = "[YG occupancy: " in line
        inside = remark and "secs]" not in line
        end = begins[i + 1 + inside] if i + 1 + inside < len(begins) else len(text)
        outer = outer_text(text[text.index("[", begin) : end])
        seconds = re.search(r"(?:^|\s)(\d+[.,]\d+) secs$", outer)
        if seconds:
            found.append(nanoseconds(seconds.group(1)))
    phases = [nanoseconds(one.group(1) or one.group(2)) for one in PHASE.finditer(text)]
    return len(found), sum(found), len(phases), sum(phases)


def read_unified(text: str) -> Tuple[int, int, int, int]:
    """The same of a unified log."""
    found = [(one.group(1), nanoseconds(one.group(4)) // 1000) for one in UNIFIED.finditer(text)]
    pauses = [ns for kind, ns in found if kind == "Pause"]
    phases = [ns for kind, ns in found if kind != "Pause"]
    return len(pauses), sum(pauses), len(phases), sum(phases)


def read_old_shenandoah(text: str) -> Tuple[int, int, int, int]:
    """The same of a log of Shenandoah in Java 8."""
    found = [(one.group(1), nanoseconds(one.group(2)) // 1000) for one in SHENANDOAH.finditer(text)]
    pauses = [ns for kind, ns in found if kind == "Pause"]
    phases = [ns for kind, ns in found if kind != "Pause"]
    return len(pauses), sum(pauses), len(phases), sum(phases)
