"""firebase-admin pointed at a server of one's own, in both ways that there are; a script's report."""

import json
import os
import sys

import firebase_admin
import google.auth.credentials
from firebase_admin import _auth_utils, _token_gen, _user_mgt, credentials

# Where Firebase's SDKs look for the identity API when its host is a part of the path.
IDENTITY_PATH = "/identitytoolkit.googleapis.com/v1"


class StaticBearer(google.auth.credentials.Credentials):
    """An access token that never changes, in the place of a service account's."""

    def __init__(self, token):
        super().__init__()
        self.token = token

    def refresh(self, request):
        pass


class StaticCredential(credentials.Base):
    def __init__(self, token):
        self._credential = StaticBearer(token)

    def get_credential(self):
        return self._credential


def emulated_app(base_url, project):
    """The documented way: http only, the bearer is `owner`, and tokens are not verified at all."""
    os.environ[_auth_utils.EMULATOR_HOST_ENV_VAR] = base_url.removeprefix("http://")
    return firebase_admin.initialize_app(options={"projectId": project, "httpTimeout": 20})


def patched_app(base_url, project, token, name="[DEFAULT]", certs=None, cookie_certs=None):
    """The way for production: other addresses than Google's, a bearer of one's own, tokens verified."""
    os.environ.pop(_auth_utils.EMULATOR_HOST_ENV_VAR, None)
    _user_mgt.UserManager.ID_TOOLKIT_URL = base_url + IDENTITY_PATH
    _token_gen.TokenGenerator.ID_TOOLKIT_URL = base_url + IDENTITY_PATH
    _token_gen.ID_TOKEN_CERT_URI = certs or base_url + "/v1/certs"
    _token_gen.COOKIE_CERT_URI = cookie_certs or base_url + "/v1/certs"
    return firebase_admin.initialize_app(
        StaticCredential(token), {"projectId": project, "httpTimeout": 20}, name=name
    )


def expect(condition, reason):
    if not condition:
        raise AssertionError(reason)


def expect_equal(found, wanted, what):
    expect(found == wanted, f"{what} is {found!r}, not {wanted!r}")


def expect_refused(kind, call, containing=""):
    """The error of a call that must fail with just this kind, and these words in its message."""
    try:
        result = call()
    except kind as error:
        expect(type(error) is kind, f"{type(error).__name__} instead of {kind.__name__}: {error}")
        expect(containing in str(error), f"{containing!r} is not in {str(error)!r}")
        return error
    except Exception as error:  # pylint: disable=broad-exception-caught
        raise AssertionError(f"{type(error).__name__} instead of {kind.__name__}: {error}") from error
    raise AssertionError(f"accepted, with {result!r}, where {kind.__name__} was due")


def run(steps, facts=None):
    """Does every step, prints one JSON line, and gives the exit status.

    A step that fails does not stop the others, so that one run shows all that is wrong.
    """
    passed, failed = [], {}
    for step in steps:
        try:
            step()
            passed.append(step.__name__)
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed[step.__name__] = f"{type(error).__name__}: {error}"
    print(json.dumps({**(facts or {}), "passed": passed, "failed": failed}))
    for name, reason in failed.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 1 if failed else 0
