#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every shell block of the README, run as a newcomer pastes it: one after the other, in one shell, in a copy of the
repository of its own. No command of a block may fail, and what stands below a block as its output is what came, but for
identifiers, times and the like, and for lines of `…`, which stand for any. Ports that the README names are free ones
in the copy. `readme.py --show` prints what each block put out."""
import difflib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import NamedTuple

from harness import DEADLINE, Failure, program

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# Lines that take long and are run elsewhere: the file that runs them, and the words by which it does.
ELSEWHERE = {
    ".ci/install": ("Tests/EndToEnd/run.sh", ".ci/install"),
    "bash Examples/quickstart.sh": ("Tests/EndToEnd/quickstart.sh", "bash Examples/quickstart.sh"),
    "bash Tests/run.sh": (".ci/run", "bash Tests/run.sh"),
    "swift build -c release --product consent-gateway": (
        "Tests/EndToEnd/run.sh", "swift build -c release --product consent-gateway"),
}
ADDRESSES = ("127.0.0.1:8080", "127.0.0.1:9090", "127.0.0.1:9400", "127.0.0.1:9401", "127.0.0.1:8443", "127.0.0.1:9091")
# Where those addresses stand.
ADDRESSED = ("README.md", "Config/gateway.yaml", "Examples")
NOT_COPIED = shutil.ignore_patterns(".build", ".git", ".swiftpm", "var", "__pycache__")
# What differs from run to run, and what stands for it.
MASKS = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\bcgk_(\w+?)_[\w-]{43}", r"cgk_\1_RANDOM"),
    (r"\b([ke])\d{8}-[0-9a-f]{8}\b", r"\1KEY"),
    (r"\b[0-9a-f]{32,64}\b", "HEX"),
    (r"(?<=cns_)[0-9a-f]{32}\b", "HEX"),
    # A withdrawn grant's revocation is tried beside what the blocks do; each try is an event, with a column's width.
    (r"(?<=cns_HEX-)\d+|(?<=event )\d+|\d+(?= events)", "COUNT"),
    (r"last used (never|TIME)", "last used WHEN"),
    # It counts up every ten seconds.
    (r"(?<=epoch )\d+", "COUNT"),
    (r"(?<=\S) {2,}", "  "),
    (r"\b1\d{12}\b", "MILLISECONDS"),
    (r"(?<=duration_ms=)[\d.]+", "NUMBER"),
    (r"(?<=identity/user/)[\w-]+", "PERSON"),
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
OUTPUTS = ("text", "json")
UNRUN = ("yaml", "swift")


class Block(NamedTuple):
    """Lines for a shell, the README's line where they begin, and what the README says they put out, if it does."""

    line: int
    commands: str
    output: str | None


def blocks(text):
    """The README's shell blocks in order. A Failure for a fence that is neither run, nor output, nor data."""
    found = []
    taken = 0
    for fence in FENCE.finditer(text):
        kind, body = fence.groups()
        line = text.count("\n", 0, fence.start()) + 2
        if kind == "sh":
            found.append(Block(line, body, None))
        elif kind in OUTPUTS:
            if not found or found[-1].output is not None or "\n#" in text[taken:fence.start()]:
                raise Failure(f"README.md:{line}: shown as the output of no block")
            found[-1] = found[-1]._replace(output=body)
        elif kind not in UNRUN:
            raise Failure(f"README.md:{line}: a block of {kind or 'no kind'}, which is not run; shell blocks are `sh`")
        taken = fence.end()
    return found


def run_here(block, used):
    """The block's lines without those that are run elsewhere, each of which is looked up there."""
    lines = []
    for line in block.commands.split("\n"):
        command = line.split("  #")[0].strip()
        if command not in ELSEWHERE:
            lines.append(line)
            continue
        used.add(command)
        file, words = ELSEWHERE[command]
        with open(os.path.join(ROOT, file)) as runner:
            if words not in runner.read():
                raise Failure(f"README.md:{block.line}: {file} does not run `{command}`")
        for word in command.split():
            if "/" in word and not os.path.exists(os.path.join(ROOT, word)):
                raise Failure(f"README.md:{block.line}: there is no {word}")
    return "\n".join(lines)


def masked(text):
    """The text with one word for each thing that differs from run to run, without blanks at the ends of lines."""
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def compare(block, came):
    """A Failure where the block's output is not the README's."""
    shown, came = masked(block.output), masked(came)
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line) + "\n" for line in shown.split("\n"))
    if not re.fullmatch(pattern, came + "\n"):
        lines = difflib.unified_diff(shown.split("\n"), came.split("\n"), "README.md", "what came", lineterm="")
        raise Failure(f"README.md:{block.line}: the output is another\n" + "\n".join(lines))


