# SPDX-License-Identifier: Apache-2.0
"""Flask around idpy-oidc's Server, run by its own interpreter. idpy_oidc_server.py FOLDER: `given.json` in the folder
says what to serve; keys and state lie beside it."""
import json
import logging
import os
import sys

from flask import Flask, Response, redirect, request
from idpyoidc.message.oauth2 import ResponseMessage
from idpyoidc.message.oidc import AccessTokenRequest, AuthorizationRequest
from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration

AUTHENTICATION = ["client_secret_post", "client_secret_basic", "client_secret_jwt", "private_key_jwt"]
LOGIN_PAGE = """\
<form action="{{ action }}" method="post"><input name="token" value="{{ token }}">
<input name="username"><input name="password" type="password"></form>
"""
UNAUTHENTICATED = ("ClientAuthenticationError", "BearerTokenAuthenticationError", "UnknownOrNoAuthnMethod")
LIBRARY = "idpyoidc.server."


def endpoint(path, name, **settings):
    return {"path": path, "class": LIBRARY + name, "kwargs": settings}


def endpoints():
    return {
        "provider_info": endpoint(".well-known/openid-configuration", "oidc.provider_config.ProviderConfiguration",
                                  client_authn_method=None),
        "authorization": endpoint("authorization", "oidc.authorization.Authorization", client_authn_method=None,
                                  claims_parameter_supported=True, response_types_supported=["code"],
                                  response_modes_supported=["query", "form_post"]),
        "token": endpoint("token", "oidc.token.Token", client_authn_method=AUTHENTICATION),
        "userinfo": endpoint("userinfo", "oidc.userinfo.UserInfo", claim_types_supported=["normal"]),
        "token_revocation": endpoint("revocation", "oauth2.token_revocation.TokenRevocation",
                                     client_authn_method=AUTHENTICATION)}


def grants():
    """How long what is granted lives, and what may be had for it."""
    minted = ["access_token", "refresh_token", "id_token"]
    return {"authorization_code": {"supports_minting": minted, "max_usage": 1, "expires_in": 120},
            "access_token": {"expires_in": 3600},
            "refresh_token": {"supports_minting": minted, "expires_in": 86400}}


def login():
    return {"user": {
        "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword",
        "class": LIBRARY + "user_authn.user.UserPassJinja2",
        "kwargs": {"verify_endpoint": "verify/user", "template": "user_pass.jinja2",
                   "db": {"class": LIBRARY + "util.JSONDictDB", "kwargs": {"filename": "passwords.json"}}}}}


def tokens():
    resource = ["https://api.example.org"]
    return {
        "jwks_def": {"private_path": "token_keys.json", "read_only": False,
                     "key_defs": [{"type": "oct", "bytes": 24, "use": ["enc"], "kid": "code"}]},
        "code": {"kwargs": {"lifetime": 600}},
        "token": {"class": LIBRARY + "token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600, "aud": resource}},
        "refresh": {"class": LIBRARY + "token.jwt_token.JWTToken", "kwargs": {"lifetime": 86400, "aud": resource}},
        "id_token": {"class": LIBRARY + "token.id_token.IDToken", "kwargs": {}}}


def cookies():
    keys = [{"type": "OCT", "use": ["enc"], "kid": "enc"}, {"type": "OCT", "use": ["sig"], "kid": "sig"}]
    return {"class": LIBRARY + "cookie_handler.CookieHandler", "kwargs": {
        "keys": {"private_path": "cookie_keys.json", "key_defs": keys, "read_only": False},
        "name": {"session": "oidc_op", "register": "oidc_op_rp", "session_management": "sman"}}}


def configuration(issuer):
    keys = [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}]
    return {
        "issuer": issuer, "template_dir": "templates",
        "preference": {"subject_types_supported": ["public", "pairwise"],
                       "grant_types_supported": ["authorization_code", "refresh_token"],
                       "id_token_signing_alg_values_supported": ["RS256", "ES256"]},
        "add_on": {"pkce": {"function": LIBRARY + "oauth2.add_on.pkce.add_support", "kwargs": {"essential": False}}},
        "authz": {"class": LIBRARY + "authz.AuthzHandling",
                  "kwargs": {"grant_config": {"usage_rules": grants(), "expires_in": 43200}}},
        "authentication": login(),
        "claims_interface": {"class": LIBRARY + "session.claims.ClaimsInterface", "kwargs": {}},
        "endpoint": endpoints(),
        "keys": {"private_path": "keys.json", "key_defs": keys, "public_path": "public_keys.json", "read_only": False,
                 "uri_path": "jwks"},
        "token_handler_args": tokens(),
        "userinfo": {"class": LIBRARY + "user_info.UserInfo", "kwargs": {"db_file": "claims.json"}},
        "cookie_handler": cookies()}


