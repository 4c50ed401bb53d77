"""Starts a server, asks it by several names, prints the statuses and ends it: `ask_server.py PORT HOST,HOST... COMMAND...`."""

import http.client
import json
import subprocess
import sys
import time
from typing import List

LIMIT_S = 60


def status(port: int, host: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/api/v1/version", headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def ask(server: "subprocess.Popen[bytes]", port: int, hosts: List[str]) -> List[int]:
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return [status(port, host) for host in hosts]
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def main() -> None:
    server = subprocess.Popen(sys.argv[3:], stdout=sys.stderr)
    try:
        print(json.dumps(ask(server, int(sys.argv[1]), sys.argv[2].split(","))))
    finally:
        server.terminate()
        server.wait(LIMIT_S)


if __name__ == "__main__":
    main()
