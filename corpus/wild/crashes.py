"""What processes write when they die, without a header."""

from __future__ import annotations

from typing import List

from .forms import TEXT_WAYS, Error, Files, Form, Text, make_form

FORMS: List[Form] = []
form = make_form(FORMS, TEXT_WAYS)
BEFORE = "26/03/04 05:06:07 INFO Executor: Running task 4.0 in stage 2.0 (TID 44)\n"
AFTER = "26/03/04 05:06:09 INFO ShutdownHookManager: Shutdown hook called\n"


def of(app: str, text: str, before: str = BEFORE) -> Files:
    return {f"{app}/3/stderr": (before + text + AFTER).encode()}


def fatal(text: str, cause: str) -> Text:
    return Text((Error("FATAL", text, cause),), 0, 1, 0)


@form("banner of a JVM that crashed", "native libraries (Comet, Gluten, Photon's peers)", fatal("A fatal error has been detected", "native-crash"))
def jvm_banner(app: str) -> Files:
    return of(app, "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGSEGV (0xb) at pc=0x00007f00aa001234, pid=31, "
                   "tid=77\n#\n# Problematic frame:\n# C  [libwild.so+0x1234]  wild::next()+0x12\n#\n")


@form("JVM that got no memory from the system", "containers", fatal("insufficient memory for the Java Runtime", "native-memory"))
def jvm_no_memory(app: str) -> Files:
    return of(app, "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation (mmap) failed to "
                   "map 65536 bytes for committing reserved memory.\n#\n")


@form("heap that is full, without a header", "`-XX:+HeapDumpOnOutOfMemoryError`", fatal("java.lang.OutOfMemoryError: Java heap space", "heap"))
def heap_dump(app: str) -> Files:
    return of(app, "java.lang.OutOfMemoryError: Java heap space\nDumping heap to java_pid31.hprof ...\nHeap dump file created [1073741824 bytes in "
                   "3.2 secs]\n")


@form("JVM that ends at a full heap", "`-XX:+ExitOnOutOfMemoryError`", fatal("Terminating due to java.lang.OutOfMemoryError", "heap"))
def exit_on_memory(app: str) -> Files:
    return of(app, "Terminating due to java.lang.OutOfMemoryError: Java heap space\n")


@form("`terminate called` of C++", "native libraries", fatal("terminate called after throwing", "native-memory"))
def bad_alloc(app: str) -> Files:
    return of(app, "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n")


@form("abort of the C library", "native libraries", fatal("corrupted size vs. prev_size", "native-crash"))
def glibc(app: str) -> Files:
    return of(app, "corrupted size vs. prev_size\n")


@form("output of a process that died before it logged", "YARN, native libraries",
      Text((Error("FATAL", "terminate called after throwing", "native-memory"),), ended=0, is_run=False, notes=()))
def output_alone(app: str) -> Files:
    text = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"
    return {f"application_1772600000000_{app[-4:]}/container_1772600000000_{app[-4:]}_01_000002/stdout": text.encode()}
