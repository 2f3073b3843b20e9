# SPDX-License-Identifier: Apache-2.0
"""The accounts of a torture: every sending of a refresh token as the provider's side saw it, what the gateway was seen
to do with the answer, and the breaches that follow. No I/O here: made-up histories are held against the rules at each
run.

When an answer counts as arrived: once it is where a process's end cannot take it away. A process that is to be killed
is frozen first, and what the store has of its grants by then, or its log tells of the journal, is looked at (`kept`).
What was kept must live on, and its token must never go out again, from that moment, not from some time after. What was
delivered to the socket and was not kept yet when the process died is in the *gap*: nobody can have it any more, and the
grant may be lost with it, by name. Gaps are counted, and measured from the answer's last byte to the kill; one longer
than ENOUGH_TO_SAVE of a process that was free to run and had a store is a breach: an answer counts as arrived by then in
any case."""
import dataclasses
import threading
import time

# Seconds that an undisturbed process needs at most to read an answer that lies in its socket and to commit it.
ENOUGH_TO_SAVE = 1.0
# Seconds by which the gateway's idea of when an access token lapses may precede what is seen here.
CLOCK_TOLERANCE = 1.0


@dataclasses.dataclass
class Sending:
    """One refresh token on its way, and what became of the answer; times of the monotonic clock, in seconds."""
    number: int
    token: str
    family: str
    at: float
    # Process that sent it; None where it could not be told.
    owner: int = None
    step: str = ""
    killed_at: float = None
    is_forwarded: bool = False
    status: int = None
    # The refresh token that came back, where another one did.
    brought: str = None
    delivered_at: float = None
    closed_at: float = None
    # Whether the store was out of reach meanwhile: then only a journal's line shows that the answer is safe.
    met_outage: bool = False
    # When the sender was stopped last, and until when.
    stopped_at: float = None
    stopped_until: float = None
    # It was told as done, or lies in the journal, or the store was seen to have it.
    is_kept: bool = False
    # The generation of the record when it was sent.
    generation: int = None
    # The proxy refused it by itself: the provider knows nothing of it.
    is_forged: bool = False
    # Somebody sent the token again when the lease of this one's stopped owner was over.
    is_outlived: bool = False

    def is_open(self):
        """Whether its sender may still read from the connection, as far as was seen."""
        return self.killed_at is None and (self.owner is not None or self.closed_at is None)

    def could_be_received(self, has_lasting_token):
        """Whether the answer is still on its way, or in the socket of a process that lives."""
        if self.delivered_at is None:
            return self.closed_at is None and self.killed_at is None
        if self.status != 200 or not self.is_open() or self.is_kept:
            return False
        # A token that lasts may be sent again as soon as the answer is read; a process that was stopped right after it
        # came has not read it.
        return not has_lasting_token or (self.is_stopped() and self.stopped_at - self.delivered_at < ENOUGH_TO_SAVE)

    def is_stopped(self):
        return self.stopped_at is not None and self.stopped_until is None

    def is_received(self, now):
        """Whether a gateway had the answer for certain: it was told, or the process lived on with it long enough."""
        if self.status != 200 or self.delivered_at is None:
            return False
        if self.is_kept:
            return True
        if self.is_stopped() or (self.met_outage and not self.is_open()):
            return False
        end = now
        if self.killed_at is not None:
            end = self.killed_at
        elif self.owner is None and self.closed_at is not None:
            end = self.closed_at
        return end - max(self.delivered_at, self.stopped_until or 0) >= ENOUGH_TO_SAVE

    def line(self, start):
        def ago(moment):
            return "-" if moment is None else f"{moment - start:.3f}"
        return (f"#{self.number} ...{self.token[-6:]} sent {ago(self.at)} by {self.owner} ({self.step}), "
                f"{'taken' if self.is_forwarded else 'never arrived'}, answer {self.status}, delivered "
                f"{ago(self.delivered_at)}, closed {ago(self.closed_at)}, killed {ago(self.killed_at)}, "
                f"kept {self.is_kept}, outage {self.met_outage}, stopped {ago(self.stopped_at)} to "
                f"{ago(self.stopped_until)}")


