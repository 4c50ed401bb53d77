"""Starts commands for the tests from a small process of its own.

A child's peak memory as wait4() reports it begins with that of the process it was forked from, so a test runner of some
hundred megabytes cannot measure a command of ten. This one reads a request a line (JSON) and answers with a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any, Dict


def run(request: Dict[str, Any]) -> Dict[str, Any]:
    with open(request["out"], "wb") as out, open(request["err"], "wb") as err:
        began = time.monotonic()
        process = subprocess.Popen(request["arguments"], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        timed_out = False
        pause = 0.001
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > request["limit_s"]:
                timed_out = True
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                break
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
        process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "exit": process.returncode,
        "rss_bytes": usage.ru_maxrss * 1024,
        "seconds": time.monotonic() - began,
        "timed_out": timed_out,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer = run(json.loads(line))
        except OSError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)
