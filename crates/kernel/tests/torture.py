"""Runs random cells through `toolset serve` and checks what each answer says.

    python3 torture.py TOOLSET [--cells 10000] [--seconds S] [--seed N]

Cells print, write to descriptors and close them, fork, start threads and
children, exit, take signals, call tools, forge frames, and are stopped. Of every
answer it is checked that it comes, that a cell's text stands in the answer of
its own cell or labelled as late output of it, that a value is the one of this
cell, and that a death is reported for what it was, no other one at all. Ends
with 1 at the first wrong answer, after printing the seed and the cells before.
"""

import argparse
import json
import os
import pathlib
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

# Seconds for one answer. Ending an interpreter that does not react takes 6.
LIMIT = 30
# Seconds without output after which a cell is stopped.
IDLE = 8
TOKEN = re.compile(r"<(\d+)\.(\d+)>")


class Cell:
    """One random cell: its code, and what may come of it."""

    def __init__(self, number, random):
        self.number, self.random = number, random
        self.lines, self.tokens = [], 0
        # Tokens that must stand in its own output, and those that come later,
        # at any place for what a thread prints, labelled for what a child does.
        self.own, self.late_thread, self.late_child = set(), set(), set()
        self.value = None
        self.error = self.death = None
        self.is_lossy = self.damages = self.is_stopped = self.is_long = False
        self.is_deaf = False
        operations = random.choices(OPERATIONS, WEIGHTS, k=random.randint(1, 5))
        operations.sort(key=lambda operation: operation in LAST)
        for operation in operations:
            operation(self)
            if operation in LAST:
                break
        else:
            if random.random() < 0.5:
                self.value = "'%s'" % self.token(None)
                self.lines.append(self.value)

    @property
    def code(self):
        return "\n".join(self.lines)

    def token(self, where):
        self.tokens += 1
        token = "<%d.%d>" % (self.number, self.tokens)
        if where is not None:
            where.add(token)
        return token

    def add(self, text):
        self.lines.extend(text.strip("\n").split("\n"))

    def guarded(self, text):
        self.lines.append("try:")
        self.lines.extend("    " + line for line in text.strip("\n").split("\n"))
        self.lines.append("except (OSError, ValueError, AttributeError): pass")


# Output.


def prints(cell):
    for _ in range(cell.random.randint(1, 4)):
        cell.add("print(%r)" % cell.token(cell.own))


def writes(cell):
    number = cell.random.choice((1, 2, 2, 1, cell.random.randint(0, 255)))
    where = cell.own if number in (1, 2) else None
    cell.guarded("import os\nos.write(%d, b%r)" % (number, cell.token(where) + "\n"))


def forges(cell):
    frame = json.dumps({"frame": "done", "cell": cell.number, "status": "ok", "value": "forged"})
    data = (len(frame) + 1).to_bytes(4, "big") + b"J" + frame.encode() + b"\n"
    cell.guarded("import os\nos.write(%d, %r)" % (cell.random.choice((1, 2, 3, 5, 9)), data))


def floods(cell):
    cell.add("print(%r)" % cell.token(cell.own))
    cell.add("for _n in range(%d): print('y' * 99)" % cell.random.choice((100, 3000, 20000)))
    cell.add("print(%r)" % cell.token(cell.own))
    # The middle of a long output is left out, and what stands there with it.
    cell.is_long = True


def displays(cell):
    cell.add("display(%r)" % cell.token(cell.own))


def closes(cell):
    first = cell.random.choice((0, 1, 2, 3, cell.random.randint(0, 255)))
    cell.guarded("import os\nos.close(%d)" % first)
    cell.damages = True
    cell.is_lossy |= first in (1, 2)


def closes_many(cell):
    cell.add("import os\nos.closerange(3, 256)")
    cell.damages = True


def redirects(cell):
    cell.guarded(
        cell.random.choice(
            (
                "import os\nos.dup2(os.open('/dev/null', os.O_WRONLY), %d)" % cell.random.choice((1, 2)),
                "import sys, io\nsys.stdout = io.StringIO()",
                "import sys\nsys.stdout.close()",
                "import sys\nsys.stderr.close()",
                "import sys\ndel sys.stdout",
            )
        )
    )
    cell.is_lossy = True


# Children and threads.


def forks(cell):
    cell.add(
        """
import os
_child = os.fork()
if not _child:
    try:
        print(%r)
        %s
    finally:
        os._exit(0)
os.waitpid(_child, 0)
"""
        % (
            cell.token(cell.own),
            cell.random.choice(("pass", "1 / 0", "raise SystemExit(3)", "os.closerange(0, 2000)")),
        )
    )


