"""A client of `toolset serve`, with nothing but the standard library.

It is what a harness written in Python would start from: it attaches tools of
its own, an approver and a list of events, and calls the tools of the server.
"""

import json
import subprocess
import threading
from concurrent.futures import Future

TIMEOUT = 60


class RpcError(Exception):
    """The server could not handle a request at all."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.kind = error["data"]["kind"]
        self.data = error["data"]


class Cancelled(Exception):
    """Raised by a tool of ours that the server has cancelled."""


class Invocation:
    """One call that the server asks us to run."""

    def __init__(self, client, params):
        self.client = client
        self.call = params["call"]
        self.parents = params["parents"]
        self.arguments = params["arguments"]
        self.timeout_ms = params["timeout_ms"]
        self.cancelled = threading.Event()

    def dispatch(self, name, arguments):
        """Calls a tool of the server, nested in this call."""
        return self.client.call(name, arguments, parent=self.call)


class Client:
    """Starts a server and speaks to it."""

    def __init__(self, binary):
        self.process = subprocess.Popen(
            [binary, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.events = []
        self.tools = {}
        self.approve = None
        self.running = {}
        self.answers = {}
        self.orphans = []
        self.next_id = 0
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    # What a harness does.

    def initialize(self, workspace, mode="full", trust="untrusted", tools=None, approve=None, **more):
        """Opens the run; `tools` maps a spec to a function."""
        tools = tools or []
        self.tools = {spec["name"]: function for spec, function in tools}
        self.approve = approve
        params = {
            "protocol_version": 1,
            "client": {"name": "example", "version": "1.0"},
            "workspace": str(workspace),
            "trust": trust,
            "mode": mode,
            "tools": [spec for spec, _ in tools],
            "approver": approve is not None,
            "events": True,
        }
        params.update(more)
        return self.request("initialize", params)

    def call(self, name, arguments=None, **more):
        """Calls a tool and waits for its result."""
        return self.start_call(name, arguments, **more).result(TIMEOUT)

    def start_call(self, name, arguments=None, **more):
        params = {"name": name, "arguments": arguments or {}}
        params.update(more)
        return self.send_request("tools/call", params)

    def request(self, method, params=None):
        return self.send_request(method, params).result(TIMEOUT)

    def send_request(self, method, params=None):
        future = Future()
        with self.changed:
            self.next_id += 1
            request = self.next_id
            self.answers[request] = future
        message = {"jsonrpc": "2.0", "id": request, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return future

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def shutdown(self):
        """Ends the run; returns the exit code of the server."""
        assert self.request("shutdown") is None
        return self.wait()

    def wait(self):
        code = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # What was not sent when the server ended is dropped.
        self.process.stdout.close()
        return code

    # The wire.

    def send(self, message):
        self.send_line(json.dumps(message).encode())

    def send_line(self, line):
        with self.changed:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0", message
            if "method" in message and "id" in message:
                threading.Thread(target=self._serve, args=(message,), daemon=True).start()
            elif "method" in message:
                self._note(message)
            else:
                self._settle(message)

    def _settle(self, message):
        with self.changed:
            future = self.answers.pop(message["id"], None) if message["id"] is not None else None
            if future is None:
                self.orphans.append(message)
                self.changed.notify_all()
                return
        if "error" in message:
            future.set_exception(RpcError(message["error"]))
        else:
            future.set_result(message["result"])

    def _note(self, message):
        with self.changed:
            if message["method"] == "event":
                self.events.append(message["params"])
            elif message["method"] == "client/cancel":
                invocation = self.running.get(message["params"]["request"])
                if invocation is not None:
                    invocation.cancelled.set()
            self.changed.notify_all()

    def _serve(self, message):
        params = message["params"]
        if message["method"] == "client/approve":
            result = self.approve(params)
        elif message["method"] == "client/tool":
            invocation = Invocation(self, params)
            with self.changed:
                self.running[message["id"]] = invocation
                self.changed.notify_all()
            try:
                result = self.tools[params["name"]](invocation)
            except Cancelled:
                result = {"error": {"kind": "cancelled", "what": "stopped by the harness"}}
        else:
            error = {"code": -32601, "message": "unknown method"}
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            return
        try:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        except (BrokenPipeError, ValueError):
            pass  # The server has ended meanwhile.

    def wait_until(self, condition):
        """Waits until `condition()` holds; it is looked at after each message."""
        with self.changed:
            assert self.changed.wait_for(condition, TIMEOUT), "nothing happened"
