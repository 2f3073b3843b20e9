# SPDX-License-Identifier: Apache-2.0
"""django-oauth-toolkit (PyPI), an OpenID provider for Django, behind gunicorn. Two clients, RS256 and HS256; once as it
comes, once with refresh tokens that stay, once with a grace period for those that were replaced."""
import json
import os

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from harness import DEADLINE
from provider import CLIENT_SECRET, PASSWORD, PLACE, SCOPES, USER, Provider, Server, Variant, field

CLAIMS = {"name": "Alice Example", "given_name": "Alice", "family_name": "Example", "email": "alice@example.com",
          "email_verified": True, "phone_number": "+1 (604) 555-1234", "phone_number_verified": False,
          "address": {"formatted": "1234 Hollywood Blvd.\r\nLos Angeles, CA 90210\r\nUS",
                      "street_address": "1234 Hollywood Blvd.", "locality": "Los Angeles", "region": "CA",
                      "postal_code": "90210", "country": "US"}}
CLIENTS = (("gateway", "RS256"), ("gateway-hs", "HS256"))


class Django(Provider):
    name = "django"
    is_rotating = True
    # Seconds in which a refresh token that was replaced is still taken.
    grace = 0

    def variants(self):
        revocation = f"revocation_endpoint: {self.url}/o/revoke_token/"
        settings = {"django": (), "django-stable": ("refresh_token_reuse: static",),
                    "django-grace": (f"refresh_token_reuse: {{ grace: {self.grace}s }}",)}[self.name]
        return [Variant(client_id.replace("gateway", self.name), client_id, "/o", "django-oauth-toolkit", algorithm,
                        CLAIMS, (revocation, *settings), is_rotating=self.is_rotating,
                        is_reuse_refused=self.name == "django")
                for client_id, algorithm in CLIENTS if algorithm == "RS256" or self.name == "django"]

    def start(self):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
        with open(f"{self.folder}/given.json", "w", encoding="utf-8") as file:
            json.dump({"issuer": f"{self.url}/o", "key": key.decode(), "database": f"{self.folder}/django.db",
                       "scopes": SCOPES, "rotates": self.is_rotating, "grace": self.grace,
                       "user": USER, "password": PASSWORD, "claims": CLAIMS, "clients": CLIENTS,
                       "secret": CLIENT_SECRET, "redirect_uris": self.redirect_uris()}, file)
        here = os.path.dirname(os.path.abspath(__file__))
        return Server(
            [f"{PLACE}/django/bin/gunicorn", "--bind", f"127.0.0.1:{self.port}", "--workers", "1", "--threads", "8",
             "--keep-alive", "5", "--control-socket", f"{self.folder}/control", "--chdir", here,
             "django_server:application"],
            f"{self.folder}/log", self.port, {"GIVEN": f"{self.folder}/given.json", "PYTHONDONTWRITEBYTECODE": "1"})

    def log_in(self, session, address, query):
        page = session.get(f"{self.url}/login/", timeout=DEADLINE).text
        token = field(page, 'name="csrfmiddlewaretoken" value="([^"]+)"')
        session.post(
            f"{self.url}/login/", allow_redirects=False, timeout=DEADLINE,
            data={"username": USER, "password": PASSWORD, "csrfmiddlewaretoken": token}).raise_for_status()
        return session.get(address, params=query, allow_redirects=False, timeout=DEADLINE)


class DjangoStable(Django):
    name = "django-stable"
    is_rotating = False


class DjangoGrace(Django):
    name = "django-grace"
    grace = 60