def forks_late(cell):
    cell.add(
        """
import os, time
if not os.fork():
    try:
        time.sleep(%r)
        os.write(1, b%r)
    finally:
        os._exit(0)
"""
        % (cell.random.uniform(0.001, 0.15), cell.token(cell.late_child) + "\n")
    )


def falls_out(cell):
    cell.add("import os\nif not os.fork(): print(%r)" % cell.token(None))


def starts(cell):
    token = cell.token(cell.own)
    arguments = cell.random.choice((["echo", token], ["sh", "-c", "echo '%s' >&2" % token]))
    cell.add("import subprocess\nsubprocess.run(%r)" % arguments)


def starts_idiom(cell):
    cell.add("!echo '%s'" % cell.token(cell.own))


def starts_late(cell):
    session = cell.random.choice(("", ", start_new_session=True"))
    cell.add(
        "import subprocess\nsubprocess.Popen(['sh', '-c', \"sleep 0.0%d; echo '%s'\"]%s)"
        % (cell.random.randint(0, 9), cell.token(cell.late_child), session)
    )


def threads(cell):
    cell.add(
        "import threading\n_threads = [threading.Thread(target=print, args=(n,)) for n in %r]\n"
        "for _thread in _threads: _thread.start()\nfor _thread in _threads: _thread.join()"
        % [cell.token(cell.own) + "\n" for _ in range(cell.random.randint(1, 8))]
    )


def threads_late(cell):
    cell.add(
        "import threading\nthreading.Timer(%r, print, (%r,)).start()"
        % (cell.random.uniform(0.001, 0.1), cell.token(cell.late_thread))
    )


def threads_fail(cell):
    cell.add("import threading\n_thread = threading.Thread(target=lambda: 1 / 0)\n_thread.start()\n_thread.join()")


def pools(cell):
    cell.add("import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as _pool: _pool.map(abs, range(4))")


# Calls of tools.


def calls(cell):
    cell.add("assert 'needle' in tool('read', {'path': 'small.txt'})\nprint(%r)" % cell.token(cell.own))


def calls_at_once(cell):
    cell.add(
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as _pool:\n"
        "    assert all('needle' in text for text in _pool.map(lambda _: tool('read', {'path': 'small.txt'}), range(20)))\n"
        "print(%r)" % cell.token(cell.own)
    )


def calls_awaiting(cell):
    cell.add(
        "import asyncio\n_all = await asyncio.gather(*(tool_async('read', {'path': 'small.txt'}) for _ in range(10)))\n"
        "assert all('needle' in text for text in _all)\nprint(%r)" % cell.token(cell.own)
    )


def calls_late(cell):
    cell.add(
        "import threading\ndef _call():\n    try: tool('read', {'path': 'small.txt'})\n    except Exception: pass\n"
        "threading.Thread(target=_call).start()"
    )


def calls_wrongly(cell):
    cell.add(
        cell.random.choice(
            (
                "try: tool('no_such_tool')\nexcept Exception as error: print(%r)",
                "try: tool('eval', {'code': '1', 'description': 'refused'})\nexcept Exception as error: print(%r)",
                "try: tool('read', {'path': object()})\nexcept TypeError: print(%r)",
            )
        )
        % cell.token(cell.own)
    )


# Signals.


def signals(cell):
    if cell.random.random() < 0.1:
        # Then only its end stops a cell.
        cell.is_deaf = True
        cell.add("import signal\nsignal.signal(signal.SIGIO, signal.SIG_IGN)")
        return
    cell.add(
        cell.random.choice(
            (
                "import os, signal\nos.kill(os.getpid(), signal.SIGIO)",
                "import os, signal\nos.kill(os.getpid(), signal.SIGCHLD)",
                "import signal\nsignal.signal(signal.SIGUSR1, lambda *_: None)\nimport os\nos.kill(os.getpid(), signal.SIGUSR1)",
                "import signal\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 0.003)",
                "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
                "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    import time; time.sleep(0.01)\nexcept KeyboardInterrupt: pass",
            )
        )
    )


# Ends. Each is the last thing its cell does.


def fails(cell):
    kind, code = cell.random.choice(
        (
            ("ZeroDivisionError", "1 / 0"),
            ("RecursionError", "def _deep(): return _deep()\n_deep()"),
            ("SyntaxError", "x = = 1"),
            ("AssertionError", "async def _f(): assert 0\nawait _f()"),
            ("EOFError", "input()"),
            ("SystemExit", "import sys; sys.exit(3)"),
            ("KeyboardInterrupt", "raise KeyboardInterrupt"),
        )
    )
    if kind == "SyntaxError":
        # Then nothing of it runs.
        cell.own, cell.late_child, cell.late_thread = set(), set(), set()
        cell.damages = False
    cell.error = kind
    cell.add(code)


