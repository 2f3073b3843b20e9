#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The systemd units and the cron lines of Config/systemd: `systemd-analyze` finds nothing wrong with them, and finds
what is broken in copies of them; the program does what they rely on; and it asks the kernel for nothing that their
sandbox forbids."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import CLIENT_SECRET, DEADLINE, Failure, House, Process, call, expect, program, wait_until

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Config", "systemd")
INSTALLED = "/usr/bin/consent-gateway"
UNITS = ["consent-gateway.service", "consent-gateway-job.service", "consent-gateway-job.timer"]
# Tenths of systemd's exposure, 0 to 100. What is left is the network: it is what the gateway is for.
EXPOSURE = 20
# What each copy has in the place of a line, and what is said of it.
BROKEN = [
    ("consent-gateway.service", r"^ProtectSystem=", "ProtectSytem=", "Unknown key"),
    ("consent-gateway.service", r"^Type=exec", "Type=exce", "Failed to parse"),
    ("consent-gateway.service", r"^ExecStart=\S+", "ExecStart=/usr/bin/nothing", "not executable"),
    ("consent-gateway.service", r"^SystemCallFilter=@system-service$", "SystemCallFilter=@system-servce", "Unknown"),
    ("consent-gateway-job.service", r"^TimeoutStartSec=1h", "TimeoutStartSec=1 our", "Failed to parse"),
    ("consent-gateway-job.timer", r"^OnCalendar=hourly", "OnCalendar=hurly", "Failed to parse"),
]
# Without any one of these the service is more exposed.
WEIGHED = ["User", "CapabilityBoundingSet", "NoNewPrivileges", "ProtectSystem", "ProtectHome", "PrivateTmp",
           "PrivateDevices", "RestrictAddressFamilies", "RestrictNamespaces", "SystemCallFilter"]


def text_of(name):
    with open(f"{FOLDER}/{name}") as file:
        return file.read()


def values(unit, key):
    """What a unit gives a key, line by line."""
    return [line.partition("=")[2] for line in text_of(unit).splitlines() if line.startswith(key + "=")]


def analyze(changed, *arguments):
    """`systemd-analyze` on copies of the units that name the built program, some changed: (status, what it said)."""
    with tempfile.TemporaryDirectory(prefix="consent-gateway-test-") as folder:
        for name in UNITS:
            with open(f"{folder}/{name}", "w") as file:
                file.write(changed.get(name, text_of(name)).replace(INSTALLED, program()))
        done = subprocess.run(["systemd-analyze", *arguments], cwd=folder, capture_output=True, timeout=DEADLINE,
                              env={**os.environ, "SYSTEMD_LOG_TARGET": "console", "SYSTEMD_COLORS": "0"})
    return done.returncode, (done.stdout + done.stderr).decode()


def verified():
    names = [f"./{name}" for name in UNITS]
    status, said = analyze({}, "verify", *names)
    expect(status == 0 and not said, "verify:", said)
    for name, pattern, instead, words in BROKEN:
        broken, count = re.subn(pattern, instead, text_of(name), flags=re.M)
        _, said = analyze({name: broken}, "verify", *names)
        expect(count and words in said, f"verify does not say {words!r} of {instead}:", said)


def exposure(name, text):
    """systemd's figure for a unit with that text, 0.0 to 10.0, and whether it is under the limit."""
    status, said = analyze({name: text}, "security", "--offline=yes", f"--threshold={EXPOSURE}", f"./{name}")
    figure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    expect(figure, said)
    return float(figure[1]), status == 0


def weighed():
    """Both services are under the limit, without their sandbox over it, and more exposed without any line of it."""
    for name in UNITS[:2]:
        whole, is_under = exposure(name, text_of(name))
        expect(is_under, name, "is exposed:", whole)
        bare = text_of(name).partition("# Who it is")[0]
        expect(not exposure(name, bare)[1], name, "passes without a sandbox")
        for key in WEIGHED:
            changed = re.sub(rf"^{key}=.*\n", "", text_of(name), flags=re.M)
            expect(exposure(name, changed)[0] > whole, name, "is no more exposed without", key)
        print(f"  {name}: exposure {whole}, at most {EXPOSURE / 10} allowed")


