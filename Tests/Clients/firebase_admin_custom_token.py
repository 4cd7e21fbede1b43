"""Makes custom tokens with firebase-admin and signs in with them, as an app would.

The private key of a service account, as PEM, is read from standard input; the server knows its public part.
Prints one JSON line: what passed, and what failed with its reason; ends with 1 when something failed.
"""

import argparse
import os
import sys

import firebase_admin
import requests
from firebase_admin import _auth_utils, auth, credentials

from admin_app import IDENTITY_PATH, expect, expect_equal, run
from tokens import claims_of

UID = "made-by-firebase-admin"
CLAIMS = {"premium": True, "groups": ["a", "ü"]}


class Making:
    """The steps, in their order."""

    def __init__(self, arguments, key):
        self.arguments = arguments
        account = {
            "type": "service_account",
            "project_id": arguments.project,
            "private_key_id": "a-name-that-the-server-does-not-know",
            "private_key": key,
            "client_email": f"back-end@{arguments.project}.example",
            "token_uri": "http://127.0.0.1:9/unused",
        }
        self.app = firebase_admin.initialize_app(credentials.Certificate(account))

    def sign_in(self, token):
        url = f"{self.arguments.base_url}{IDENTITY_PATH}/accounts:signInWithCustomToken?key=any"
        body = {"token": token.decode(), "returnSecureToken": True}
        return requests.post(url, json=body, timeout=20)

    def a_custom_token_signs_in(self):
        answer = self.sign_in(auth.create_custom_token(UID, CLAIMS, app=self.app))
        expect_equal(answer.status_code, 200, f"status of {answer.text}")
        claims = claims_of(answer.json()["idToken"])
        expect_equal(claims["sub"], UID, "subject")
        for name, value in CLAIMS.items():
            expect_equal(claims[name], value, name)

    def an_unsigned_one_does_not(self):
        # What firebase-admin makes for an emulator has no signature.
        os.environ[_auth_utils.EMULATOR_HOST_ENV_VAR] = self.arguments.base_url.removeprefix("http://")
        try:
            options = {"projectId": self.arguments.project}
            app = firebase_admin.initialize_app(options=options, name="emulated")
            token = auth.create_custom_token(UID, CLAIMS, app=app)
        finally:
            del os.environ[_auth_utils.EMULATOR_HOST_ENV_VAR]
        answer = self.sign_in(token)
        expect_equal(answer.status_code, 400, f"status of {answer.text}")
        message = answer.json()["error"]["message"]
        expect(message.startswith("INVALID_CUSTOM_TOKEN : "), f"the message is {message!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url", help="http://host:port")
    parser.add_argument("project")
    making = Making(parser.parse_args(), sys.stdin.read())
    return run([making.a_custom_token_signs_in, making.an_unsigned_one_does_not])


if __name__ == "__main__":
    sys.exit(main())
