# SPDX-License-Identifier: Apache-2.0
"""What is done with a provider, step by step: the whole life of a consent, and the faults that a provider has its own
words for. A Failure says what was not as it must be."""
import json
import threading
import time

from harness import Failure, random_word, wait_until


def expect(condition, what, found=None):
    if not condition:
        raise Failure(what if found is None else f"{what}: {json.dumps(found, ensure_ascii=False)[:1500]}")


class Life:
    """The gateway, a provider and one of its clients."""

    def __init__(self, house, provider, variant):
        self.house = house
        self.provider = provider
        self.variant = variant
        self.recorder = provider.recorder

    def consent(self):
        """A new one, of a new subject; its record."""
        found = self.provider.authorize(self.variant)
        status, record = self.house.post(self.variant, random_word(), found)
        expect(status == 201, "a code is not taken", record)
        return record

    def record(self, consent):
        return self.house.ask("GET", f"/v1/consents/{consent}")[1]

    def access_token(self, consent):
        status, answer = self.house.ask("POST", f"/v1/consents/{consent}/access-token", {})
        expect(status == 200, "no access token", answer)
        return answer["access_token"]

    def refresh(self, consent):
        status, record = self.house.ask("POST", f"/v1/consents/{consent}/refresh")
        expect(status == 200 and record["status"] == "active", "a refresh failed", record)
        return record

    def code_becomes_consent(self):
        """A code with PKCE, then the same code again: the same record, and the provider hears nothing."""
        found = self.provider.authorize(self.variant)
        subject = random_word()
        status, record = self.house.post(self.variant, subject, found)
        expect(status == 201, "a code is not taken", record)
        self.check_profile(record)
        expect(record["status"] == "active" and record["refreshable"], "not active and refreshable", record)
        before = self.recorder.gateway_requests("token")
        again, same = self.house.post(self.variant, subject, found)
        expect(again == 200 and same["id"] == record["id"], "the same code is another consent", same)
        expect(self.recorder.gateway_requests("token") == before, "the same code was exchanged again")
        expect(self.recorder.times_sent("code", found.code) == 1, "a code went out more than once")
        return record["id"]

    def check_profile(self, record):
        if self.variant.has_signed_userinfo and not self.house.abilities.verifies:
            expect(record["profile_status"] == "pending" and not record["profile"], "unverified attributes", record)
            return
        expect(record["profile_status"] == "current", "the profile was not fetched", record)
        got = dict(record["profile"])
        expect(got.pop("sub") == record["provider_subject"], "sub is not the provider's subject", record)
        expect(got == self.variant.claims, f"other attributes than {self.variant.claims}", got)

    def wrong_verifier(self):
        found = self.provider.authorize(self.variant)
        status, problem = self.house.post(self.variant, random_word(), found, code_verifier="x" * 50)
        expect(status == 422 and problem["code"] == "code_rejected", "a wrong verifier", problem)

    def refreshes(self, consent):
        """By the command and by the API, each with what the one before brought."""
        for _ in range(2):
            before = list(self.recorder.refresh_tokens)
            status, text = self.house.ends("refresh", consent)
            expect(status == 0, "the command cannot refresh", text)
            self.refresh(consent)
            fresh = [token for token in self.recorder.refresh_tokens if token not in before]
            if self.variant.is_rotating:
                expect(len(fresh) == 2, "not each refresh brought another refresh token", fresh)
                expect(self.recorder.times_sent("refresh_token", fresh[0]) == 1, "the new token was not the next sent")
                expect(self.recorder.times_sent("refresh_token", fresh[1]) == 0, "a token went out before its turn")
            else:
                expect(not fresh, "a refresh token that should stay was replaced", fresh)
        answer = self.provider.userinfo(self.variant, self.access_token(consent))
        expect(answer.status_code == 200, "the refreshed access token is not taken", answer.text)

    def profile_afresh(self, consent):
        before = self.recorder.gateway_requests("userinfo")
        status, answer = self.house.ask("GET", f"/v1/consents/{consent}/profile?max_age=0")
        if self.variant.has_signed_userinfo and not self.house.abilities.verifies:
            expect(status == 503, "attributes that nobody verified", answer)
            return
        expect(status == 200 and not answer["stale"], "the profile was not fetched again", answer)
        expect(self.recorder.gateway_requests("userinfo") == before + 1, "the provider was not asked once")
        got = {name: value for name, value in answer["claims"].items() if name != "sub"}
        expect(got == self.variant.claims, f"other attributes than {self.variant.claims}", got)

    def withdrawal(self, consent):
        """The provider hears of it, and takes neither token any more."""
        access, refresh = self.access_token(consent), self.recorder.refresh_tokens[-1]
        before = self.recorder.gateway_requests("revo")
        status, record = self.house.ask("DELETE", f"/v1/consents/{consent}")
        expect(status == 200 and record["status"] == "revoked", "not withdrawn", record)
        wait_until(lambda: self.recorder.gateway_requests("revo") > before, "the provider hears of the withdrawal")
        wait_until(lambda: self.provider.refresh(self.variant, refresh).status_code >= 400, "the refresh token is dead")
        wait_until(lambda: self.provider.userinfo(self.variant, access).status_code >= 400, "the access token is dead")
        status, _ = self.house.ask("GET", f"/v1/consents/{consent}/profile")
        expect(status == 409, "attributes can be read after a withdrawal")

    def at_once(self):
        """Eight callers with one code: one exchange, one consent, and its tokens live."""
        found, subject = self.provider.authorize(self.variant), random_word()
        answers, barrier = [], threading.Barrier(8)

        def caller():
            barrier.wait()
            while True:
                status, answer = self.house.post(self.variant, subject, found)
                if status != 503 or answer["code"] != "exchange_pending":
                    answers.append((status, answer))
                    return
                time.sleep(answer["retry_after"])

        threads = [threading.Thread(target=caller) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = sorted(status for status, _ in answers)
        expect(statuses == [200] * 7 + [201], "eight callers with one code", answers)
        expect(len({answer["id"] for _, answer in answers}) == 1, "one code, several consents", answers)
        expect(self.recorder.times_sent("code", found.code) == 1, "a code went out more than once")
        consent = answers[0][1]["id"]
        answer = self.provider.userinfo(self.variant, self.access_token(consent))
        expect(answer.status_code == 200, "the access token was lost in the crowd", answer.text)
        self.refresh(consent)

    def spent_refresh_token(self):
        """Somebody else has used the refresh token, or revoked it where an old one is taken on: the grant is gone, by the
        provider's own word."""
        record = self.consent()
        token = self.recorder.refresh_tokens[-1]
        if self.variant.is_reuse_refused:
            first = self.provider.refresh(self.variant, token)
            expect(first.status_code == 200, "the provider does not refresh", first.text)
        else:
            self.provider.revoke(self.variant, token)
        again = self.provider.refresh(self.variant, token)
        expect(again.status_code == 400, "a spent refresh token is taken", again.text)
        status, answer = self.house.ask("POST", f"/v1/consents/{record['id']}/refresh")
        expect(status == 409 and answer["code"] == "reauthorization_required", "a spent refresh token", answer)
        seen = self.record(record["id"])
        expect(seen["status"] == "reauthorization_required", "a grant that is gone", seen)
        expect(seen["status_reason"] == "provider_rejected", "a grant that is gone", seen)

    def wrong_secret(self, consent):
        """The gateway's own credentials are refused: nobody's consent is touched, and the code is unspent."""
        found, subject = self.provider.authorize(self.variant), random_word()
        status, problem = self.house.post(self.variant, subject, found)
        expect(status == 502 and problem["code"] == "provider_misconfigured", "a code with a wrong secret", problem)
        status, answer = self.house.ask("POST", f"/v1/consents/{consent}/refresh")
        expect(status in (502, 503), "a refresh with a wrong secret", answer)
        seen = self.record(consent)
        expect(seen["status"] in ("active", "failing"), "a wrong secret has ended a grant", seen)
        paused = [item for item in self.house.command("incidents")["items"] if item["provider"] == self.variant.name]
        expect(any(item["kind"] == "pause" for item in paused), "no pause", paused)
        return found, subject

    def right_secret(self, consent, found, subject):
        """The same once the secret is right again."""
        status, text = self.house.ends("refresh", consent)
        seen = self.record(consent)["status"]
        if self.variant.is_burnt_by_wrong_secret:
            expect(status == 1 and seen == "reauthorization_required", "a grant that the provider ended", [text, seen])
        else:
            expect(status == 0 and seen == "active", "not refreshed with the right secret", [text, seen])
        status, record = self.house.post(self.variant, subject, found)
        expect(status == 201, "an unspent code is not taken with the right secret", record)