def sandboxed_alike():
    """The scheduled work lies in the same sandbox as the service."""
    def sandbox(name):
        lines = text_of(name).partition("\nUser=")[2].partition("[Install]")[0].splitlines()
        return [line for line in lines if line and not line.startswith(("#", "LimitNOFILE="))]

    expect(sandbox(UNITS[0]) == sandbox(UNITS[1]), set(sandbox(UNITS[0])) ^ set(sandbox(UNITS[1])))


def system_calls(filters):
    """The system calls that the lines of SystemCallFilter allow."""
    said = subprocess.run(["systemd-analyze", "syscall-filter"], check=True, capture_output=True).stdout.decode()
    sets, name = {}, None
    for line in said.splitlines():
        word = line.strip()
        if line.startswith("@"):
            name = word
            sets[name] = set()
        elif name and word and not word.startswith("#"):
            sets[name].add(word)

    def flat(word):
        return set().union(*map(flat, sets[word])) if word.startswith("@") else {word}

    allowed = set()
    for line in filters:
        words = set().union(*map(flat, line.lstrip("~").split()))
        allowed = allowed - words if line.startswith("~") else allowed | words
    return allowed


def as_the_unit_starts_it(house, credentials):
    """The program with the unit's command line and environment, and its secret in the folder where systemd lays it."""
    for line in values(UNITS[0], "LoadCredential"):
        with open(f"{credentials}/{line.partition(':')[0]}", "w") as file:
            file.write(CLIENT_SECRET + "\n")
    with open(house.config) as file:
        settings = file.read().replace(f"    client_secret: {CLIENT_SECRET}\n", "")
    expect(CLIENT_SECRET not in settings, "the configuration holds the secret still")
    with open(house.config, "w") as file:
        file.write(settings)
    line, = values(UNITS[0], "ExecStart")
    expect(line.split()[:4] == [INSTALLED, "serve", "--config", "/etc/consent-gateway/gateway.yaml"], line)
    environment = dict(line.replace("%d", credentials).split("=", 1) for line in values(UNITS[0], "Environment"))
    return Traced(["serve", "--config", house.config], environment, house)


def is_allowed(trace, state):
    """Holds each call that strace(1) has seen against the sandbox; `state` is the one folder to write to."""
    allowed = system_calls(values(UNITS[0], "SystemCallFilter"))
    # As root, and only as root, SQLite gives its files to the database's owner.
    if os.geteuid() == 0:
        allowed.add("fchown")
    families = set(values(UNITS[0], "RestrictAddressFamilies")[0].split()) | {"AF_UNSPEC"}
    is_proc_bare = values(UNITS[0], "ProcSubset") == ["pid"]
    seen = set()
    for line in trace.splitlines():
        # The program's own start is systemd's doing.
        name = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if not name or name[1] == "execve":
            continue
        seen.add(name[1])
        expect(name[1] in allowed, "the filter forbids", line)
        expect(not re.match(r".*PROT_WRITE\|PROT_EXEC", line), "memory to write and to run:", line)
        family = re.search(r"\bsocket\((AF_\w+)", line)
        expect(not family or family[1] in families, "the sandbox has no such socket:", line)
        path = re.search(r'\bopen(?:at)?\(.*?"([^"]*)", (\S+)', line)
        expect(not path or not is_proc_bare or not re.match(r"/proc/(?!self/)", path[1]), "the sandbox hides", line)
        is_written = path and re.search("O_WRONLY|O_RDWR|O_CREAT", path[2])
        expect(not is_written or path[1].startswith((state, "/dev/")), "the sandbox has it read-only:", line)
    expect({"epoll_wait", "fdatasync", "openat", "socket"} < seen and len(seen) > 40, "little was seen:", sorted(seen))
    return len(seen)


