"""Uses firebase-admin with all of Google's addresses as they are built in, under private DNS and a private CA.

Names are resolved here and not by the machine: every connection to a host of Google's goes to the server at PORT, which
proves by a certificate of the private CA (REQUESTS_CA_BUNDLE) that it may have that name. Signs in, verifies, and manages.
Prints one JSON line: what passed, and what failed with its reason; ends with 1 when something failed.
"""

import argparse
import socket
import sys

import firebase_admin
import requests
from firebase_admin import auth

from admin_app import StaticCredential, expect, expect_equal, run
from tokens import changed_tokens

GOOGLE = {
    "www.googleapis.com",
    "identitytoolkit.googleapis.com",
    "securetoken.googleapis.com",
    "securetoken.google.com",
}


def resolve_privately(port):
    real = socket.getaddrinfo

    def resolve(host, service, *rest, **options):
        if host in GOOGLE:
            return real("127.0.0.1", port, *rest, **options)
        raise OSError(f"{host} is not a name of this network")

    socket.getaddrinfo = resolve


class PrivateNetwork:
    """The steps, in their order."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.session = None

    def an_app_signs_in_at_googles_address(self):
        answer = requests.post(
            "https://www.googleapis.com/identitytoolkit/v3/relyingparty/verifyAssertion?key=AIza",
            json={
                "requestUri": "http://localhost",
                "postBody": f"providerId=apple.com&id_token={self.arguments.apple_token}&nonce={self.arguments.nonce}",
                "returnSecureToken": True,
                "returnIdpCredential": True,
                "autoCreate": True,
            },
            timeout=20,
        )
        expect_equal(answer.status_code, 200, answer.text)
        self.session = answer.json()

    def it_refreshes_there(self):
        answer = requests.post(
            "https://securetoken.googleapis.com/v1/token?key=AIza",
            json={"grantType": "refresh_token", "refreshToken": self.session["refreshToken"]},
            timeout=20,
        )
        expect_equal(answer.status_code, 200, answer.text)
        self.session["idToken"] = answer.json()["access_token"]

    def a_token_is_verified_unmodified(self):
        for check_revoked in (False, True):
            claims = auth.verify_id_token(self.session["idToken"], check_revoked=check_revoked)
            expect_equal(claims["uid"], self.session["localId"], "uid")

    def a_changed_token_is_refused(self):
        for _, changed in changed_tokens(self.session["idToken"]):
            try:
                auth.verify_id_token(changed)
            except auth.InvalidIdTokenError:
                continue
            expect(False, "a changed token was accepted")

    def a_session_cookie_is_made_and_verified(self):
        cookie = auth.create_session_cookie(self.session["idToken"], expires_in=300)
        claims = auth.verify_session_cookie(cookie, check_revoked=True)
        expect_equal(claims["uid"], self.session["localId"], "uid")

    def the_account_is_managed(self):
        auth.set_custom_user_claims(self.session["localId"], {"role": "admin"})
        expect_equal(auth.get_user(self.session["localId"]).custom_claims, {"role": "admin"}, "claims")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("project")
    parser.add_argument("--admin-token", required=True)
    parser.add_argument("--apple-token", required=True)
    parser.add_argument("--nonce", required=True)
    arguments = parser.parse_args()
    resolve_privately(arguments.port)
    firebase_admin.initialize_app(
        StaticCredential(arguments.admin_token), {"projectId": arguments.project, "httpTimeout": 20}
    )
    steps = PrivateNetwork(arguments)
    return run(
        [
            steps.an_app_signs_in_at_googles_address,
            steps.it_refreshes_there,
            steps.a_token_is_verified_unmodified,
            steps.a_changed_token_is_refused,
            steps.a_session_cookie_is_made_and_verified,
            steps.the_account_is_managed,
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