def free_ports():
    """A free port of loopback for each of the README's addresses."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in ADDRESSES]
    ports = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return {address: f"127.0.0.1:{port}" for address, port in zip(ADDRESSES, ports)}


def replace(text, names):
    for old, new in names.items():
        text = text.replace(old, new)
    return text


class Newcomer:
    """A shell in a fresh copy of the repository, with the program where a build puts it, and nothing else around."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="consent-gateway-readme-")
        self.copy = f"{self.folder}/consent-gateway"
        shutil.copytree(ROOT, self.copy, ignore=NOT_COPIED)
        os.makedirs(f"{self.copy}/.build/release")
        os.symlink(program(), f"{self.copy}/.build/release/consent-gateway")
        os.mkdir(f"{self.folder}/home")
        self.ports = free_ports()
        for name in ADDRESSED:
            self.readdress(f"{self.copy}/{name}")
        kept = {name: os.environ[name] for name in ("LANG", "SWIFTLY_HOME_DIR") if name in os.environ}
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=self.copy, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, start_new_session=True,
            env={"HOME": f"{self.folder}/home", "TMPDIR": self.folder,
                 "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"], **kept})
        # The first command that fails is noted, wherever in a block it stands.
        self.say("set -o pipefail; trap ': \"${FAILED:=$BASH_COMMAND}\"' ERR")

    def readdress(self, path):
        names = [os.path.join(folder, file) for folder, _, files in os.walk(path) for file in files] or [path]
        for name in names:
            with open(name, encoding="utf-8") as file:
                text = file.read()
            with open(name, "w", encoding="utf-8") as file:
                file.write(replace(text, self.ports))

    def say(self, line):
        try:
            self.shell.stdin.write(line + "\n")
            self.shell.stdin.flush()
        except BrokenPipeError:
            raise Failure("the shell has ended") from None

    def paste(self, block, commands):
        """Runs the commands in the shell; returns what they put out."""
        script = f"{self.folder}/block.sh"
        with open(script, "w", encoding="utf-8") as file:
            file.write(replace(commands, self.ports))
        late = threading.Timer(DEADLINE * 2, self.kill)
        late.start()
        try:
            self.say(f"FAILED=; source {script} </dev/null >{script}.out 2>&1; echo done ${{FAILED@Q}}")
            answer = self.shell.stdout.readline()
        finally:
            late.cancel()
        with open(f"{script}.out", encoding="utf-8", errors="replace") as file:
            came = replace(file.read(), {new: old for old, new in self.ports.items()})
        if answer != "done ''\n":
            what = f"{answer[5:].strip()} fails" if answer else "it ends the shell, or takes too long"
            raise Failure(f"README.md:{block.line}: {what}\n{came}")
        return came

    def is_alone(self):
        """Whether all that the blocks started in the background has ended."""
        self.say("jobs -pr | wc -l")
        return self.shell.stdout.readline().strip() == "0"

    def kill(self):
        os.killpg(self.shell.pid, signal.SIGKILL)

    def close(self):
        self.kill()
        self.shell.wait()
        self.shell.stdin.close()
        self.shell.stdout.close()
        shutil.rmtree(self.folder)


def follow(text, is_shown=False):
    """Pastes every block of that README; returns how many there were, and how many of them show their output."""
    found = blocks(text)
    newcomer = Newcomer()
    used = set()
    try:
        for block in found:
            came = newcomer.paste(block, run_here(block, used))
            if is_shown:
                print(f"== README.md:{block.line}\n{block.commands}-- puts out\n{came}")
            elif block.output is not None:
                compare(block, came)
        if not newcomer.is_alone():
            raise Failure("README.md: its blocks leave a process behind")
    finally:
        newcomer.close()
    if set(ELSEWHERE) - used:
        raise Failure(f"no block has {sorted(set(ELSEWHERE) - used)}, which ELSEWHERE names")
    return len(found), sum(block.output is not None for block in found)


def must_fail(text, old, new, words):
    """A README in which one thing is broken has to be found out."""
    if old not in text:
        raise Failure(f"the README has no {old!r} to break")
    try:
        follow(text.replace(old, new, 1))
    except Failure as failure:
        if words not in str(failure):
            raise
        return
    raise Failure(f"a README with {new!r} in place of {old!r} passes")


def main():
    with open(f"{ROOT}/README.md", encoding="utf-8") as file:
        text = file.read()
    if "--show" in sys.argv[1:]:
        follow(text, is_shown=True)
        return
    count, shown = follow(text)
    must_fail(text, "```sh\nconsent-gateway keys init\n", "```sh\nconsent-gateway keys inti\n", "keys inti' fails")
    must_fail(text, "(mode 0600)", "(mode 0644)", "the output is another")
    must_fail(text, "```sh\n", "```bash\n", "which is not run")
    print(f"The README's {count} shell blocks run one after the other, {shown} with the output that it shows;"
          " three broken copies are found out.")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"readme: {failure}")
