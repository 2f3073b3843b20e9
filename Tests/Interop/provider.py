# SPDX-License-Identifier: Apache-2.0
"""What the three providers have in common: a server process behind a recorder, a person, and her browser."""
import base64
import ctypes
import functools
import hashlib
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import time
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import requests

from harness import DEADLINE, Failure
from recorder import Recorder

USER = "alice"
PASSWORD = "alice-password-1"
CLIENT_SECRET = "gateway-secret-0123456789abcdef0123456789abcdef"
SCOPES = ["openid", "profile", "email", "address", "phone", "offline_access"]
REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# Everything that was fetched or is made lies below it.
PLACE = os.path.join(REPOSITORY, ".build", "interop")


class Variant(NamedTuple):
    """A client at a provider as the gateway is configured for it, and what is known of how it is treated."""

    # The provider's name in the gateway's configuration, and so in the redirect URI.
    name: str
    client_id: str
    # Below the provider's address.
    issuer_path: str
    # Of the profile, in `Config/providers`.
    preset: str
    # How ID tokens are signed.
    algorithm: str
    # The attributes that must come of the person.
    claims: dict
    # Lines of configuration that only this one needs.
    settings: tuple = ()
    # What a refresh brings: another refresh token, or none, or the same one again.
    is_rotating: bool = True
    # Whether a refresh token that a newer one has replaced is refused.
    is_reuse_refused: bool = True
    # Whether userinfo is a JWT.
    has_signed_userinfo: bool = False
    # Whether the provider ends a grant whose refresh token was shown with a wrong secret.
    is_burnt_by_wrong_secret: bool = False


class Authorization(NamedTuple):
    """What a browser brings back from the provider, and what was sent there for it."""

    code: str
    redirect_uri: str
    code_verifier: str
    nonce: str


def free_port():
    """A port of loopback below those that the kernel gives to outgoing connections, which nobody listens at."""
    while True:
        port = random.randint(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def signal_at_death_of_parent(number):
    """The signal comes when whoever has started this process is gone, however that went (prctl(2))."""
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, number)


class Server:
    """A process that listens at a port of loopback, with a log of its own."""

    def __init__(self, arguments, log, port, environment=None):
        self.log = log
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
                env={**os.environ, **(environment or {})},
                preexec_fn=functools.partial(signal_at_death_of_parent, signal.SIGTERM))
        self.wait_for(port)

    def wait_for(self, port):
        end = time.monotonic() + DEADLINE * 2
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise Failure(f"a provider did not start; see {self.log}") from None
                time.sleep(0.05)

    def stop(self):
        """Ends it with all that it has started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(timeout=5)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


class Provider:
    """A provider that others wrote, started afresh. Its subclasses know its names, its set-up and its login page."""

    name = ""

    def __init__(self, folder, gateway_url):
        """`folder`: for what it keeps; `gateway_url`: where the gateway's callbacks are."""
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.gateway_url = gateway_url
        self.port = free_port()
        self.recorder = Recorder(self.port)
        self.url = self.recorder.url
        self.codes = []
        self.server = self.start()

    def start(self):
        raise NotImplementedError

    def variants(self):
        raise NotImplementedError

    def log_in(self, session, address, query):
        """Plays the person in her browser; the redirect that ends it."""
        raise NotImplementedError

    def redirect_uri(self, name):
        return f"{self.gateway_url}/v1/callback/{name}"

    def redirect_uris(self):
        return [self.redirect_uri(variant.name) for variant in self.variants()]

    def discovered(self, variant):
        """The metadata that the provider tells of itself."""
        answer = requests.get(f"{self.url}{variant.issuer_path}/.well-known/openid-configuration", timeout=DEADLINE)
        answer.raise_for_status()
        return answer.json()

    def authorize(self, variant):
        """A fresh code, by the authorization code flow with PKCE and a nonce."""
        verifier, state, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(12), secrets.token_urlsafe(12)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        redirect_uri = self.redirect_uri(variant.name)
        query = {"response_type": "code", "client_id": variant.client_id, "redirect_uri": redirect_uri,
                 "scope": " ".join(SCOPES), "state": state, "nonce": nonce, "code_challenge": challenge,
                 "code_challenge_method": "S256"}
        with requests.Session() as session:
            answer = self.log_in(session, self.discovered(variant)["authorization_endpoint"], query)
        place = answer.headers.get("Location", "")
        found = parse_qs(urlsplit(place).query)
        if not place.startswith(redirect_uri) or found.get("state") != [state] or "code" not in found:
            raise Failure(f"{variant.name}: no code: {answer.status_code} {place} {answer.text[:300]}")
        self.codes.append(found["code"][0])
        return Authorization(found["code"][0], redirect_uri, verifier, nonce)

    def refresh(self, variant, token):
        """What the provider says to a refresh token that somebody else than the gateway shows."""
        form = {"grant_type": "refresh_token", "refresh_token": token}
        return self.post(variant, self.discovered(variant)["token_endpoint"], form)

    def revoke(self, variant, token):
        """Ends a refresh token, as the person can at the provider."""
        place = self.discovered(variant).get("revocation_endpoint") or f"{self.url}{variant.issuer_path}/revoke_token/"
        self.post(variant, place, {"token": token, "token_type_hint": "refresh_token"}).raise_for_status()

    def post(self, variant, place, form):
        if "token_endpoint_auth_method: client_secret_post" in variant.settings:
            form |= {"client_id": variant.client_id, "client_secret": CLIENT_SECRET}
            return requests.post(place, data=form, timeout=DEADLINE)
        return requests.post(place, data=form, auth=(variant.client_id, CLIENT_SECRET), timeout=DEADLINE)

    def userinfo(self, variant, token):
        """What the provider says to an access token."""
        place = self.discovered(variant)["userinfo_endpoint"]
        return requests.get(place, headers={"Authorization": f"Bearer {token}"}, timeout=DEADLINE)

    def stop(self):
        self.server.stop()
        self.recorder.close()


def field(page, pattern):
    """What a pattern's group finds in a page."""
    found = re.search(pattern, page, re.S)
    if not found:
        raise Failure(f"no {pattern} in the page: {page[:300]}")
    return found.group(1)