def exits(cell):
    cell.add(cell.random.choice(("exit()", "quit()", "raise SystemExit", "import sys; sys.exit(0)")))


def dies(cell):
    code = cell.random.randint(1, 9)
    cell.death, text = cell.random.choice(
        (
            ("exit code %d" % code, "os._exit(%d)" % code),
            ("SIGKILL", "os.kill(os.getpid(), signal.SIGKILL)"),
            ("SIGTERM", "os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)"),
            ("SIGSEGV", "import ctypes; ctypes.string_at(0)"),
            ("SIGABRT", "os.abort()"),
            ("SIGHUP", "os.kill(os.getpid(), signal.SIGHUP); time.sleep(5)"),
            ("closed the descriptor", "os.closerange(3, 5000); time.sleep(0.2)"),
        )
    )
    cell.add("import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_DFL)\n" + text)


def stays(cell):
    cell.is_stopped = True
    cell.add(
        cell.random.choice(
            (
                "while True: _n = 1",
                "import time; time.sleep(60)",
                "import asyncio; await asyncio.sleep(60)",
                "import subprocess; subprocess.run(['sleep', '60'])",
                "while True: !true",
                "while True: print('z' * 50)",
                "import threading; threading.Event().wait()",
                "import time\nwhile True: tool('read', {'path': 'small.txt'}); time.sleep(0.001)",
            )
        )
    )
    cell.is_long = True


OPERATIONS, WEIGHTS = zip(
    *(
        (prints, 30), (writes, 12), (forges, 4), (floods, 2), (displays, 6), (closes, 5),
        (closes_many, 1), (redirects, 4), (forks, 6), (forks_late, 5), (falls_out, 2),
        (starts, 4), (starts_idiom, 3), (starts_late, 4), (threads, 6), (threads_late, 5),
        (threads_fail, 2), (pools, 0.5), (calls, 8), (calls_at_once, 3), (calls_awaiting, 3),
        (calls_late, 2), (calls_wrongly, 3), (signals, 6), (fails, 6), (exits, 2), (dies, 2),
        (stays, 1),
    )
)
LAST = {fails, exits, dies, stays}


class Server:
    """One run of `toolset serve`."""

    def __init__(self, program, workspace):
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=workspace
        )
        self.answers = queue.Queue()
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask(
            "initialize",
            {"protocol_version": 1, "workspace": workspace, "trust": "trusted", "mode": "full"},
        )

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def send(self, method, params, is_request=True):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self.number += 1
            message["id"] = self.number
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, seconds=LIMIT):
        try:
            while True:
                answer = self.answers.get(timeout=seconds)
                if answer is None:
                    raise Wrong("the server ended")
                if answer.get("id") == self.number:
                    break
        except queue.Empty:
            raise Wrong("no answer within %d s" % seconds) from None
        if "error" in answer:
            raise Wrong("refused: %s" % answer["error"])
        return answer["result"]

    def ask(self, method, params):
        self.send(method, params)
        return self.wait()

    def run(self, cell, reset):
        arguments = {
            "code": cell.code,
            "description": "one random cell of the torture test",
            "timeout_seconds": IDLE,
        }
        if reset:
            arguments["reset"] = True
        self.send("tools/call", {"name": "eval", "call": str(cell.number), "arguments": arguments})
        if cell.is_stopped:
            time.sleep(cell.random.uniform(0.1, 0.3))
            self.send("tools/cancel", {"call": str(cell.number)}, is_request=False)
        return self.wait()


class Wrong(Exception):
    """An answer is not what it must be."""


