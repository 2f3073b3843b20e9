# SPDX-License-Identifier: Apache-2.0
"""idpy-oidc (PyPI), the OpenID provider of the identity python project, as a library behind Flask. Three clients:
RS256, ES256 with the secret in the body, and signed userinfo."""
import html
import json
import os
from urllib.parse import urljoin

from harness import DEADLINE
from provider import CLIENT_SECRET, PASSWORD, PLACE, SCOPES, USER, Provider, Server, Variant, field

CLAIMS = {"name": "Alice Example", "given_name": "Alice", "family_name": "Example", "email": "alice@example.com",
          "email_verified": False, "phone_number": "+1 (604) 555-1234;ext=5678", "phone_number_verified": True,
          "address": {"street_address": "Ümeå gata 1", "locality": "Umeå", "postal_code": "SE-907 30",
                      "country": "Sweden"}}
# Client, algorithm, way to show the secret, and what else is said of it.
CLIENTS = (("gateway", "RS256", "client_secret_basic", {}),
           ("gateway-es", "ES256", "client_secret_post", {"revoke_refresh_on_issue": True}),
           ("gateway-jwtinfo", "RS256", "client_secret_basic", {"userinfo_signed_response_alg": "RS256"}))


class IdpyOIDC(Provider):
    name = "idpy-oidc"

    def variants(self):
        return [Variant(
            client_id.replace("gateway", "idpy"), client_id, "", "idpy-oidc", algorithm, CLAIMS,
            ("token_endpoint_auth_method: client_secret_post",) if method == "client_secret_post" else (),
            is_reuse_refused="revoke_refresh_on_issue" in more,
            has_signed_userinfo="userinfo_signed_response_alg" in more)
            for client_id, algorithm, method, more in CLIENTS]

    def start(self):
        clients = {
            client_id: {
                "client_secret": CLIENT_SECRET, "token_endpoint_auth_method": method, "client_salt": "salted",
                "redirect_uris": [(uri, {}) for uri in self.redirect_uris()], "response_types_supported": ["code"],
                "id_token_signed_response_alg": algorithm, "allowed_scopes": SCOPES, **more}
            for client_id, algorithm, method, more in CLIENTS}
        with open(f"{self.folder}/given.json", "w", encoding="utf-8") as file:
            json.dump({"issuer": self.url, "port": self.port, "clients": clients, "secret": CLIENT_SECRET,
                       "passwords": {USER: PASSWORD}, "claims": {USER: CLAIMS}}, file)
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "idpy_oidc_server.py")
        return Server([f"{PLACE}/idpy-oidc/bin/python", program, self.folder], f"{self.folder}/log", self.port)

    def log_in(self, session, address, query):
        page = session.get(address, params={**query, "prompt": "consent"}, allow_redirects=False, timeout=DEADLINE).text
        action, token = field(page, 'action="([^"]*)"'), field(page, 'name="token" value="([^"]*)"')
        return session.post(
            urljoin(f"{self.url}/", html.unescape(action)), allow_redirects=False, timeout=DEADLINE,
            data={"token": html.unescape(token), "username": USER, "password": PASSWORD})
