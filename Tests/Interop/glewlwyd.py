# SPDX-License-Identifier: Apache-2.0
"""Glewlwyd (Debian's package), a single sign-on server in C. Three issuers: RS256 with refresh tokens of one use, ES256
with refresh tokens that stay, PS256."""
import base64
import json
import sqlite3

import requests
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from harness import DEADLINE, Failure
from provider import CLIENT_SECRET, PASSWORD, SCOPES, USER, Provider, Server, Variant

SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
MODULES = "/usr/lib/glewlwyd"
STREET = "1234 Hollywood Blvd.\nApt 2"
PLACE = {"formatted": f"{STREET}\nLos Angeles, CA 90210\nUS", "street_address": STREET, "locality": "Los Angeles",
         "region": "CA", "postal_code": "90210", "country": "US"}
CLAIMS = {"name": "Alice Example", "email": "alice@example.com", "phone_number": "+1 (604) 555-1234",
          "phone_number_verified": True, "address": PLACE}
# Issuer, algorithm, and whether a refresh token is of one use.
ISSUERS = (("oidc", "RS256", True), ("oidces", "ES256", False), ("oidcps", "PS256", True))
CONFIGURATION = """\
port={port}
bind_address="127.0.0.1"
external_url="{url}/"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="WARNING"
log_file="{folder}/glewlwyd.log"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
cookie_same_site="empty"
session_expiration=2419200
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="{modules}/user"
client_module_path="{modules}/client"
user_auth_scheme_module_path="{modules}/scheme"
plugin_module_path="{modules}/plugin"
hash_algorithm="SHA512"
database = {{ type = "sqlite3" path = "{folder}/glewlwyd.db" }};
"""


