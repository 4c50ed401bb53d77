"""A server in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, List, Optional, Sequence, Type, TypeVar

START_S = 240.0  # on a machine that does much else
STOP_S = 30.0
Found = TypeVar("Found")
Self = TypeVar("Self", bound="ServerProcess")
Together = TypeVar("Together", bound="ServerProcesses")


class ServerProcess:
    """Runs for as long as its context lasts. What it prints goes to a file."""

    def __init__(self, command: Sequence[str], output: Path, **options: Any) -> None:
        self.command = list(command)
        self.output = output
        with open(output, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, **options)

    def printed(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, find: Callable[[], Optional[Found]], what: str, limit_s: float = START_S) -> Found:
        """What `find` returns once that is true; the process is ended when it does not come about."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            found = find()
            if found:
                return found
            if ended:
                break
            time.sleep(0.1)
        self.stop()
        raise AssertionError(f"{what}: {self.command[0]}: {self.printed()[-2000:]}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends the process, if need be by force, and returns its exit status."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout=STOP_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()


class ServerProcesses:
    """Servers that belong together; they end in the other order than that in which they started."""

    def __init__(self) -> None:
        self.servers: List[ServerProcess] = []

    def start(self, command: Sequence[str], output: Path, **options: Any) -> ServerProcess:
        self.servers.append(ServerProcess(command, output, **options))
        return self.servers[-1]

    def stop(self) -> None:
        for server in reversed(self.servers):
            server.stop()

    def __enter__(self: Together) -> Together:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()
