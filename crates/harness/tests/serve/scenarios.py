"""What a harness in another language sees of `toolset serve`."""

import os
import tempfile
import threading
import unittest
from pathlib import Path

from client import Client, RpcError

BINARY = os.environ["TOOLSET"]


def tool(name, tier="read", **more):
    spec = {
        "name": name,
        "description": f"The tool {name} of the harness.",
        "tier": tier,
        "input_schema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "Any text."}},
            "required": [],
            "additionalProperties": False,
        },
    }
    spec.update(more)
    return spec


def text_of(result):
    return "".join(part["text"] for part in result["content"])


def names(listed):
    return [spec["name"] for spec in listed["tools"]]


PROMPT_FOR_WRITES = [{"tiers": ["write"], "decision": "prompt", "message": "may it write?"}]


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.workspace = Path(folder.name)
        self.client = Client(BINARY)
        self.addCleanup(self.stop)

    def stop(self):
        if self.client.process.poll() is None:
            self.client.process.kill()
            self.client.wait()

    def assert_refused(self, kind, method, params=None):
        with self.assertRaises(RpcError) as refused:
            self.client.request(method, params)
        self.assertEqual(refused.exception.kind, kind)
        return refused.exception

    # The surface.

    def test_plan_mode_has_no_write_tool_and_answers_as_if_there_were_none(self):
        mine = [(tool("deploy", "exec"), None), (tool("ask"), None)]
        opened = self.client.initialize(self.workspace, mode="plan", tools=mine)
        self.assertEqual(opened["ceiling"], "read")
        listed = names(self.client.request("tools/list"))
        self.assertIn("read", listed)
        self.assertIn("ask", listed)
        for name in ["write", "edit", "apply_patch", "deploy"]:
            self.assertNotIn(name, listed)
            withheld = self.client.call(name, {"path": "a", "content": "b"})["error"]
            absent = self.client.call("x" + name, {"path": "a", "content": "b"})["error"]
            self.assertEqual(withheld["kind"], "unknown_tool")
            self.assertEqual(
                {**withheld, "what": "", "message": ""},
                {**absent, "what": "", "message": ""},
            )
        why = {absent["name"]: absent["why"] for absent in opened["withheld"]}
        self.assertIn("over_ceiling", why["write"])
        self.assertEqual(list(self.workspace.iterdir()), [])

    def test_specs_come_in_the_dialects_of_the_providers(self):
        self.client.initialize(self.workspace)
        of = lambda dialect: self.client.request("tools/list", {"dialect": dialect})["tools"][0]
        self.assertIn("tier", of("plain"))
        self.assertIn("input_schema", of("anthropic"))
        self.assertIn("parameters", of("openai")["function"])
        self.assertIn("parameters", of("gemini"))
        self.assert_refused("invalid_params", "tools/list", {"dialect": "other"})

    def test_results_come_in_the_dialects_of_the_providers_too(self):
        self.client.initialize(self.workspace)
        (self.workspace / "a.txt").write_text("hello\n")
        result = self.client.call("read", {"path": "a.txt"}, call="t1", dialect="anthropic")
        self.assertEqual(result["rendered"]["type"], "tool_result")
        self.assertEqual(result["rendered"]["tool_use_id"], "t1")
        failed = self.client.call("read", {"path": "b.txt"}, call="t2", dialect="anthropic")
        self.assertTrue(failed["rendered"]["is_error"])

    def test_the_file_tools_can_be_left_out(self):
        mine = [(tool("read"), lambda _: {"content": "mine"})]
        self.client.initialize(self.workspace, file_tools=False, tools=mine)
        self.assertNotIn("write", names(self.client.request("tools/list")))
        self.assertEqual(text_of(self.client.call("read")), "mine")

    # Calls.

    def test_structural_search_finds_code_by_its_shape(self):
        (self.workspace / "a.rs").write_text('fn a() { b ( 1 ); let s = "b(2)"; }\n// b(3)\n')
        self.client.initialize(self.workspace, mode="plan")
        result = self.client.call("ast_grep", {"pattern": "b($X)", "language": "rust"})
        texts = [match["text"] for match in result["details"]["matches"]]
        self.assertEqual(texts, ["b ( 1 )"])

    def test_a_staged_edit_lives_until_it_is_resolved(self):
        (self.workspace / "a.py").write_text("f(1)\n")
        self.client.initialize(self.workspace)
        edit = {"pattern": "f($X)", "rewrite": "g($X)", "language": "python"}
        staged = self.client.call("ast_edit", edit)
        self.assertIn("(proposed) 1 replacement in 1 file", text_of(staged))
        self.assertEqual((self.workspace / "a.py").read_text(), "f(1)\n")
        accept = {"edit_id": staged["details"]["edit_id"], "action": "accept"}
        self.assertEqual(self.client.call("resolve", accept)["touched"], ["a.py"])
        self.assertEqual((self.workspace / "a.py").read_text(), "g(1)\n")

    def test_a_file_is_written_edited_and_read(self):
        self.client.initialize(self.workspace)
        written = self.client.call("write", {"path": "d/a.txt", "content": "one\ntwo\n"})
        self.assertEqual(written["touched"], ["d/a.txt"])
        self.client.call("edit", {"path": "d/a.txt", "old_string": "two", "new_string": "2"})
        self.assertEqual((self.workspace / "d/a.txt").read_text(), "one\n2\n")
        self.assertEqual(text_of(self.client.call("read", {"path": "d/a.txt"})), "     1\tone\n     2\t2\n")

    def test_nothing_outside_the_workspace_is_read(self):
        self.client.initialize(self.workspace)
        error = self.client.call("read", {"path": "../a"})["error"]
        self.assertEqual(error["kind"], "denied")

    def test_an_unknown_tool_is_a_result_and_not_a_protocol_error(self):
        self.client.initialize(self.workspace)
        error = self.client.call("raed", {})["error"]
        self.assertEqual(error["kind"], "unknown_tool")
        self.assertIn("`read`", error["message"])

    def test_answers_come_when_they_are_ready_and_not_in_order(self):
        release = threading.Event()
        def slow(_):
            release.wait()
            return {"content": "slow"}
        self.client.initialize(self.workspace, tools=[(tool("slow"), slow)])
        first = self.client.start_call("slow")
        self.client.call("read", {"path": "."})
        self.assertFalse(first.done())
        release.set()
        self.assertEqual(text_of(first.result(60)), "slow")

    # Tools of the client.

    def test_a_tool_of_the_client_is_called_with_checked_arguments(self):
        seen = []
        def echo(invocation):
            seen.append(invocation.arguments)
            return {"content": [{"type": "text", "text": "hi"}], "details": {"n": 1}, "touched": ["x"]}
        self.client.initialize(self.workspace, tools=[(tool("echo"), echo)])
        result = self.client.call("echo", {"text": "a"}, call="c1")
        self.assertEqual(
            result,
            {
                "call": "c1",
                "content": [{"type": "text", "text": "hi"}],
                "details": {"n": 1},
                "touched": ["x"],
            },
        )
        wrong = self.client.call("echo", {"txt": "a"})["error"]
        self.assertEqual(wrong["kind"], "invalid_input")
        self.assertIn("`text`", wrong["message"])
        self.assertEqual(seen, [{"text": "a"}])

    def test_a_tool_of_the_client_can_fail(self):
        def refuse(_):
            return {"error": {"kind": "conflict", "what": "cannot do it", "why": "busy", "next": "wait"}}
        def garble(_):
            return {"contents": "a"}
        mine = [(tool("refuse"), refuse), (tool("garble"), garble)]
        self.client.initialize(self.workspace, tools=mine)
        error = self.client.call("refuse")["error"]
        self.assertEqual(error["kind"], "conflict")
        self.assertEqual(error["message"], "cannot do it: busy; wait")
        self.assertEqual(self.client.call("garble")["error"]["kind"], "failed")

    def test_a_tool_of_the_client_touches_paths_of_the_workspace_only(self):
        touched = []
        mine = [(tool("touch"), lambda _: {"content": "did it", "touched": touched})]
        self.client.initialize(self.workspace, tools=mine)
        root = self.workspace.resolve()
        (root / "d").mkdir()
        (root / "out").symlink_to("/")
        touched[:] = ["a", "./d/../b", str(root / "d" / "c")]
        self.assertEqual(self.client.call("touch")["touched"], ["a", "b", "d/c"])
        for outside in ["../a", "/etc/passwd", "out/etc/passwd", "", "~/a", "a\0b"]:
            touched[:] = ["a", outside]
            error = self.client.call("touch")["error"]
            self.assertEqual(error["kind"], "failed", outside)
            self.assertIn("`touched`", error["message"])
            # What it did is done, and the model must know.
            self.assertEqual(text_of(error["partial"]), "did it")
            self.assertEqual(error["partial"]["touched"], ["a"])

    def test_calls_of_a_serial_tool_do_not_overlap(self):
        lock, most, now = threading.Lock(), [0], [0]
        def count(_):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            self.client.request("tools/list")
            with lock:
                now[0] -= 1
            return {"content": "done"}
        spec = tool("count", concurrency="serial")
        self.client.initialize(self.workspace, tools=[(spec, count)])
        calls = [self.client.start_call("count") for _ in range(8)]
        self.assertEqual([text_of(call.result(60)) for call in calls], ["done"] * 8)
        self.assertEqual(most, [1])

    # The gate.

    def ask(self, approve):
        self.client.initialize(self.workspace, approve=approve, guardrails=PROMPT_FOR_WRITES)
        return self.client.call("write", {"path": "a", "content": "b"})

    def test_an_approved_call_runs(self):
        asked = []
        def yes(question):
            asked.append(question)
            return {"answer": "yes"}
        self.assertEqual(self.ask(yes)["touched"], ["a"])
        self.assertEqual((self.workspace / "a").read_text(), "b")
        [question] = asked
        self.assertEqual(question["name"], "write")
        self.assertEqual(question["tier"], "write")
        self.assertEqual(question["paths"], ["a"])
        self.assertEqual(question["question"], "may it write?")
        self.assertEqual(question["arguments"], {"path": "a", "content": "b"})

    def test_a_tool_of_the_client_says_which_files_it_writes(self):
        asked = []
        def yes(question):
            asked.append(question["paths"])
            return {"answer": "yes"}
        own = tool("save", tier="write", path_arguments=["text"])
        answer = {"content": "saved", "touched": ["a.txt"]}
        self.client.initialize(
            self.workspace,
            approve=yes,
            guardrails=PROMPT_FOR_WRITES,
            tools=[(own, lambda _: answer)],
        )
        result = self.client.call("save", {"text": "a.txt"})
        self.assertEqual((text_of(result), result["touched"]), ("saved", ["a.txt"]))
        self.assertEqual(asked, [["a.txt"]])

    def test_a_refused_call_does_not_run(self):
        error = self.ask(lambda _: {"answer": "no", "reason": "not today"})["error"]
        self.assertEqual(error["kind"], "denied")
        self.assertIn("not today", error["message"])
        self.assertFalse((self.workspace / "a").exists())

    def test_without_an_approver_a_prompt_means_no(self):
        error = self.ask(None)["error"]
        self.assertEqual(error["kind"], "denied")
        self.assertFalse((self.workspace / "a").exists())

    def test_an_answer_that_is_neither_yes_nor_no_means_no(self):
        error = self.ask(lambda _: {"answer": "perhaps"})["error"]
        self.assertEqual(error["kind"], "denied")
        self.assertFalse((self.workspace / "a").exists())

    def test_the_first_rule_that_fits_decides(self):
        rules = [
            {"tools": ["write"], "decision": "allow"},
            {"tiers": ["write"], "decision": "deny", "message": "only `write`"},
        ]
        self.client.initialize(self.workspace, guardrails=rules)
        self.assertEqual(self.client.call("write", {"path": "a", "content": "b"})["touched"], ["a"])
        edit = {"path": "a", "old_string": "b", "new_string": "c"}
        error = self.client.call("edit", edit)["error"]
        self.assertEqual((error["kind"], error["why"]), ("denied", "only `write`"))

    # Calls from within calls.

    def nest(self, mode="full", approve=None):
        def outer(invocation):
            nested = invocation.dispatch("write", {"path": "a", "content": "b"})
            return {"content": "done", "details": nested}
        self.client.initialize(
            self.workspace,
            mode=mode,
            tools=[(tool("outer"), outer)],
            approve=approve,
            guardrails=PROMPT_FOR_WRITES,
        )
        return self.client.call("outer", call="c1")["details"]

    def test_nested_calls_pass_the_gate_too(self):
        asked = []
        def no(question):
            asked.append(question["parents"])
            return {"answer": "no"}
        self.assertEqual(self.nest(approve=no)["error"]["kind"], "denied")
        self.assertEqual(asked, [["c1"]])
        self.assertFalse((self.workspace / "a").exists())

    def test_nested_calls_run_when_approved(self):
        self.assertEqual(self.nest(approve=lambda _: {"answer": "yes"})["touched"], ["a"])
        self.assertEqual((self.workspace / "a").read_text(), "b")

    def test_nested_calls_stay_under_the_ceiling(self):
        nested = self.nest(mode="plan", approve=lambda _: {"answer": "yes"})
        self.assertEqual(nested["error"]["kind"], "unknown_tool")

    def test_a_call_that_has_ended_has_no_nested_calls(self):
        self.client.initialize(self.workspace, tools=[(tool("quick"), lambda _: {"content": "a"})])
        self.client.call("quick", call="c1")
        refused = self.assert_refused(
            "invalid_params", "tools/call", {"name": "read", "arguments": {"path": "."}, "parent": "c1"}
        )
        self.assertIn("`c1`", str(refused))

    # Cancellation and time.

    def hang(self):
        """A tool that runs until it is cancelled."""
        self.stopped = threading.Event()
        def hang(invocation):
            invocation.cancelled.wait()
            self.stopped.set()
            return {"content": "too late"}
        self.client.initialize(self.workspace, tools=[(tool("hang"), hang)])

    def start_hanging(self, **more):
        call = self.client.start_call("hang", **more)
        self.client.wait_until(lambda: self.client.running)
        return call

    def test_a_running_call_is_cancelled(self):
        self.hang()
        call = self.start_hanging(call="c1")
        self.assertEqual(self.client.request("tools/cancel", {"call": "c1"}), {"cancelled": True})
        self.assertEqual(call.result(60)["error"]["kind"], "cancelled")
        self.assertTrue(self.stopped.wait(60))
        self.assertEqual(self.client.request("tools/cancel", {"call": "c1"}), {"cancelled": False})

    def test_a_notification_cancels_too(self):
        self.hang()
        call = self.start_hanging(call="c1")
        self.client.notify("tools/cancel", {"call": "c1"})
        self.assertEqual(call.result(60)["error"]["kind"], "cancelled")

    def test_a_call_that_takes_too_long_is_stopped(self):
        self.hang()
        call = self.client.start_call("hang", timeout_ms=50)
        self.assertEqual(call.result(60)["error"]["kind"], "timeout")

    def test_a_call_without_any_time_is_refused(self):
        self.client.initialize(self.workspace)
        call = {"name": "read", "arguments": {"path": "."}, "timeout_ms": 0}
        refused = self.assert_refused("invalid_params", "tools/call", call)
        self.assertIn("`timeout_ms`", str(refused))
        self.assertIn("from 1", str(refused))
        longest = {**call, "timeout_ms": 2**64 - 1}
        self.assertIn("content", self.client.request("tools/call", longest))

    def test_two_running_calls_have_different_ids(self):
        self.hang()
        self.start_hanging(call="c1")
        self.assert_refused("invalid_params", "tools/call", {"name": "hang", "call": "c1"})

    def test_there_is_a_bound_on_open_calls(self):
        self.hang()
        bound = 256
        calls = [self.client.start_call("hang", call=f"c{n}") for n in range(bound)]
        refused = self.assert_refused("busy", "tools/call", {"name": "hang"})
        self.assertEqual(refused.data["limit"], bound)
        for n in range(bound):
            self.client.notify("tools/cancel", {"call": f"c{n}"})
        for call in calls:
            self.assertEqual(call.result(60)["error"]["kind"], "cancelled")
        self.assertIn("content", self.client.call("read", {"path": "."}))

    # Events.

    def test_events_of_a_call_come_in_order_and_before_its_answer(self):
        def outer(invocation):
            return {"content": text_of(invocation.dispatch("read", {"path": "."}))}
        self.client.initialize(self.workspace, tools=[(tool("outer"), outer)])
        self.client.call("outer", {"text": "a"}, call="c1")
        events = list(self.client.events)
        mine = [event for event in events if event["call"] == "c1"]
        self.assertEqual([event["event"] for event in mine], ["started", "finished"])
        self.assertEqual([event["sequence"] for event in mine], [0, 1])
        self.assertEqual(mine[0]["args"], {"text": "a"})
        inner = [event for event in events if event["parent"] == "c1"]
        self.assertEqual([event["event"] for event in inner], ["started", "finished"])
        self.assertEqual(events[0], mine[0])
        self.assertEqual(events[-1], mine[-1])

    def test_a_client_that_wants_no_events_gets_none(self):
        self.client.initialize(self.workspace, events=False)
        self.client.call("read", {"path": "."})
        self.assertEqual(self.client.events, [])

    # Mistakes of the client.

    def orphan(self, line):
        """Sends a line that cannot be answered by its id; returns the error."""
        self.client.send_line(line)
        self.client.wait_until(lambda: self.client.orphans)
        return self.client.orphans.pop()["error"]

    def test_lines_that_are_no_messages_are_answered_and_survived(self):
        self.assertEqual(self.orphan(b"{")["code"], -32700)
        self.assertEqual(self.orphan(b"[]")["code"], -32600)
        self.assertEqual(self.orphan(b'{"id":1}')["code"], -32600)
        self.assertEqual(self.orphan(b'{"jsonrpc":"2.0","id":null,"method":"x"}')["code"], -32600)
        self.assertEqual(self.orphan(b"\xff\xfe")["code"], -32700)
        self.client.send_line(b"")
        self.client.send_line(b'{"jsonrpc":"2.0","id":"never-asked","result":1}')
        self.client.notify("some/later/notification", {})
        self.client.initialize(self.workspace)

    def test_a_line_that_is_too_long_is_answered_and_survived(self):
        opened = self.client.initialize(self.workspace)
        limit = opened["limits"]["message_bytes"]
        error = self.orphan(b'"' + b"x" * limit + b'"')
        self.assertEqual((error["code"], error["data"]["limit"]), (-32004, limit))
        self.assertIn("content", self.client.call("read", {"path": "."}))

    def test_the_order_of_methods_is_kept(self):
        self.assert_refused("not_initialized", "tools/list")
        self.assert_refused("not_initialized", "tools/call", {"name": "read"})
        self.assert_refused("not_initialized", "tools/cancel", {"call": "a"})
        self.client.initialize(self.workspace)
        base = {"protocol_version": 1, "workspace": ".", "trust": "untrusted", "mode": "plan"}
        self.assert_refused("already_initialized", "initialize", base)
        refused = self.assert_refused("unknown_method", "tools/frob")
        self.assertIn("tools/call", refused.data["methods"])

    def test_initialize_says_what_is_wrong_with_it(self):
        base = {
            "protocol_version": 1,
            "workspace": str(self.workspace),
            "trust": "untrusted",
            "mode": "plan",
        }
        without_trust = {key: value for key, value in base.items() if key != "trust"}
        self.assertIn("trust", str(self.assert_refused("invalid_params", "initialize", without_trust)))
        for change in [{"mode": "fast"}, {"guardrail": []}, {"tools": [{"name": "a"}]}]:
            self.assert_refused("invalid_params", "initialize", {**base, **change})
        twice = {"tools": [tool("read")]}
        self.assertIn("`read`", str(self.assert_refused("invalid_params", "initialize", {**base, **twice})))
        later = self.assert_refused("unsupported_version", "initialize", {**base, "protocol_version": 2})
        self.assertEqual(later.data["supported"], [1])
        gone = {"workspace": str(self.workspace / "gone")}
        self.assert_refused("workspace", "initialize", {**base, **gone})
        # None of them has used the one chance up.
        self.client.initialize(self.workspace)

    # The end.

    def test_shutdown_is_answered_and_ends_the_program(self):
        self.client.initialize(self.workspace)
        self.assertEqual(self.client.shutdown(), 0)

    def test_the_end_of_input_cancels_what_runs_and_ends_the_program(self):
        self.hang()
        call = self.start_hanging()
        self.client.process.stdin.close()
        self.assertEqual(call.result(60)["error"]["kind"], "cancelled")
        self.assertEqual(self.client.wait(), 0)

    def test_a_signal_ends_the_run_and_the_program(self):
        self.hang()
        self.start_hanging(call="c1")
        self.client.process.terminate()
        self.assertEqual(self.client.wait(), 130)


if __name__ == "__main__":
    unittest.main()
