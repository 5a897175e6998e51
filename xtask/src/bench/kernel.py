"""Measures `eval` against a Jupyter kernel on the same interpreter.

    python kernel.py TOOLSET RUNS

Both are asked by this program: `eval` through `toolset serve`, which is how a
harness in another language would, and ipykernel through jupyter_client. Each
figure is taken of one and the other in turn, so that what else the machine does
falls on both. Prints a table for the documentation.
"""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import jupyter_client

CELLS = 200
LINES = "for _n in range(100_000): print('x' * 99)"
BRIDGE = """
import statistics, time
from concurrent.futures import ThreadPoolExecutor
_times = []
for _n in range(500):
    _start = time.perf_counter()
    tool("read", {"path": "small.txt"})
    _times.append(time.perf_counter() - _start)
statistics.median(_times)
"""
BRIDGE_THREADS = """
_start = time.perf_counter()
with ThreadPoolExecutor(32) as _pool:
    _answers = list(_pool.map(lambda _: tool("read", {"path": "small.txt"}), range(1000)))
assert len(_answers) == 1000
time.perf_counter() - _start
"""


class Ours:
    """`eval` in one run of `toolset serve`."""

    def __init__(self, program, workspace):
        environment = dict(os.environ, VIRTUAL_ENV=sys.prefix)
        self.process = subprocess.Popen(
            [program, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=workspace,
            env=environment,
        )
        self.number = 0
        self._request(
            "initialize",
            {"protocol_version": 1, "workspace": workspace, "trust": "trusted", "mode": "full"},
        )

    def start(self):
        """Returns the seconds until a new kernel has run its first cell."""
        start = time.perf_counter()
        self.run("1", reset=True)
        ready = time.perf_counter() - start
        self.pid = int(self.value("__import__('os').getpid()"))
        return ready

    def send(self, code, **more):
        arguments = {"code": code, "description": "measures one cell of the benchmark"}
        arguments.update(more)
        return self._send("tools/call", {"name": "eval", "call": "c", "arguments": arguments})

    def wait(self, number):
        result = self._receive(number)
        if "error" in result:
            raise RuntimeError(result["error"]["message"])
        return result

    def run(self, code, **more):
        return self.wait(self.send(code, **more))

    def value(self, code):
        return self.run(code)["details"]["value"]

    def cancel(self, code, after):
        number = self.send(code)
        time.sleep(after)
        start = time.perf_counter()
        self._write({"method": "tools/cancel", "params": {"call": "c"}})
        self._receive(number)
        return time.perf_counter() - start

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)

    def _request(self, method, params):
        return self._receive(self._send(method, params))

    def _send(self, method, params):
        self.number += 1
        self._write({"id": self.number, "method": method, "params": params})
        return self.number

    def _write(self, message):
        line = json.dumps(dict(message, jsonrpc="2.0")).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def _receive(self, number):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("`toolset serve` ended")
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]


class Theirs:
    """An ipykernel on the same interpreter."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.manager = self.client = None

    def start(self):
        self.close()
        start = time.perf_counter()
        self.manager = jupyter_client.KernelManager(kernel_name="python3")
        self.manager.kernel_spec.argv[0] = sys.executable
        self.manager.start_kernel(cwd=self.workspace, stderr=subprocess.DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.run("1")
        ready = time.perf_counter() - start
        self.pid = int(self.value("__import__('os').getpid()"))
        return ready

    def run(self, code):
        return self._wait(self.client.execute(code))

    def _wait(self, message):
        value, reply, idle = None, False, False
        while not (reply and idle):
            if not idle:
                got = self.client.get_iopub_msg(timeout=120)
                if got["parent_header"].get("msg_id") != message:
                    continue
                if got["msg_type"] == "execute_result":
                    value = got["content"]["data"]["text/plain"]
                idle = got["msg_type"] == "status" and got["content"]["execution_state"] == "idle"
            else:
                got = self.client.get_shell_msg(timeout=120)
                reply = got["parent_header"].get("msg_id") == message
        return value

    def value(self, code):
        return self.run(code)

    def cancel(self, code, after):
        message = self.client.execute(code)
        time.sleep(after)
        start = time.perf_counter()
        self.manager.interrupt_kernel()
        self._wait(message)
        return time.perf_counter() - start

    def close(self):
        if self.client is not None:
            self.client.stop_channels()
            self.manager.shutdown_kernel(now=True)
            self.client = None


def memory(pid):
    """Returns the resident megabytes of a process and its threads."""
    status = dict(
        line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"])


def cpu(pid):
    """Returns the seconds of processor time that a process's first thread took."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def timed(kernel, code):
    start = time.perf_counter()
    kernel.run(code)
    return time.perf_counter() - start


