# SPDX-License-Identifier: Apache-2.0
"""One provider kind and one number of processes: a store, its gateways, a pool of grants, and rounds in each of which a
process is killed or stopped, or the store goes away, at a step of some refreshes; and rounds in which the provider
refuses everybody for a while."""
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))
import harness  # noqa: E402
import stores  # noqa: E402
from harness import Failure, House, Process, call, program, random_word, run  # noqa: E402
from store_outage import FullDisk, Lock, move_to_small_disk  # noqa: E402

from ledger import Ledger  # noqa: E402
from watching import Watch, is_running, is_stopped  # noqa: E402

KINDS = {"static": ("static", "static"), "grace": ("grace:30", "{ grace: 30s }"),
         "forbidden": ("reuse_detection", "forbidden")}
LIFETIME = 4
ANSWER = 3
STOPPED_FOR = ANSWER + 0.5
# A step of the provider's side, and for how many milliseconds at most the process lives on.
KILL_STEPS = [("posted", 14), ("request", 0), ("request", 3), ("taken", 0), ("answer", 0), ("half", 0), ("answered", 0),
              ("answered", 2), ("answered", 5), ("answered", 12), ("told", 0), ("told", 2)]
STOP_STEPS = ["posted", "request", "taken", "answer", "half", "answered"]
# A claim's lease where a process is stopped for longer than it; connect + `answer` + 30 s is the least.
SHORT_LEASE = 36
LEASE_STEPS = ["claimed", "answered", "taken", "half", "request", "answer"]
OUTAGE_STEPS = ["posted", "request", "taken", "answer", "half", "answered"]
POOL = 24
# How many others are refreshed before grants that may have died of a round are looked at.
LIVING = 8
# How often a round leaves it to the schedulers and a `job` to refresh what is due.
UNASKED = 0.2
GRANTS_AT_ONCE = 3
# How long a grant in doubt may take to come to a definite answer.
PATIENCE = 90.0