class Glewlwyd(Provider):
    name = "glewlwyd"

    def variants(self):
        return [Variant(f"glewlwyd-{name}", "gateway", f"/api/{name}", "glewlwyd", algorithm, CLAIMS,
                        () if is_of_one_use else ("refresh_token_reuse: static",), is_rotating=is_of_one_use,
                        is_reuse_refused=is_of_one_use, is_burnt_by_wrong_secret=is_of_one_use)
                for name, algorithm, is_of_one_use in ISSUERS]

    def start(self):
        with open(SCHEMA, encoding="utf-8") as schema, sqlite3.connect(f"{self.folder}/glewlwyd.db") as database:
            database.executescript(schema.read())
        database.close()
        path = f"{self.folder}/glewlwyd.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.port, url=self.url, folder=self.folder, modules=MODULES))
        server = Server(["glewlwyd", f"--config-file={path}"], f"{self.folder}/log", self.port)
        try:
            self.configure()
        except BaseException:
            server.stop()
            raise
        return server

    def configure(self):
        """Scopes, the person, the client and the three issuers, by the administrator's API."""
        api = API(self.url)
        api.call("POST", "/auth/", {"username": "admin", "password": "password"})
        for scope in SCOPES[1:]:
            api.call("POST", "/scope/", {"name": scope, "display_name": scope, "password_required": False})
        self.add_person(api)
        api.call("POST", "/client/", {
            "client_id": "gateway", "name": "gateway", "confidential": True, "enabled": True, "scope": [],
            "client_secret": CLIENT_SECRET, "password": CLIENT_SECRET, "redirect_uri": self.redirect_uris(),
            "authorization_type": ["code", "refresh_token"],
            "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"]})
        for issuer in ISSUERS:
            self.add_issuer(api, *issuer)
        person = API(self.url)
        person.call("POST", "/auth/", {"username": USER, "password": PASSWORD})
        person.call("PUT", "/auth/grant/gateway", {"scope": " ".join(SCOPES)})

    def add_person(self, api):
        # The user store must be told which more properties it keeps.
        store = api.call("GET", "/mod/user/database")
        for name in ("phone", "phone_verified", "street", "city", "region", "zip", "country", "addr"):
            store["parameters"]["data-format"][name] = {
                "multiple": False, "read": True, "write": True, "profile-read": True, "profile-write": True}
        api.call("PUT", "/mod/user/database", store)
        api.call("PUT", "/mod/user/database/reset")
        api.call("POST", "/user/", {
            "username": USER, "password": PASSWORD, "name": CLAIMS["name"], "email": CLAIMS["email"], "enabled": True,
            "scope": [*SCOPES, "g_profile"], "phone": CLAIMS["phone_number"], "phone_verified": "1",
            "street": STREET, "city": PLACE["locality"], "region": PLACE["region"], "zip": PLACE["postal_code"],
            "country": PLACE["country"], "addr": PLACE["formatted"]})

    def add_issuer(self, api, name, algorithm, is_of_one_use):
        phone = {"mandatory": False, "on-demand": True, "scope": ["phone"]}
        api.call("POST", "/mod/plugin/", {"module": "oidc", "name": name, "display_name": name, "parameters": {
            "iss": f"{self.url}/api/{name}", "jwks-private": private_keys(algorithm), "jwks-show": True,
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
            "refresh-token-rolling": True, "refresh-token-one-use": "always" if is_of_one_use else "never",
            "allow-non-oidc": False, "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
            "auth-type-token-enabled": False, "auth-type-id-token-enabled": True, "auth-type-password-enabled": False,
            "auth-type-client-enabled": False, "auth-type-refresh-enabled": True, "pkce-allowed": True,
            "pkce-method-plain-allowed": False, "name-claim": "on-demand", "name-claim-scope": ["profile"],
            "email-claim": "on-demand", "email-claim-scope": ["email"], "scope-claim": "no",
            "claims": [{"name": "phone_number", "user-property": "phone", "type": "string", **phone},
                       {"name": "phone_number_verified", "user-property": "phone_verified", "type": "boolean",
                        "boolean-value-true": "1", "boolean-value-false": "0", **phone}],
            "address-claim": {"type": "mandatory", "formatted": "addr", "street_address": "street", "locality": "city",
                              "region": "region", "postal_code": "zip", "country": "country"},
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
            "oauth-as-iss-id": True, "subject-type": "public"}})

    def log_in(self, session, address, query):
        session.post(f"{self.url}/api/auth/", json={"username": USER, "password": PASSWORD},
                     timeout=DEADLINE).raise_for_status()
        return session.get(address, params={**query, "g_continue": "1"}, allow_redirects=False, timeout=DEADLINE)


class API:
    """A session with the server's own API."""

    def __init__(self, url):
        self.url = f"{url}/api"
        self.session = requests.Session()

    def call(self, method, path, body=None):
        answer = self.session.request(method, self.url + path, json=body, timeout=DEADLINE)
        if answer.status_code != 200:
            raise Failure(f"glewlwyd: {method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer.json() if answer.text else None


def private_keys(algorithm):
    """A set of one fresh key (RFC 7518, section 6)."""
    def text(number, size=None):
        octets = number.to_bytes(size or -(-number.bit_length() // 8), "big")
        return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()

    common = {"kid": f"{algorithm}-1", "alg": algorithm, "use": "sig"}
    if algorithm == "ES256":
        key = ec.generate_private_key(ec.SECP256R1()).private_numbers()
        point = key.public_numbers
        return json.dumps({"keys": [{**common, "kty": "EC", "crv": "P-256", "d": text(key.private_value, 32),
                                     "x": text(point.x, 32), "y": text(point.y, 32)}]})
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_numbers()
    return json.dumps({"keys": [{**common, "kty": "RSA", "n": text(key.public_numbers.n), "e": "AQAB", "d": text(key.d),
                                 "p": text(key.p), "q": text(key.q), "dp": text(key.dmp1), "dq": text(key.dmq1),
                                 "qi": text(key.iqmp)}]})
