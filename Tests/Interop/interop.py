#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The gateway with OpenID providers that others wrote, through its public API and its command line. For each provider
and each of its clients: a code with PKCE becomes a consent with the person's attributes, the same code again and eight
times at once, a wrong verifier, refreshes, the profile afresh, a withdrawal that the provider hears of, what it says to a
refresh token that is gone and to a wrong secret, and in the end a ledger that verifies and nothing secret that can be
read. interop.py [glewlwyd|idpy-oidc|django …]; VERIFY=1 demands ID tokens and discovery, VERIFY=0 does without."""
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))

from django_toolkit import Django, DjangoGrace, DjangoStable  # noqa: E402
from glewlwyd import Glewlwyd  # noqa: E402
from harness import Failure  # noqa: E402
from house import Abilities, House  # noqa: E402
from idpy_oidc import IdpyOIDC  # noqa: E402
from lives import Life, expect  # noqa: E402
from provider import CLIENT_SECRET, PLACE, signal_at_death_of_parent  # noqa: E402

PROVIDERS = {"glewlwyd": [Glewlwyd], "idpy-oidc": [IdpyOIDC], "django": [Django, DjangoStable, DjangoGrace]}
WRONG_SECRET = "not-the-secret-0123456789abcdef0123456789abcd"


def whole_life(life):
    """All that goes well, and what each person can meet; the consent that was kept for what follows."""
    consent = life.code_becomes_consent()
    life.refreshes(consent)
    life.profile_afresh(consent)
    life.at_once()
    life.wrong_verifier()
    life.spent_refresh_token()
    status, text = life.house.ends("explain", consent)
    expect(status == 0 and "refresh" in text, "explain", text)
    life.withdrawal(consent)
    return life.consent()["id"]


def with_wrong_secret(house, lives, kept):
    """Every client's secret is wrong for a while."""
    house.stop()
    house.set_secret(WRONG_SECRET)
    house.start()
    unspent = [life.wrong_secret(consent) for life, consent in zip(lives, kept)]
    house.stop()
    house.set_secret(CLIENT_SECRET)
    house.start()
    for life, consent, (found, subject) in zip(lives, kept, unspent):
        life.right_secret(consent, found, subject)


def interoperate(kind, abilities):
    """One provider from its start to its end."""
    house = House(abilities)
    folder = tempfile.mkdtemp(prefix=f"{kind.name}-", dir=PLACE)
    provider = None
    try:
        provider = kind(folder, house.api)
        house.furnish(provider)
        house.start()
        lives = [Life(house, provider, variant) for variant in provider.variants()]
        kept = []
        for life in lives:
            began = time.monotonic()
            kept.append(named(life.variant.name, whole_life, life))
            print(f"{life.variant.name}: a whole life, {time.monotonic() - began:.1f} s", flush=True)
        named(f"{kind.name}, wrong secrets", with_wrong_secret, house, lives, kept)
        status, text = house.ends("verify")
        expect(status == 0, "the ledger does not verify", text)
        house.stop()
        house.search({house.key, CLIENT_SECRET, WRONG_SECRET, *provider.codes, *provider.recorder.tokens()})
    finally:
        house.close()
        if provider:
            provider.stop()
    shutil.rmtree(folder)


def named(name, step, *arguments):
    """A Failure of the step says whose it is."""
    try:
        return step(*arguments)
    except Failure as failure:
        raise Failure(f"{name}: {failure}") from failure


def alone(kind, abilities):
    """One provider in a process of its own, which stops what it has started also where it is told to end, or where its
    parent has gone."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal_at_death_of_parent(signal.SIGTERM)
    began = time.monotonic()
    try:
        interoperate(kind, abilities)
    except Failure as failure:
        sys.exit(f"{kind.name}: FAILED: {failure}")
    print(f"{kind.name}: passed, {time.monotonic() - began:.0f} s", flush=True)


def main():
    kinds = [kind for name in sys.argv[1:] or PROVIDERS for kind in PROVIDERS[name]]
    os.makedirs(PLACE, exist_ok=True)
    abilities = Abilities()
    print(abilities, flush=True)
    # They have nothing in common, and mostly wait.
    processes = [multiprocessing.Process(target=alone, args=(kind, abilities)) for kind in kinds]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