class Combination:
    """Everything of one kind and one number of processes."""

    def __init__(self, kind, processes, seed, part="lock", lease=None):
        """`part`: what takes the store away: `lock`, somebody holds it; `disk`, it is full, or its server is killed;
        `cut`, its connections are ended again and again."""
        self.kind, self.processes = kind, processes
        self.random = random.Random(seed)
        mode, reuse = KINDS[kind]
        self.ledger = Ledger(kind, LIFETIME, time.monotonic(), lease or 120)
        settings = (f"    refresh_token_reuse: {reuse}\n"
                    f"    timeouts: {{ connect: 1s, total: 2s, answer: {ANSWER}s }}\n"
                    + (f"refresh: {{ lease: {lease}s }}\n" if lease else ""))
        # A server that goes away is the piece's own, as a full disk is.
        is_on_small_disk = part == "disk"
        self.server = stores.PostgresServer() if is_on_small_disk and stores.kind() == "postgres" else None
        if self.server:
            os.environ["CONSENT_GATEWAY_TEST_POSTGRES"] = self.server.url
        self.house = House(
            simulator_arguments=["--refresh-tokens", mode, "--fault", f"expires_in={LIFETIME}"],
            provider_settings=settings, through=lambda url: Watch(url, self.ledger))
        self.is_possible = (not is_on_small_disk or self.server is not None
                            or move_to_small_disk(self.house, f"{self.house.home}/disk"))
        self.outage = self.make_outage(part) if self.is_possible else None
        self.watch = self.house.proxy
        self.watch.pids = lambda: [one.pid for one in self.gateways] + [one.pid for one in self.commands]
        self.watch.hold = self.hold
        self.watch.generation = self.generation
        self.gateways, self.commands, self.log_number = [], [], 0
        # Identifier of a consent to its family, and those whose fate is not settled yet: (since, step).
        self.grants, self.unsettled, self.consent_of = {}, {}, {}
        self.tally, self.next_trial = {}, {}
        self.kills = self.stops = self.outages = self.long_stops = self.verdicts = self.renewed = 0
        # What an operator says of verdicts that are held.
        self.decision = "confirm"
        self.killing = threading.Lock()

    def make_outage(self, part):
        if self.server:
            return stores.ServerAway(self.server)
        return {"disk": FullDisk, "cut": stores.CutConnections}.get(part, Lock)(self.house)

    def hold(self):
        """Mostly a quick provider; now and then one that answers after `total` and before `answer`."""
        return 2.3 if self.random.random() < 0.02 else self.random.uniform(0, 0.02)

    def serve(self):
        self.log_number += 1
        log = f"{self.house.home}/gateway-{self.log_number}.log"
        gateway = Process(["serve", "--config", self.house.config], log)
        gateway.log_path, gateway.journaled = log, 0
        self.ledger.note(gateway.pid, f"gateway {self.log_number}")
        self.gateways.append(gateway)
        return gateway

    def fill(self, pool=POOL):
        """As many gateways and grants as belong here."""
        while len(self.gateways) < self.processes:
            self.serve()
        while len(self.grants) < pool:
            code = self.house.fresh_code()
            self.house.codes.clear()
            status, _, body = self.post_code(code)
            if status != 201:
                raise Failure(f"no new grant: {status} {body}")
            self.grants[body["id"]] = self.ledger.family_of_code[code]
            self.consent_of[self.grants[body["id"]]] = body["id"]

    def post_code(self, code):
        subject, end = f"user-{random_word()}", time.monotonic() + 30
        while True:
            answer = self.house.post_code(self.random.choice(self.gateways).ready["api"], code, subject)
            if answer[0] != 503 or time.monotonic() > end:
                return answer
            time.sleep(0.1)

    def count(self, what, outcome):
        self.tally[(what, outcome)] = self.tally.get((what, outcome), 0) + 1

    # Looking.

    def generation(self, family):
        """Of the family's record, as the store has it now; None where it cannot be read."""
        consent = self.consent_of.get(family)
        if not consent:
            return None
        try:
            rows = self.house.store.execute(
                [f"SELECT generation FROM consents WHERE id = {self.house.store.blob(consent[4:])}"])
        except (sqlite3.Error, OSError):
            return None
        return int(rows[0][0]) if rows else None

    def freeze(self, pid):
        """Stops it, then looks at what is kept of all that its end could take away."""
        self.ledger.note(pid, "to be killed")
        os.kill(pid, signal.SIGSTOP)
        end = time.monotonic() + 1
        while is_running(pid) and not is_stopped(pid) and time.monotonic() < end:
            time.sleep(0.0005)
        self.see_kept(self.ledger.sendings_of(pid))

    def see_kept(self, sendings):
        """Looks at what the store has of these answers: once it is away nobody can."""
        for family in {one.family for one in sendings if one.status == 200 and not one.is_kept}:
            generation = self.generation(family)
            if generation is not None:
                self.ledger.saw(family, generation)

    def end(self, pid):
        """Kills a frozen process, in the accounts first."""
        now = time.monotonic()
        self.ledger.note_gaps(pid, now)
        self.ledger.ended(pid, now)
        self.ledger.note(pid, "killed")
        os.kill(pid, signal.SIGKILL)

    # Asking.

    def ask(self, consent, gateway):
        """One refresh over HTTP: (status, body), or None where no answer came."""
        try:
            status, _, body = call(gateway.ready["api"], "POST", f"/v1/consents/{consent}/refresh", None,
                                   self.house.authorized(), timeout=20)
        except OSError:
            return None
        if status == 200:
            self.ledger.told(self.grants[consent])
        return status, body

    def command(self, *arguments):
        """Runs one beside the gateways; it may be killed and stopped as they are. Whether it ended well."""
        with open(f"{self.house.home}/commands.log", "ab") as log:
            process = subprocess.Popen([program(), *arguments, "--config", self.house.config, "--json"],
                                       stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        process.was_killed = False
        self.commands.append(process)
        self.ledger.note(process.pid, " ".join(arguments))
        status = process.wait(timeout=60)
        self.ledger.note(process.pid, f"ended with {status}")
        if status >= 0:
            self.ledger.ended(process.pid, time.monotonic(), is_kill=False)
        elif not process.was_killed:
            self.ledger.breaches.append(f"crashed: {arguments} ended with {status}")
        self.commands.remove(process)
        return status == 0

    def ask_by_command(self, consent):
        if self.command("refresh", consent):
            self.ledger.told(self.grants[consent])

    def nudge(self, consents):
        """Makes them due, for the schedulers and for a `job`; returns the threads that wait for what comes of it."""
        sent = len(self.ledger.sendings)
        due = int(time.time() * 1000) - 1000
        self.house.store.execute([
            f"UPDATE consents SET due_at = {due} WHERE id = {self.house.store.blob(consent[4:])} "
            "AND attempt_phase IS NULL AND due_at IS NOT NULL" for consent in consents])

        def wait():
            end = time.monotonic() + 6
            while len(self.ledger.sendings) < sent + len(consents) and time.monotonic() < end:
                time.sleep(0.01)
            # For the answers.
            time.sleep(0.1)

        threads = [threading.Thread(target=wait, daemon=True)]
        if self.random.random() < 0.6:
            threads.append(threading.Thread(target=self.command, args=("job",), daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def ask_all(self, consents, then=lambda: None):
        """Asks for each in more than one place at once; returns the threads."""
        threads = []
        for consent in consents:
            places = self.random.sample(self.gateways, min(len(self.gateways), 2)) * (1 if self.processes > 1 else 2)
            for gateway in places:
                def one(consent=consent, gateway=gateway):
                    answer = self.ask(consent, gateway)
                    if answer and answer[0] == 200:
                        then()
                threads.append(threading.Thread(target=one, daemon=True))
            if self.processes > 1 and self.random.random() < 0.2:
                threads.append(threading.Thread(target=self.ask_by_command, args=(consent,), daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def join(self, threads):
        end = time.monotonic() + 60
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                raise Failure(f"{self.kind}, {self.processes}: a caller had no answer for 60 s")

    def chosen(self):
        ready = [one for one in self.grants if one not in self.unsettled]
        return self.random.sample(ready, min(GRANTS_AT_ONCE, len(ready)))

    # Rounds.

    def kill_round(self, step, delay):
        self.open_up()
        once, consents = Once(), self.chosen()

        def strike(owner):
            if once.take():
                time.sleep(self.random.uniform(0, delay) / 1000)
                self.kill(owner)
                once.is_over.set()

        def at(name, sending):
            sending.step = sending.step or f"kill at {step}"
            if name == step:
                strike(sending.owner)
                return sending.owner is None or is_running(sending.owner) or self.random.random() < 0.5
            return True

        self.watch.at = at
        if self.random.random() < UNASKED and step != "told":
            threads = self.nudge(consents)
        else:
            threads = self.ask_all(consents, then=lambda: strike(None) if step == "told" else None)
        if step == "posted":
            strike(None)
        self.join(threads)
        self.watch.at = lambda name, sending: True
        strike(None)
        once.is_over.wait(harness.DEADLINE)
        self.fill()
        self.settle(consents, f"killed at {step}")

    def kill(self, owner):
        """The process that sent, or any; and now and then another one with it."""
        command = next((one for one in self.commands if one.pid == owner), None)
        if command:
            self.kill_command(command)
            return
        victims = [one for one in self.gateways if one.pid == owner] or [self.random.choice(self.gateways)]
        if self.random.random() < 0.25:
            victims = list(self.gateways)
        for victim in victims:
            self.freeze(victim.pid)
        for victim in victims:
            self.end(victim.pid)
        for victim in victims:
            victim.kill()
            self.gateways.remove(victim)
            os.remove(victim.log_path)
            self.kills += 1

    def kill_command(self, command):
        if not is_running(command.pid):
            return
        command.was_killed = True
        try:
            self.freeze(command.pid)
            self.end(command.pid)
            self.kills += 1
        except ProcessLookupError:
            pass

    def stop_round(self, step):
        self.open_up()
        once, consents, resumed = Once(), self.chosen(), threading.Event()

        def strike(pid):
            if not once.take():
                return
            pid = pid or self.random.choice(self.gateways).pid
            os.kill(pid, signal.SIGSTOP)
            self.ledger.stopped(pid, time.monotonic())
            self.stops += 1
            threading.Timer(STOPPED_FOR, go_on, (pid,)).start()

        def go_on(pid):
            self.ledger.went_on(pid, time.monotonic())
            os.kill(pid, signal.SIGCONT)
            resumed.set()

        def at(name, sending):
            sending.step = sending.step or f"stop at {step}"
            if name == step and sending.owner:
                strike(sending.owner)
            return True

        self.watch.at = at
        threads = self.nudge(consents) if self.random.random() < UNASKED else self.ask_all(consents)
        if step == "posted":
            strike(None)
        self.join(threads)
        self.watch.at = lambda name, sending: True
        if once.is_taken and not resumed.wait(STOPPED_FOR + 10):
            raise Failure("a stopped process did not go on")
        self.settle(consents, f"stopped at {step}")

    def long_stop_round(self, step):
        """A process is stopped for longer than its lease, and others are asked for the same grants all the while."""
        self.open_up()
        once, consents, over = Once(), self.chosen(), threading.Event()
        stopped, begun = [], threading.Event()

        def strike(pids):
            if not once.take():
                return
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
                self.ledger.stopped(pid, time.monotonic())
                stopped.append(pid)
            self.long_stops += 1
            begun.set()
            threading.Timer(SHORT_LEASE + 4, go_on).start()

        def go_on():
            for pid in stopped:
                self.ledger.went_on(pid, time.monotonic())
                os.kill(pid, signal.SIGCONT)
            over.set()

        def at(name, sending):
            sending.step = sending.step or f"long stop at {step}"
            if name == step and sending.owner in [one.pid for one in self.gateways]:
                strike([sending.owner])
            return True

        self.watch.at = at
        threads = self.ask_all(consents)
        if step == "claimed":
            if self.see_claim(time.monotonic() + 1):
                strike([one.pid for one in self.gateways])
        begun.wait(5)
        while begun.is_set() and not over.wait(1.0):
            for consent in consents:
                self.ask_by_command(consent)
                living = [one for one in self.gateways if one.pid not in stopped]
                if living:
                    self.ask(consent, self.random.choice(living))
        self.join(threads)
        self.watch.at = lambda name, sending: True
        self.settle(consents, f"stopped beyond its lease at {step}")

    def see_claim(self, end):
        """Whether a grant was seen to be claimed."""
        while time.monotonic() < end:
            if self.house.store.execute(["SELECT count(*) FROM consents WHERE attempt_phase = 'sent'"])[0][0]:
                return True
        return False

    def verdict_round(self, kills):
        """The provider says of every grant that it is over, while processes are killed and the store goes away; then it
        comes to its senses, and an operator says that none of it was so. Nothing may be lost."""
        self.settle_all()
        self.open_up()
        consents, left = list(self.grants), [kills]

        def at(name, sending):
            sending.step = sending.step or "everybody refused"
            if name in ("request", "refused") and self.random.random() < 0.1:
                with self.killing:
                    mine = [one.pid for one in self.gateways + self.commands]
                    if left[0] > 0 and sending.owner in mine:
                        left[0] -= 1
                        self.kill(sending.owner)
                        return False
            return True

        self.watch.at, self.watch.refuses = at, True
        self.condemn(consents)
        self.outage.take()
        self.outages += 1
        threads = self.ask_all(self.random.sample(consents, 2))
        self.ask_by_command(self.random.choice(consents))
        self.outage.release()
        self.join(threads)
        self.fill()
        self.watch.at, self.watch.refuses = lambda name, sending: True, False
        self.verdicts += 1
        self.decision = "dismiss"
        if self.random.random() < 0.5:
            threading.Timer(self.random.uniform(0, 0.15), self.kill_decision).start()
        while not self.command("incidents", "dismiss", "paypal"):
            pass
        self.settle(consents, "everybody was refused")
        self.settle_all()
        self.decision = "confirm"

    def condemn(self, consents):
        """Asks until the provider's verdicts are held."""
        end = time.monotonic() + PATIENCE
        while "held_verdicts" not in run("incidents", "--config", self.house.config, "--json").decode():
            if time.monotonic() > end:
                raise Failure("a provider that refuses everybody, and its verdicts are not held")
            self.join(self.ask_all(self.random.sample(consents, 6)))
            self.fill()
            # One at a time where an answer was lost: an operator's word is a trial.
            self.ask_by_command(self.random.choice(consents))

    def kill_decision(self):
        for command in list(self.commands):
            self.kill_command(command)

    def settle_all(self):
        while self.unsettled:
            self.settle_those_that_can()
            time.sleep(0.1)

    def outage_round(self, step):
        self.open_up()
        once, consents = Once(), self.chosen()
        length = 4.5 if self.random.random() < 0.15 else self.random.uniform(0.2, 1.5)
        kills = self.random.random() < 0.35
        before = {one: self.record(one) for one in consents}
        over = threading.Event()
        begun_with = len(self.ledger.sendings)

        def strike(owner):
            if not once.take():
                return
            for one in self.gateways:
                one.journaled = journal_lines(one)
            self.see_kept(self.ledger.sendings[-60:])
            self.outage.take()
            self.outages += 1
            self.mark()
            threading.Thread(target=end, args=(owner,), daemon=True).start()

        def end(owner):
            if kills and step != "posted":
                time.sleep(self.random.uniform(0, 0.8) * length)
                victim = next((one for one in self.gateways if one.pid == owner), None)
                if victim:
                    self.see_journal(victim)
                    self.kill_one(victim)
            else:
                time.sleep(length)
            self.mark()
            sent = len(self.ledger.sendings)
            self.outage.release()
            if step == "posted" and isinstance(self.outage, Lock) and sent > begun_with:
                self.ledger.breach("sent though the store took no claim", self.ledger.sendings[sent - 1].family)
            over.set()

        def at(name, sending):
            sending.step = sending.step or f"outage at {step}"
            sending.met_outage = once.is_taken and not over.is_set()
            if name == step:
                strike(sending.owner)
                sending.met_outage = not over.is_set()
            return True

        self.watch.at = at
        if step == "posted":
            strike(None)
        threads = self.ask_all(consents)
        if not over.wait(30) and once.is_taken:
            raise Failure("an outage did not end")
        self.join(threads)
        self.watch.at = lambda name, sending: True
        if step == "posted" and len(self.ledger.sendings) == begun_with:
            self.unchanged(before)
        self.fill()
        self.settle(consents, f"outage at {step}")

    def mark(self):
        """Those that were under way when the store went or came."""
        for sending in self.ledger.sendings[-60:]:
            if sending.closed_at is None and not sending.is_kept and (
                    sending.delivered_at is None or time.monotonic() - sending.delivered_at < 1):
                sending.met_outage = True

    def see_journal(self, gateway):
        """As many answers as its log names since the outage began lie in its journal: they are safe."""
        mine = [one for one in self.ledger.sendings
                if one.owner == gateway.pid and one.delivered_at is not None and one.met_outage and not one.is_kept]
        if journal_lines(gateway) - gateway.journaled >= len(mine):
            for sending in mine:
                sending.is_kept = True

    def kill_one(self, victim):
        self.freeze(victim.pid)
        self.end(victim.pid)
        victim.kill()
        self.gateways.remove(victim)
        self.kills += 1

    def record(self, consent):
        """As a gateway tells it; None where none does for a while. One whose store has just come back may not yet."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for gateway in self.gateways:
                try:
                    status, _, body = call(gateway.ready["api"], "GET", f"/v1/consents/{consent}", None,
                                           self.house.authorized())
                except OSError:
                    continue
                if status == 200:
                    return body
            time.sleep(0.1)
        return None

    def unchanged(self, before):
        """What our store could not do is not counted against a grant."""
        for consent, record in before.items():
            now = self.record(consent)
            if record and now and now["refresh_failures"] != record["refresh_failures"]:
                self.ledger.breach(
                    f"blamed: {record['refresh_failures']} failures became {now['refresh_failures']} by our own outage",
                    self.grants[consent])

    # Settling.

    def settle(self, consents, what):
        now = time.monotonic()
        for consent in consents:
            self.unsettled.setdefault(consent, (now, what))
        if self.kind == "forbidden" and len(self.unsettled) < len(self.grants):
            self.open_up()
            self.live_on(LIVING)
        self.settle_those_that_can()

    def settle_those_that_can(self):
        for consent, (since, what) in list(self.unsettled.items()):
            answer = self.ask(consent, self.random.choice(self.gateways))
            now = time.monotonic()
            if answer and answer[0] == 503 and now > max(since + LIFETIME, self.next_trial.get(consent, 0)):
                # An operator's word is a trial at once; his, too, is what verdicts that are held wait for.
                self.next_trial[consent] = now + 3
                self.ask_by_command(consent)
                if now > since + 2 * LIFETIME:
                    self.command("incidents", self.decision, "paypal")
            if answer and answer[0] == 200:
                self.decide(consent, what, answer[1]["status"], answer[1]["status_reason"])
            elif answer and answer[0] == 409:
                record = self.record(consent)
                self.decide(consent, what, record["status"], record["status_reason"])
            elif now - since > PATIENCE:
                self.decide(consent, what, "undecided", f"{answer}")

    def decide(self, consent, what, status, reason):
        del self.unsettled[consent]
        outcome = self.ledger.judge(self.grants[consent], status, reason, time.monotonic())
        self.count(what, outcome)
        self.next_trial.pop(consent, None)
        if outcome != "alive":
            del self.grants[consent]
            self.renewed += 1
            self.fill()

    def live_on(self, count):
        """Most grants are well, as a provider's are: else all that die of lost answers are held to be its fault."""
        for consent in self.random.sample(list(self.grants), len(self.grants)):
            if count and consent not in self.unsettled:
                count -= 1
                self.ask(consent, self.random.choice(self.gateways))

    def open_up(self):
        """Until a refresh gets through: one that nobody knows the end of may have closed the way to the provider."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ready = [one for one in self.grants if one not in self.unsettled]
            if not ready:
                self.settle_those_that_can()
                continue
            consent = self.random.choice(ready)
            answer = self.ask(consent, self.random.choice(self.gateways))
            if answer and answer[0] == 200 or self.command("refresh", consent):
                return
            if answer and answer[0] == 409:
                self.unsettled.setdefault(consent, (time.monotonic(), "between rounds"))
                self.settle_those_that_can()
        raise Failure(f"{self.kind}, {self.processes}: no refresh got through for {PATIENCE:.0f} s")

    def finish(self):
        """Waits for what is in doubt, then refreshes every grant once more."""
        self.fill()
        self.settle_all()
        self.settle(list(self.grants), "at the end")
        self.settle_all()
        self.compare()

    def compare(self):
        """The provider's own count of each refresh token must be that of these accounts."""
        _, _, log = call(self.house.provider_url, "GET", "/simulator/log?limit=200000")
        theirs = sum(entry["sent"] for entry in log["refresh_tokens"])
        ours = sum(one.is_forwarded for one in self.ledger.sendings)
        if theirs != ours:
            self.ledger.breaches.append(f"the provider counts {theirs} sendings, these accounts {ours}")

    def close(self):
        for gateway in self.gateways:
            gateway.kill()
        if self.outage:
            self.outage.close()
        self.house.close()
        if self.server:
            self.server.remove()


def journal_lines(gateway):
    """How many answers its log says lie in its journal, since it began."""
    with open(gateway.log_path, errors="replace") as log:
        return log.read().count("it lies in the journal")


class Once:
    """True for whoever takes it first, who tells when what followed is over."""

    def __init__(self):
        self.lock, self.is_taken, self.is_over = threading.Lock(), False, threading.Event()

    def take(self):
        with self.lock:
            was, self.is_taken = self.is_taken, True
            return not was


harness.DEADLINE = max(harness.DEADLINE, 60.0)