class Traced(Process):
    """The program under strace(1), which writes down each system call of each thread."""

    def __init__(self, arguments, environment, house):
        self.trace = f"{house.folder}/trace"
        super().__init__(arguments, house.log, environment,
                         before=["strace", "-f", "-qq", "-s", "0", "-o", self.trace])
        self.child = int(subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], check=True,
                                        capture_output=True).stdout)


def reloaded(house, gateway):
    """ExecReload's signal, and what the log tells of it."""
    expect(values(UNITS[0], "ExecReload") == ["/bin/kill -HUP $MAINPID"], "another reload")
    os.kill(gateway.child, signal.SIGHUP)
    wait_until(lambda: "were read again" in house.log_text(), "the gateway has read its files again")
    expect(gateway.process.poll() is None, "the gateway has ended")


def served():
    """An exchange, a refresh, a reload and a stop, as the unit has them, watched."""
    house = House()
    credentials = tempfile.TemporaryDirectory(prefix="consent-gateway-test-")
    gateway = None
    try:
        gateway = as_the_unit_starts_it(house, credentials.name)
        status, _, made = house.post_code(gateway.ready["api"], house.fresh_code(), "user-42")
        expect(status == 201, made)
        status, _, made = call(gateway.ready["api"], "POST", f"/v1/consents/{made['id']}/refresh", {},
                               house.authorized())
        expect(status == 200, made)
        reloaded(house, gateway)
        os.kill(gateway.child, signal.SIGTERM)
        expect(gateway.process.wait(timeout=DEADLINE) == 0, "the gateway did not end well")
        with open(gateway.trace, errors="replace") as file:
            return is_allowed(file.read(), house.folder)
    finally:
        if gateway:
            gateway.kill()
        credentials.cleanup()
        house.close()


def timed():
    """The cron lines run what the timer's service runs, and say nothing where nothing is wrong."""
    started = [line.split(maxsplit=1)[1] for line in values(UNITS[1], "ExecStart")]
    table = text_of("consent-gateway.cron").splitlines()
    lines = [line.split(maxsplit=6) for line in table if not line.startswith("#")]
    user, = values(UNITS[0], "User")
    expect([line[5:] for line in lines] == [[user, f"{INSTALLED} {command} >/dev/null"] for command in started], lines)
    house = House()
    try:
        for line in lines:
            expect(all(re.fullmatch(r"[0-9*]+", field) for field in line[:5]), line)
            command = line[6].replace(INSTALLED, program()).replace("/etc/consent-gateway/gateway.yaml", house.config)
            done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=DEADLINE)
            expect(done.returncode == 0 and not done.stdout, command, done)
    finally:
        house.close()


def promised():
    """What the unit makes of the program's exit statuses and of its drain."""
    grace = 75
    expect(f"shutdown_grace: {grace}s" in open(f"{FOLDER}/../production.example.yaml").read(), "another default")
    for name in UNITS[:2]:
        expect(int(values(name, "TimeoutStopSec")[0]) >= grace + 10, name, "is killed while it drains")
    for arguments, status in ((["serve", "--nonsense"], "2"), (["serve", "--config", "/nonexistent"], "3")):
        done = subprocess.run([program(), *arguments], capture_output=True, timeout=DEADLINE)
        expect(str(done.returncode) == status, arguments, "ended with", done.returncode)
        expect(status in values(UNITS[0], "RestartPreventExitStatus")[0].split(), "it is started again and again")


def main():
    if shutil.which("systemd-analyze") is None:
        raise Failure("systemd-analyze is missing: .ci/install brings it")
    verified()
    weighed()
    sandboxed_alike()
    promised()
    timed()
    count = served()
    print(f"systemd: {len(BROKEN)} broken copies found, {len(WEIGHED)} lines weighed, {count} system calls allowed: ok")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"systemd: {failure}")