class Judge:
    """Compares answers with what their cells may cause."""

    def __init__(self):
        self.cells = {}
        self.places = {}
        self.damaged = False
        self.waiting = {}
        self.counts = {}

    def judge(self, cell, answer):
        error = answer.get("error")
        message = error["message"] if error else ""
        details = (error.get("partial") or {}).get("details") if error else answer["details"]
        if not details and cell.is_stopped and "while the interpreter started" in message:
            self.counts["not run"] = self.counts.get("not run", 0) + 1
            self.waiting.clear()
            return
        if not details:
            raise Wrong("no details: %s" % message)
        self.cells[cell.number] = cell
        if details["interpreter"]["is_fresh"]:
            self.damaged = False
            self.waiting.clear()
        self.places[cell.number] = details["cell"]
        self._check_end(cell, details, error, message)
        self._check_text(cell, details)
        self.counts[details["status"]] = self.counts.get(details["status"], 0) + 1
        self.damaged |= cell.damages
        if details["status"] == "died":
            self.waiting.clear()

    def _check_end(self, cell, details, error, message):
        status = details["status"]
        weak = self.damaged or cell.damages or cell.is_lossy
        # Descriptors that were closed under a library may make it wait for ever,
        # so that the cell does not come to its end.
        hangs = weak and error and error["kind"] == "timeout"
        if cell.death is not None and not hangs and not (weak and status == "error"):
            if status != "died" or cell.death not in message:
                raise Wrong("wanted a death of %s, got %s: %s" % (cell.death, status, message))
            return
        if hangs:
            self.counts["idle"] = self.counts.get("idle", 0) + 1
            return
        if status == "died" and cell.is_stopped and cell.is_deaf and "did not react" in message:
            return
        if status == "died":
            raise Wrong("the interpreter died: %s" % message)
        if cell.is_stopped:
            if status != "interrupted" and not (weak and status == "error"):
                raise Wrong("wanted it stopped, got %s: %s" % (status, message))
            return
        if cell.error is not None:
            if status != "error" or (details["error"]["type"] != cell.error and not weak):
                raise Wrong("wanted %s, got %s: %s" % (cell.error, status, message))
            return
        if status != "ok" and not weak:
            raise Wrong("wanted no error, got %s: %s" % (status, message))
        if status == "ok" and details["value"] != cell.value and cell.value is not None:
            raise Wrong("wanted the value %s, got %s" % (cell.value, details["value"]))

    def _check_text(self, cell, details):
        output = details["output"] + "\n".join(details.get("displays") or [])
        found = set()
        for match in TOKEN.finditer(output):
            found.add(match[0])
            number = int(match[1])
            if number == cell.number or match[0] in self.cells[number].late_thread:
                continue
            raise Wrong("output of cell %d stands in cell %d" % (number, cell.number))
        for late in details["late"]:
            for match in TOKEN.finditer(late["output"]):
                found.add(match[0])
                place = self.places.get(int(match[1]))
                # A thread prints to where its interpreter prints by then.
                is_thread = match[0] in self.cells[int(match[1])].late_thread
                if place != late["cell"] and not (is_thread and place < late["cell"]):
                    raise Wrong("late output %s is labelled as of cell %d" % (match[0], late["cell"]))
        strict = not (cell.is_lossy or cell.is_long or cell.is_stopped or details["status"] == "error")
        missing = cell.own - found
        if strict and missing and not (details["status"] == "died" or self.damaged or cell.damages):
            raise Wrong("output is missing: %s" % ", ".join(sorted(missing)))
        for token in found:
            self.waiting.pop(token, None)
        if strict and details["status"] == "ok" and not cell.damages and not self.damaged:
            for token in (cell.late_child | cell.late_thread) - found:
                self.waiting[token] = time.monotonic() + 5
        overdue = [token for token, until in self.waiting.items() if until < time.monotonic()]
        if overdue:
            raise Wrong("late output never came: %s" % ", ".join(overdue))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("toolset")
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print("torture: seed %d" % options.seed, file=sys.stderr)
    generator, judge, history = random.Random(options.seed), Judge(), []
    start, resets = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as workspace:
        pathlib.Path(workspace, "small.txt").write_text("a needle\n")
        server = Server(os.path.abspath(options.toolset), workspace)
        number = 0
        while number < options.cells:
            if options.seconds and time.monotonic() - start > options.seconds:
                break
            number += 1
            cell = Cell(number, random.Random(generator.random()))
            reset = generator.random() < (0.1 if judge.damaged else 0.01)
            resets += reset
            history.append((reset, cell.code))
            answer = None
            try:
                answer = server.run(cell, reset)
                judge.judge(cell, answer)
            except Wrong as wrong:
                for before, (was_reset, code) in list(enumerate(history, 1))[-6:]:
                    print("--- cell %d%s\n%s" % (before, " (reset)" if was_reset else "", code))
                print("--- answer\n%s" % json.dumps(answer, indent=1)[:6000])
                print("cell %d of seed %d: %s" % (number, options.seed, wrong))
                server.process.kill()
                return 1
            if number % 1000 == 0:
                print("torture: %d cells, %.0f s" % (number, time.monotonic() - start), file=sys.stderr)
        server.process.stdin.close()
        code = server.process.wait(30)
    said = ", ".join("%d %s" % (count, status) for status, count in sorted(judge.counts.items()))
    print(
        "%d cells in %.0f s: %s; %d resets; nothing lost, nothing in the wrong cell, server ended with %d"
        % (number, time.monotonic() - start, said, resets, code)
    )
    return 0 if code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
