# SPDX-License-Identifier: Apache-2.0
"""A Django site of one file with django-oauth-toolkit in it, run by its own interpreter. The file $GIVEN says what to
serve."""
import json
import os

import django
from django.conf import settings

with open(os.environ["GIVEN"], encoding="utf-8") as given_file:
    given = json.load(given_file)
LOGIN_PAGE = '<form method="post">{% csrf_token %}{{ form }}<button>Log in</button></form>'
settings.configure(
    SECRET_KEY="of-a-test-on-this-machine-only", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", LOGIN_URL="/login/", LOGIN_REDIRECT_URL="/login/",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
                    "django.contrib.messages", "oauth2_provider"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {
        "loaders": [("django.template.loaders.locmem.Loader", {"login.html": LOGIN_PAGE})],
        "context_processors": ["django.template.context_processors.request",
                               "django.contrib.auth.context_processors.auth",
                               "django.contrib.messages.context_processors.messages"]}}],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": given["database"], "OPTIONS": {
        "timeout": 20, "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"}}},
    # The default takes a second for each client that authenticates.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": given["key"], "OIDC_ISS_ENDPOINT": given["issuer"],
        "OAUTH2_VALIDATOR_CLASS": f"{__name__}.Validator", "SCOPES": {scope: scope for scope in given["scopes"]},
        "PKCE_REQUIRED": True, "ALLOWED_REDIRECT_URI_SCHEMES": ["http", "https"], "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
        "REFRESH_TOKEN_EXPIRE_SECONDS": 1209600, "ROTATE_REFRESH_TOKEN": given["rotates"],
        "REFRESH_TOKEN_REUSE_PROTECTION": True, "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": given["grace"]})
django.setup()

# What follows needs the settings.
from django.contrib.auth import get_user_model, views  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import get_application_model  # noqa: E402
from oauth2_provider.oauth2_validators import OAuth2Validator  # noqa: E402


class Validator(OAuth2Validator):
    """The toolkit's own, with attributes of people, as its documentation tells to add them."""

    def get_additional_claims(self):
        return {name: lambda request, value=value: value for name, value in given["claims"].items()}


def prepare():
    """Schema, the person, and the clients."""
    call_command("migrate", verbosity=0)
    get_user_model().objects.create_user(given["user"], given["claims"]["email"], given["password"])
    applications = get_application_model()
    for client_id, algorithm in given["clients"]:
        applications.objects.create(
            client_id=client_id, name=client_id, client_secret=given["secret"], algorithm=algorithm,
            # A digest of the secret signs nothing.
            hash_client_secret=algorithm != "HS256", client_type=applications.CLIENT_CONFIDENTIAL,
            authorization_grant_type=applications.GRANT_AUTHORIZATION_CODE, skip_authorization=True,
            redirect_uris=" ".join(given["redirect_uris"]))


urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
               path("login/", views.LoginView.as_view(template_name="login.html"))]
prepare()
application = get_wsgi_application()