class Ledger:
    """`kind`: `static`, `grace` or `forbidden`; `lifetime`: of access tokens, and `lease`: of a claim, in seconds."""

    def __init__(self, kind, lifetime, start=0.0, lease=120.0):
        self.kind, self.lifetime, self.start, self.lease = kind, lifetime, start, lease
        self.lock = threading.Lock()
        self.sendings = []
        self.by_family = {}
        # When processes were killed or ended, and since when some are stopped.
        self.ends, self.stops = {}, {}
        # What each process is, and what was done to it: for whoever reads a breach.
        self.lives = {}
        # When the refresh token that a family has now was asked for.
        self.asked_at = {}
        self.family_of_code = {}
        self.breaches = []
        self.doubled = 0
        self.early = 0
        self.dead_families = set()
        self.named_ambiguous = set()
        self.lost = set()
        # Seconds that killed processes had had answers for which were not kept yet.
        self.gaps = []
        # Families one of whose tokens was sent again after the lease of its stopped owner.
        self.outlived = set()

    # What is seen at the provider.

    def exchanged(self, code, token, asked_at):
        with self.lock:
            self.family_of_code[code] = family_of(token)
            self.asked_at[token] = asked_at

    def sent(self, token, now, owner=None, step="", look=lambda sending: None, generation=None):
        """`look` is called with an earlier sending that seems to be open, and may close it."""
        with self.lock:
            family = family_of(token)
            history = self.by_family.setdefault(family, [])
            earlier = [one for one in history if one.token == token]
            for one in earlier:
                if one.closed_at is None:
                    look(one)
            sending = Sending(len(self.sendings) + 1, token, family, now, owner, step, generation=generation)
            # What was done to its sender while that was looked for.
            if self.ends.get(owner, now) > now:
                sending.killed_at = self.ends[owner]
            sending.stopped_at = self.stops.get(owner)
            self.sendings.append(sending)
            history.append(sending)
            self.hold_against(sending, earlier, now)
            return sending

    def hold_against(self, sending, earlier, now):
        for one in earlier:
            if one.is_stopped() and now >= one.at + self.lease - CLOCK_TOLERANCE:
                # A stopped process keeps its lock, so the time rules: refresh.md, *One refresh*, 1.
                one.is_outlived = True
                self.outlived.add(one.family)
            elif one.could_be_received(self.kind == "static"):
                self.doubled += 1
                self.breach("doubled: the answer to the last sending could still be received", sending.family)
            elif self.kind != "static" and one.is_received(now):
                self.doubled += 1
                self.breach("doubled: the answer to the last sending had been received", sending.family)
        asked_at = self.asked_at.get(sending.token)
        # One that was refused, if by a provider out of its mind, is in no doubt.
        in_doubt = [one for one in earlier if not (one.is_forged and one.delivered_at is not None)]
        if self.kind == "forbidden" and in_doubt and asked_at is not None:
            if now < asked_at + self.lifetime - CLOCK_TOLERANCE:
                self.early += 1
                self.breach("early: sent again in doubt before the access token in hand had lapsed", sending.family)

    def answered(self, sending, status, brought):
        with self.lock:
            sending.status, sending.brought = status, brought
            if brought:
                self.asked_at[brought] = sending.at
            elif status == 200:
                self.asked_at[sending.token] = sending.at
            if status == 400 and not sending.is_forged:
                self.dead_families.add(sending.family)

    # What is done to the gateway, and seen of it.

    def sendings_of(self, owner):
        """Those of a process, which has not been killed before; a number may come again."""
        with self.lock:
            return [one for one in self.sendings if one.owner == owner and one.killed_at is None]

    def note(self, owner, what):
        self.lives.setdefault(owner, []).append((time.monotonic(), what))

    def ended(self, owner, now, is_kill=True):
        """The process is killed now, or has come to its own end: then it has kept what it received."""
        self.ends[owner] = now
        for one in self.sendings_of(owner):
            if not is_kill and one.delivered_at is not None and one.status == 200:
                one.is_kept = True
            one.killed_at = now

    def saw(self, family, generation):
        """What the store has of a family's grant at the moment: it has every answer to a sending of an earlier one."""
        with self.lock:
            for one in self.by_family.get(family, []):
                if one.status == 200 and one.generation is not None and generation > one.generation:
                    one.is_kept = True

    def note_gaps(self, owner, now):
        """What dies with a process that is killed now."""
        for one in self.sendings_of(owner):
            if one.status == 200 and one.delivered_at is not None and not one.is_kept and not one.met_outage:
                self.gaps.append(now - max(one.delivered_at, one.stopped_until or 0))

    def stopped(self, owner, now):
        self.stops[owner] = now
        for one in self.sendings_of(owner):
            one.stopped_at, one.stopped_until = now, None

    def went_on(self, owner, now):
        self.stops.pop(owner, None)
        for one in self.sendings_of(owner):
            if one.is_stopped():
                one.stopped_until = now

    def told(self, family):
        """A caller was told that the family's grant is refreshed."""
        with self.lock:
            for one in reversed(self.by_family.get(family, [])):
                if one.status == 200 and one.delivered_at is not None:
                    one.is_kept = True
                    return

    def judge(self, family, status, reason, now):
        """What a settled record says: `active` after one more refresh, or why not. Returns one word."""
        with self.lock:
            if status == "active":
                return "alive"
            if family in self.outlived and self.kind != "static" and reason in ("ambiguous_rotation", "provider_rejected"):
                self.named_ambiguous.add(family)
                return "outlived its lease"
            if reason == "ambiguous_rotation" and self.may_be_ambiguous(family, now):
                self.named_ambiguous.add(family)
                return "ambiguous"
            self.lost.add(family)
            self.breach(f"lost: {status}, {reason}", family)
            return "lost"

    def may_be_ambiguous(self, family, now):
        """Whether an answer that nobody can have now had brought this family's last token; where the provider allows a
        retry, whether the answer to that one is lost too."""
        taken = [one for one in self.by_family.get(family, []) if one.status == 200]
        if self.kind == "static" or not taken or taken[-1].is_received(now):
            return False
        if self.kind == "forbidden":
            return True
        of_last = [one for one in taken if one.token == taken[-1].token]
        return len(of_last) > 1 and not any(one.is_received(now) for one in of_last)

    def revoked(self):
        """Families that the provider ended, and that no lost answer explains."""
        return self.dead_families - self.named_ambiguous

    def breach(self, sentence, family):
        last = self.by_family.get(family, [])[-6:]
        lines = [one.line(self.start) for one in last]
        for owner in dict.fromkeys(one.owner for one in last):
            told = ", ".join(f"{what} {at - self.start:.3f}" for at, what in self.lives.get(owner, []))
            lines.append(f"process {owner}: {told}; now it is {time.monotonic() - self.start:.3f}")
        self.breaches.append(f"{sentence}; family {family}\n    " + "\n    ".join(lines))