def dump(name, value):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file)


os.chdir(sys.argv[1])
with open("given.json", encoding="utf-8") as given_file:
    given = json.load(given_file)
dump("passwords.json", given["passwords"])
dump("claims.json", given["claims"])
os.makedirs("templates", exist_ok=True)
with open("templates/user_pass.jinja2", "w", encoding="utf-8") as page:
    page.write(LOGIN_PAGE)
server = Server(
    OPConfiguration(conf=configuration(given["issuer"]), base_path=os.getcwd(), domain="127.0.0.1", port=given["port"]),
    cwd=os.getcwd())
context = server.get_context()
for client_id, client in given["clients"].items():
    context.cdb[client_id] = client
    context.keyjar.add_symmetric(client_id, given["secret"])
app = Flask("idpy-oidc")
logging.getLogger("werkzeug").setLevel(logging.WARNING)


def heard():
    """The request as the library wants to know it."""
    headers = {name: value for name, value in request.headers.items(lower=True) if name not in ("cookie", "user-agent")}
    return {"headers": headers, "method": request.method, "url": request.url,
            "cookie": [{"name": name, "value": value} for name, value in request.cookies.items()]}


def refused(message, status=400):
    return Response(message.to_json(), status, mimetype="application/json")


def answered(place, message, **result):
    info = place.do_response(request=message, **result)
    if info.get("response_placement", place.response_placement) == "body":
        answer = Response(info["response"], info.get("response_code", 200))
    else:
        answer = redirect(info["response"])
    for name, value in info["http_headers"]:
        answer.headers[name] = value
    found = info.get("cookie", [])
    for cookie in found if isinstance(found, list) else []:
        answer.set_cookie(cookie["name"], cookie["value"], path="/")
    return answer


def serve(name):
    """One call of one endpoint, from the form or query to the answer."""
    place = server.get_endpoint(name)
    given_members = request.args.to_dict() if request.method == "GET" else request.form.to_dict()
    try:
        message = place.parse_request(given_members, http_info=heard())
    except Exception as error:  # The library raises what it likes; its own example server answers all of it.
        app.logger.warning("%s: %r", name, error)
        is_unauthenticated = type(error).__name__ in UNAUTHENTICATED
        return refused(
            ResponseMessage(error="unauthorized_client" if is_unauthenticated else "invalid_request",
                            error_description=str(error)), 401 if is_unauthenticated else 400)
    if isinstance(message, ResponseMessage) and "error" in message:
        return refused(message)
    try:
        asked = AccessTokenRequest(**message) if name == "token" else message
        result = place.process_request(asked, http_info=heard())
    except Exception as error:
        app.logger.exception(name)
        return refused(ResponseMessage(error="invalid_request", error_description=str(error)))
    if isinstance(result, ResponseMessage) and "error" in result:
        return refused(result)
    if "redirect_location" in result:
        return redirect(result["redirect_location"])
    if "http_response" in result:
        return Response(result["http_response"], 200)
    return answered(place, message, **result)


@app.get("/jwks")
def public_keys():
    return context.keyjar.export_jwks()


@app.post("/verify/user")
def verify_user():
    method = context.authn_broker.get_method_by_id("user")
    form = request.form.to_dict()
    user = method.verify(**form)
    if not user:
        return Response("no", 403)
    begun = method.unpack_token(form["token"])
    asked = AuthorizationRequest().from_urlencoded(begun["query"])
    place = server.get_endpoint("authorization")
    session = place.create_session(asked, user, begun["authn_class_ref"], begun["iat"], method)
    result = place.authz_part2(request=asked, session_id=session)
    if isinstance(result, ResponseMessage) and "error" in result:
        return refused(result)
    return answered(place, asked, **result)


# The library knows its endpoints by other names than their paths.
for path, endpoint_name, methods in (
        ("/.well-known/openid-configuration", "provider_config", ["GET"]),
        ("/authorization", "authorization", ["GET"]), ("/token", "token", ["POST"]),
        ("/userinfo", "userinfo", ["GET", "POST"]), ("/revocation", "token_revocation", ["POST"])):
    app.add_url_rule(path, endpoint_name, serve, methods=methods, defaults={"name": endpoint_name})

if __name__ == "__main__":
    app.run("127.0.0.1", given["port"], threaded=True)
