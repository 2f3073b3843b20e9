# SPDX-License-Identifier: Apache-2.0
"""A gateway that is configured for one provider that others wrote."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import disguises
from harness import DEADLINE, NOT_SEARCHED, Failure, Process, call, program, run
from provider import CLIENT_SECRET, SCOPES, Variant, free_port

CALLER_SCOPES = "consents:read,consents:write,profiles:read,tokens:read"
PROBE = """\
providers:
  probe:
    issuer: http://127.0.0.1:1
    token_endpoint: http://127.0.0.1:1/token
    client_id: probe
    client_secret: probe
    scopes: [openid]
"""


class Abilities:
    """What this build of the gateway knows of OpenID Connect: VERIFY=1 demands all of it, VERIFY=0 does without, else
    it is asked."""

    def __init__(self):
        wish = os.environ.get("VERIFY", "")
        verified = PROBE + "    jwks_uri: http://127.0.0.1:1/keys\n    id_token: required\n"
        discovered = PROBE.replace("    token_endpoint: http://127.0.0.1:1/token\n", "")
        self.verifies = self.is_taken(verified) if wish == "" else wish == "1"
        self.discovers = self.is_taken(discovered + "    id_token: ignored\n") if wish == "" else wish == "1"

    def is_taken(self, providers):
        """Whether a configuration can be read; whoever it names need not answer."""
        with tempfile.TemporaryDirectory(prefix="consent-gateway-test-") as folder:
            path = f"{folder}/gateway.yaml"
            with open(path, "w", encoding="utf-8") as file:
                file.write(
                    'store: { url: "sqlite:consents.db" }\nvault: { keys: { file: vault-keys.json } }\n' + providers)
            done = subprocess.run([program(), "check", "--config", path], capture_output=True, timeout=DEADLINE)
            return done.returncode != 3

    def __str__(self):
        tokens = "ID tokens are verified" if self.verifies else "ID tokens are ignored"
        return f"{tokens}, endpoints are {'discovered' if self.discovers else 'given'}"


class House:
    """A folder with keys, a configuration for each variant of a provider, and a store."""

    def __init__(self, abilities):
        self.abilities = abilities
        self.folder = tempfile.mkdtemp(prefix="consent-gateway-test-")
        self.log = f"{self.folder}/gateway.log"
        self.config = f"{self.folder}/gateway.yaml"
        self.port = free_port()
        self.api = f"http://127.0.0.1:{self.port}"
        self.key = None
        self.process = None

    def furnish(self, provider):
        """Writes the configuration and makes the keys."""
        self.set_secret(CLIENT_SECRET)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"""\
server:
  listen: 127.0.0.1:{self.port}
  admin_listen: 127.0.0.1:0
  limits: {{ requests_per_caller: 1000000/s }}
store: {{ url: "sqlite:consents.db" }}
vault: {{ keys: {{ file: vault-keys.json }} }}
providers:
""")
            for variant in provider.variants():
                file.write("\n".join(self.section(provider, variant)) + "\n")
        self.command("keys", "init")
        self.key = self.command("keys", "api", "create", "test", "--scopes", CALLER_SCOPES)["key"]

    def section(self, provider, variant: Variant):
        """The lines of one provider in the configuration."""
        told = provider.discovered(variant)
        yield f"  {variant.name}:"
        yield f"    preset: {variant.preset}"
        yield f"    issuer: {provider.url}{variant.issuer_path}"
        if not self.abilities.discovers:
            yield f"    token_endpoint: {told['token_endpoint']}"
            yield f"    userinfo_endpoint: {told['userinfo_endpoint']}"
            if "revocation_endpoint" in told:
                yield f"    revocation_endpoint: {told['revocation_endpoint']}"
            yield f"    jwks_uri: {told['jwks_uri']}"
        yield f"    client_id: {variant.client_id}"
        yield "    client_secret: { file: client-secret }"
        yield f"    scopes: [{', '.join(SCOPES)}]"
        yield f"    redirect_uris: [{provider.redirect_uri(variant.name)}]"
        yield '    access_tokens: "on"'
        if self.abilities.verifies:
            yield "    id_token: required"
            yield "    nonce: required"
            yield f"    id_token_algorithms: [{variant.algorithm}]"
        else:
            yield "    id_token: ignored"
        for line in variant.settings:
            yield f"    {line}"

    def set_secret(self, secret):
        """What the next process shows to the provider."""
        with open(f"{self.folder}/client-secret", "w", encoding="utf-8") as file:
            file.write(secret)

    def start(self):
        # It goes when this process does, however that ends.
        with_parent = ("setpriv", "--pdeathsig", "TERM", "--")
        self.process = Process(["serve", "--config", self.config], self.log, before=with_parent)

    def stop(self):
        if self.process:
            process, self.process = self.process, None
            process.stop()

    def command(self, *arguments):
        """Runs a command to its end, which must be a good one; what it printed."""
        return json.loads(run(*arguments, "--config", self.config, "--json"))

    def ends(self, *arguments):
        """Runs a command to its end: its status, and what it printed."""
        done = subprocess.run(
            [program(), *arguments, "--config", self.config], capture_output=True, timeout=DEADLINE * 2)
        return done.returncode, (done.stdout + done.stderr).decode()

    def ask(self, method, path, body=None):
        """One call of the API: status and JSON."""
        status, _, answer = call(self.api, method, path, body, {"Authorization": f"Bearer {self.key}"}, DEADLINE * 2)
        return status, answer

    def post(self, variant, subject, found, **changed):
        """Gives the gateway what a browser brought."""
        body = {"provider": variant.name, "subject": subject, "code": found.code, "redirect_uri": found.redirect_uri,
                "code_verifier": found.code_verifier, **changed}
        if self.abilities.verifies:
            body["nonce"] = found.nonce
        return self.ask("POST", "/v1/consents", body)

    def search(self, values):
        """A Failure where one of the values can be read in what the gateway has left."""
        files = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names
                 if name not in (*NOT_SEARCHED, "client-secret")]
        found, _ = disguises.search([value.encode() for value in values], files)
        if found:
            raise Failure(f"{len(found)} values can be read: " + "; ".join(sorted(disguises.describe(found))))

    def close(self):
        """Ends it. The folder stays after a failure only, for whoever looks into it."""
        is_passed = sys.exc_info()[0] is None
        if self.process:
            self.process.kill()
        if is_passed:
            shutil.rmtree(self.folder)
        else:
            print(f"the gateway's folder: {self.folder}", file=sys.stderr)