def family_of(token):
    """The simulated provider's refresh tokens carry the number of their grant."""
    return token[5:15]


def check_itself():
    """Made-up histories, each with one fault that must be found, and one without. Returns what was not found."""
    def play(kind, *sendings, verdict=None, seen=None):
        """Each sending of the family's first token: (at, delivered, closed, status, brought, kept)."""
        ledger = Ledger(kind, lifetime=4)
        token = "R23AA0000000001one"
        ledger.exchanged("code", token, 0.0)
        for at, delivered, closed, status, brought, kept in sendings:
            sending = ledger.sent(token, at, generation=1)
            sending.is_forwarded = True
            ledger.answered(sending, status, brought)
            sending.delivered_at, sending.closed_at, sending.is_kept = delivered, closed, kept
            if seen:
                ledger.saw("0000000001", seen)
        if verdict:
            ledger.judge("0000000001", *verdict, 100.0)
        return ledger

    def stopped_in_between(until=11, lease=120):
        ledger = Ledger("static", lifetime=4, lease=lease)
        first = ledger.sent("R23AA0000000001one", 10, owner=1)
        ledger.answered(first, 200, None)
        ledger.stopped(1, 10.0)
        first.delivered_at = 10.1
        ledger.sent("R23AA0000000001one", until, owner=2)
        return ledger

    new = "R23AA0000000001two"
    lost = play("forbidden", (10, None, 10.1, 200, new, False), (20, 20.1, None, 400, None, False),
                verdict=("reauthorization_required", "ambiguous_rotation"))
    known = {
        "a clean loss": not lost.breaches and not lost.revoked(),
        "a call while the last one is open": play(
            "static", (10, None, None, None, None, False), (11, 11.1, None, 200, None, False)).doubled == 1,
        "a static token again": play(
            "static", (10, 10.1, None, 200, None, False), (14, 14.1, None, 200, None, False)).doubled == 0,
        "a call after the answer was told": play(
            "forbidden", (10, 10.1, 10.2, 200, new, True), (20, 20.1, None, 400, None, False)).doubled == 1,
        "a call after the answer was had": play(
            "grace", (10, 10.1, None, 200, new, False), (20, 20.1, None, 200, new, False)).doubled == 1,
        "a call while the answer lies in a stopped process's socket": stopped_in_between().doubled == 1,
        "a call in the lease of a stopped process": stopped_in_between(until=40, lease=36).doubled == 1,
        "a call after the lease of a stopped process": stopped_in_between(until=46.5, lease=36).doubled == 0,
        "a loss just after the answer was kept": len(play(
            "forbidden", (10, 10.1, 10.101, 200, new, False), seen=2,
            verdict=("reauthorization_required", "ambiguous_rotation")).lost) == 1,
        "a call just after the answer was kept": play(
            "forbidden", (10, 10.1, 10.101, 200, new, False), (20, 20.1, None, 400, None, False), seen=2).doubled == 1,
        "a loss in the gap": not play(
            "forbidden", (10, 10.1, 10.101, 200, new, False), seen=1,
            verdict=("reauthorization_required", "ambiguous_rotation")).lost,
        "a call before the access token lapsed": play(
            "forbidden", (1, None, 1.1, 200, new, False), (2, 2.1, None, 400, None, False)).early == 1,
        "a loss though the answer was had": len(play(
            "forbidden", (10, 10.1, 12, 200, new, False), verdict=("reauthorization_required", "ambiguous_rotation")
        ).lost) == 1,
        "a loss where a retry is allowed": len(play(
            "grace", (10, None, 10.1, 200, new, False), verdict=("reauthorization_required", "ambiguous_rotation")
        ).lost) == 1,
        "a loss where the retry was lost too": not play(
            "grace", (10, None, 10.1, 200, new, False), (20, None, 20.1, 200, new, False),
            verdict=("reauthorization_required", "ambiguous_rotation")).lost,
        "a loss by another name": len(play(
            "forbidden", (10, None, 10.1, 200, new, False), verdict=("reauthorization_required", "provider_rejected")
        ).lost) == 1,
        "a family ended": len(play("forbidden", (10, 10.1, None, 400, None, False)).revoked()) == 1,
    }
    return [name for name, is_found in known.items() if not is_found]
