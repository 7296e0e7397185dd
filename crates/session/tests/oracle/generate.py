"""Writes a dozen sessions at random, in the layouts of both programs and with the peculiarities of their logs.

    python3 generate.py FOLDER SEED
"""

import datetime
import json
import os
import random
import sys

root, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
clock = datetime.datetime(2026, 3, 1, 9, tzinfo=datetime.timezone.utc)


def now(seconds=None):
    """Returns a later time than before or, occasionally, an earlier one."""
    global clock
    clock += datetime.timedelta(milliseconds=rng.randrange(1, 60_000) if seconds is None else seconds * 1000)
    shown = clock - datetime.timedelta(hours=2) if rng.random() < 0.02 else clock
    return shown.strftime("%Y-%m-%dT%H:%M:%S.") + f"{shown.microsecond // 1000:03}Z"


def uid(prefix):
    return f"{prefix}_{rng.getrandbits(64):016x}"


def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line if isinstance(line, str) else json.dumps(line, ensure_ascii=rng.random() < 0.5) + "\n" for line in lines)


# Claude Code

MODELS = ["claude-opus-5", "claude-sonnet-5", "claude-haiku-4"]


class Claude:
    def __init__(self, session, agent=None, is_inline=False):
        self.lines, self.session, self.agent, self.is_inline = [], session, agent, is_inline

    def record(self, kind, **members):
        record = {"parentUuid": None, "isSidechain": self.agent is not None or self.is_inline, "cwd": "/home/ada/app"}
        record |= {"sessionId": self.session, "version": "2.1.0", "gitBranch": "main", "type": kind}
        if self.agent:
            record["agentId"] = self.agent
        record |= members | {"uuid": uid("u"), "timestamp": now()}
        if rng.random() < 0.2:
            # The order of members differs between versions of the program.
            items = list(record.items())
            rng.shuffle(items)
            record = dict(items)
        return record

    def user(self, content, **members):
        self.lines.append(self.record("user", message={"role": "user", "content": content}, **members))

    def part(self, response, block, output):
        usage = {"input_tokens": response["input"], "output_tokens": output}
        usage |= {"cache_read_input_tokens": response["read"], "cache_creation_input_tokens": response["write"]}
        message = {"type": "message", "role": "assistant", "model": response["model"], "content": [block], "usage": usage}
        if response["id"]:
            message = {"id": response["id"]} | message
        self.lines.append(self.record("assistant", message=message, requestId=uid("req")))

    def response(self):
        figures = [rng.randrange(0, n) for n in (50, 20_000, 3_000)]
        named = dict(zip(("input", "read", "write"), figures))
        return named | {"id": uid("msg") if rng.random() < 0.97 else None, "model": rng.choice(MODELS)}

    def answer(self):
        """Writes a response in parts, possibly interleaved with another one, and the results of its calls."""
        response, other = self.response(), self.response()
        output = rng.randrange(1, 10)
        if rng.random() < 0.5:
            self.part(response, {"type": "thinking", "thinking": "hm" * rng.randrange(2), "signature": "x"}, output)
        if rng.random() < 0.5:
            self.part(response, {"type": "text", "text": "I shall look."}, output)
        if rng.random() < 0.3 and response["id"]:
            self.part(other, {"type": "text", "text": "Meanwhile."}, rng.randrange(1, 900))
        calls = [uid("toolu") for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        for call in calls:
            output += rng.randrange(300)
            self.part(response, {"type": "tool_use", "id": call, "name": rng.choice(["Bash", "Read", "Task"]), "input": {}}, output)
        if rng.random() < 0.2 and calls:
            self.lines.append(self.lines[-1] | {"uuid": uid("u")})
        if not calls:
            self.part(response, {"type": "text", "text": "Done: é, 中."}, output + rng.randrange(900))
        for call in calls:
            self.result(call)

    def result(self, call):
        block = {"tool_use_id": call, "type": "tool_result", "content": rng.choice(["ok", [{"type": "text", "text": "ok"}]])}
        if rng.random() < 0.3:
            block["is_error"] = rng.random() < 0.7
        extra = {"toolUseResult": {"stdout": "ok"}} if rng.random() < 0.8 else {}
        self.user([block], **extra)

    def peculiarity(self):
        what = rng.randrange(14)
        if what == 0:
            self.user("<command-name>/clear</command-name>\n<command-message>clear</command-message>")
        elif what == 1:
            self.user("<local-command-stdout>cleared</local-command-stdout>")
        elif what == 2:
            self.user("<bash-input>ls</bash-input>")
            self.user("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>")
        elif what == 3:
            self.user([{"type": "text", "text": rng.choice(["[Request interrupted by user]", "[Request interrupted by user for tool use]"])}])
        elif what == 4:
            self.user("Caveat: The messages below were generated by the user while running local commands.", isMeta=True)
        elif what == 5:
            self.user("This session is being continued. Summary: …", isCompactSummary=True, isVisibleInTranscriptOnly=True)
        elif what == 6:
            message = {"id": uid("msg"), "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
            message["usage"] = {"input_tokens": 0, "output_tokens": 0}
            self.lines.append(self.record("assistant", message=message, isApiErrorMessage=True))
        elif what == 7:
            self.lines.append(self.record("system", subtype="api_error", level="error", content="overloaded"))
        elif what == 8:
            self.lines.append(self.record("system", subtype="turn_duration", level="info", durationMs=5))
        elif what == 9:
            self.lines.append({"type": "file-history-snapshot", "messageId": uid("m"), "snapshot": {"timestamp": now()}})
        elif what == 10:
            self.lines.append(rng.choice(['{"type": "user", "mess\n', "[1]\n", "\n", '"text"\n']))
        elif what == 11:
            inline = Claude(self.session, is_inline=True)
            inline.user("Explore the code.")
            inline.answer()
            self.lines += inline.lines
        elif what == 12:
            self.user([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "and this?"}])
        else:
            self.user([{"type": "image", "source": {"type": "base64", "data": "AA=="}}])

    def turn(self):
        self.user(rng.choice(["What is wrong?", [{"type": "text", "text": "Mend the test."}], "<b>now</b> what?"]))
        for _ in range(rng.randrange(4)):
            if rng.random() < 0.5:
                self.peculiarity()
            self.answer()
        if rng.random() < 0.5:
            self.peculiarity()


def claude(number):
    session, project = f"{number:08x}-0000-4000-8000-{rng.getrandbits(48):012x}", os.path.join(root, "claude/projects/-home-ada-app")
    log = Claude(session)
    if rng.random() < 0.5:
        log.lines.append({"type": "summary", "summary": "An older title", "leafUuid": uid("u")})
    for _ in range(rng.randrange(1, 8)):
        log.turn()
    for kind, name in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
        if rng.random() < 0.3:
            log.lines.append({"type": kind, name: f"A title by {kind}", "sessionId": session})
    if rng.random() < 0.3:
        log.lines.append('{"type": "assistant", "message": {"role": "assi')
    write(os.path.join(project, f"{session}.jsonl"), log.lines)
    for place in ("subagents", "subagents", "subagents/workflows/wf_1", ""):
        if rng.random() < 0.6:
            name = f"agent-{rng.getrandbits(68):017x}"
            agent = Claude(session, agent=name)
            if rng.random() < 0.3:
                # A response that is also in the parent's log counts once.
                agent.lines += [line for line in log.lines if isinstance(line, dict) and line.get("isSidechain")]
            for _ in range(rng.randrange(1, 3)):
                agent.turn()
            folder = os.path.join(project, session, place) if place else project
            write(os.path.join(folder, f"{name}.jsonl"), agent.lines)


# Amplifier


class Amplifier:
    def __init__(self, session):
        self.session, self.events, self.messages = session, [], []

    def event(self, event, data=None, **members):
        record = {"ts": now(), "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": event}
        if rng.random() < 0.7:
            record["session_id"] = self.session
        record |= members
        if data is not None:
            record["data"] = data
        if rng.random() < 0.03:
            del record["ts"]
        self.events.append(record)

    def response(self):
        read, fresh = rng.choice([0, rng.randrange(9_000)]), rng.randrange(1, 900)
        usage = {"input_tokens": fresh + read, "output_tokens": rng.randrange(500), "cache_read_tokens": read, "cache_write_tokens": rng.randrange(90)}
        if rng.random() < 0.2:
            usage = {"input": fresh, "output": 7}
        data = {"provider": "p", "model": rng.choice(["m-1", "m-2"])}
        if rng.random() < 0.95:
            data["usage"] = usage
        extra = {"status": "error", "lvl": "ERROR"} if rng.random() < 0.05 else {"duration_ms": 5}
        self.event("llm:response", data, **extra)
        for _ in range(rng.randrange(3)):
            self.event("content_block:end", {"usage": usage})
        if rng.random() < 0.3:
            self.event("provider:response", {"usage": usage})

    def call(self):
        call, tool = uid("call"), rng.choice(["bash", "grep"])
        self.event(rng.choice(["tool:pre", "tool:pre", "tool:call"]), {"tool_name": tool, "tool_call_id": call, "tool_input": {"error": "x"}})
        if rng.random() < 0.05:
            self.event("tool:pre", {"tool_name": tool, "tool_call_id": call})
        named = rng.choice(["result", "tool_result"])
        ends = [
            ("tool:error", {"error": {"type": "E", "msg": "Boom"}}, {"lvl": "ERROR"}),
            ("tool:post", {named: {"success": False, "error": {"message": "no such file"}}}, {}),
            ("tool:result", {named: {"success": False, "output": "bad"}}, {}),
        ]
        ends += [("tool:post", {named: {"success": True, "output": "ok", "error": None}}, {})] * 6
        event, data, members = rng.choice(ends)
        self.event(event, {"tool_name": tool, "tool_call_id": call} | data, **members)

    def turn(self, begins):
        self.event(begins, {"prompt": "What is wrong?"})
        self.messages.append({"role": "user", "content": "What is wrong?"})
        for _ in range(rng.randrange(4)):
            self.event("llm:request", {"messages": ["all", "of", "it"], "model": "m-1"})
            self.response()
            for _ in range(rng.randrange(3)):
                self.call()
        if rng.random() < 0.2:
            self.events.append(rng.choice(['{"ts": "2026-\n', "[1]\n", '{"event": "x"}\n']))
        if rng.random() < 0.2:
            self.event("provider:retry", {"success": False}, error=rng.choice([None, "429", False]))
        if rng.random() < 0.8:
            self.event("prompt:complete", {"response": "Done."})
        self.messages.append({"role": "assistant", "content": "Done."})

    def write(self, **described):
        folder = os.path.join(root, "amplifier/projects/-home-ada-app/sessions", self.session)
        write(os.path.join(folder, "events.jsonl"), self.events)
        write(os.path.join(folder, "transcript.jsonl"), self.messages)
        about = {"session_id": self.session, "created": now(), "updated": now(), "name": f"Session {self.session}"} | described
        write(os.path.join(folder, "metadata.json"), [about])


def amplifier(number):
    log = Amplifier(f"{number:08x}-0000-4000-8000-{rng.getrandbits(48):012x}")
    for _ in range(rng.randrange(1, 8)):
        log.turn("prompt:submit")
    copies, parent = [e for e in log.events if isinstance(e, dict)], log.session
    for _ in range(rng.randrange(3)):
        child = Amplifier(f"{rng.getrandbits(64):016x}-{rng.getrandbits(64):016x}_agent")
        for _ in range(rng.randrange(1, 3)):
            child.turn("execution:start")
        child.write(parent_id=parent)
        parent = rng.choice([parent, child.session])
        # A parent may repeat what its child logs.
        log.events += [event | {"session_id": child.session} for event in child.events if isinstance(event, dict)][:5]
    log.write()
    if rng.random() < 0.5:
        fork = Amplifier(f"{number:08x}-ffff-4000-8000-{rng.getrandbits(48):012x}")
        fork.events += copies
        forked = now(10_000)
        fork.turn("prompt:submit")
        fork.write(parent_id=log.session, forked_from_turn=1, forked_at=forked)


for number in range(12):
    (claude if number % 2 else amplifier)(number)