def measure(ours, theirs, runs):
    """Returns a row for each figure: name, unit, ours, theirs, what is wanted."""
    both = (ours, theirs)
    figures = {
        name: ([], [])
        for name in ("start", "cpu", "memory", "threads", "cell", "p95", "lines", "cancel")
    }
    for turn in range(runs):
        for side, kernel in enumerate(both):
            figures["start"][side].append(kernel.start() * 1e3)
            figures["cpu"][side].append(cpu(kernel.pid) * 1e3)
            size, threads = memory(kernel.pid)
            figures["memory"][side].append(size)
            figures["threads"][side].append(threads)
        for side, kernel in enumerate(both):
            times = sorted(timed(kernel, "1") * 1e3 for _ in range(CELLS))
            figures["cell"][side].append(statistics.median(times))
            figures["p95"][side].append(times[int(len(times) * 0.95)])
        for side, kernel in enumerate(both):
            figures["lines"][side].append(timed(kernel, LINES) * 1e3)
        for side, kernel in enumerate(both):
            kernel.run("kept = 2")
            figures["cancel"][side].append(kernel.cancel("while True: pass", 0.3) * 1e3)
            if int(kernel.value("kept")) != 2:
                raise RuntimeError("the variables did not survive being stopped")
        print(f"bench: turn {turn + 1} of {runs}", file=sys.stderr)
    sequential = [float(ours.value(BRIDGE)) * 1e3 for _ in range(runs)]
    threads = [float(ours.value(BRIDGE_THREADS)) * 1e3 for _ in range(runs)]
    stuck = []
    for _ in range(runs):
        stuck.append(ours.cancel("sum(range(10 ** 12))", 0.3) * 1e3)
        if ours.value("'kept' in globals()") != "False":
            raise RuntimeError("there is no fresh kernel after native code was stopped")
    names = (
        ("start", "new kernel until its first cell has run, ms", "an eighth"),
        ("cpu", "processor time of its first thread until then, ms", "35"),
        ("cell", "cell `1`, there and back, median ms", "a 20th"),
        ("p95", "the same, 95th of 100, ms", ""),
        ("lines", "10 MB in 100,000 lines, ms", "1 / 1.8"),
        ("memory", "resident at rest, MB", "a third"),
        ("threads", "threads at rest", "1"),
        ("cancel", "from cancel to the answer of `while True: pass`, ms", "150"),
    )
    for name, title, wanted in names:
        yield title, statistics.median(figures[name][0]), statistics.median(figures[name][1]), wanted
    title = "the same of `sum(range(10 ** 12))`, and a fresh kernel after, ms"
    yield title, statistics.median(stuck), None, "6000"
    yield "call of a tool from a cell, one after the other, median ms", statistics.median(sequential), None, "0.5"
    yield "1,000 calls of a tool from 32 threads, ms", statistics.median(threads), None, "500"


def main():
    program, runs = sys.argv[1], int(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as workspace:
        pathlib.Path(workspace, "small.txt").write_text("one line\n")
        ours, theirs = Ours(program, workspace), Theirs(workspace)
        try:
            rows = list(measure(ours, theirs, runs))
        finally:
            ours.close()
            theirs.close()
    print("| figure | `eval` | ipykernel | ratio | wanted |")
    print("| --- | --- | --- | --- | --- |")
    for title, mine, other, wanted in rows:
        if other is None:
            print(f"| {title} | {mine:.4g} | | | {wanted} |")
        else:
            print(f"| {title} | {mine:.4g} | {other:.4g} | {mine / other:.3f} | {wanted} |")


if __name__ == "__main__":
    main()
