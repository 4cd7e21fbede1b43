"""Verifies a session JWT and a session cookie with firebase-admin, also after a revocation.

The server must sign with RS256 and issue as Firebase does. The person's sessions are revoked in the end.
Prints one JSON line: what passed, and what failed with its reason; ends with 1 when something failed.
"""

import argparse
import sys
import time

from firebase_admin import auth

from admin_app import expect_equal, expect_refused, patched_app, run
from tokens import changed_tokens, claims_of


class Verification:
    """The steps, in their order: the last ones change the person."""

    def __init__(self, arguments):
        self.token = arguments.id_token
        self.claims = claims_of(self.token)
        self.uid = self.claims["sub"]
        self.cookie = None

    def a_token_is_verified(self):
        for check_revoked in (False, True):
            claims = auth.verify_id_token(self.token, check_revoked=check_revoked)
            expect_equal(claims["uid"], self.uid, "uid")
            expect_equal(claims["firebase"]["sign_in_provider"], "apple.com", "provider")

    def a_changed_token_is_refused(self):
        for _, changed in changed_tokens(self.token):
            expect_refused(auth.InvalidIdTokenError, lambda changed=changed: auth.verify_id_token(changed))

    def a_cookie_is_verified(self):
        self.cookie = auth.create_session_cookie(self.token, 300)
        for check_revoked in (False, True):
            claims = auth.verify_session_cookie(self.cookie, check_revoked=check_revoked)
            expect_equal(claims["uid"], self.uid, "uid")
            expect_equal(claims["auth_time"], self.claims["auth_time"], "auth_time")

    def a_changed_cookie_is_refused(self):
        for _, changed in changed_tokens(self.cookie):
            expect_refused(
                auth.InvalidSessionCookieError, lambda changed=changed: auth.verify_session_cookie(changed)
            )

    def a_token_is_no_cookie_and_a_cookie_no_token(self):
        expect_refused(auth.InvalidSessionCookieError, lambda: auth.verify_session_cookie(self.token))
        expect_refused(auth.InvalidIdTokenError, lambda: auth.verify_id_token(self.cookie))

    def somebody_disabled_is_refused_when_asked_for(self):
        auth.update_user(self.uid, disabled=True)
        try:
            expect_refused(
                auth.UserDisabledError, lambda: auth.verify_id_token(self.token, check_revoked=True)
            )
            expect_refused(
                auth.UserDisabledError, lambda: auth.verify_session_cookie(self.cookie, check_revoked=True)
            )
        finally:
            auth.update_user(self.uid, disabled=False)
        auth.verify_id_token(self.token, check_revoked=True)

    def what_was_issued_before_a_revocation_is_refused_when_asked_for(self):
        # Times are whole seconds: what was issued in the second of the revocation counts as issued after.
        issued = max(self.claims["iat"], claims_of(self.cookie)["iat"])
        while int(time.time()) <= issued:
            time.sleep(0.02)
        auth.revoke_refresh_tokens(self.uid)
        expect_refused(auth.RevokedIdTokenError, lambda: auth.verify_id_token(self.token, check_revoked=True))
        expect_refused(
            auth.RevokedSessionCookieError,
            lambda: auth.verify_session_cookie(self.cookie, check_revoked=True),
        )
        expect_equal(auth.verify_id_token(self.token)["uid"], self.uid, "uid without the question")

    def steps(self):
        return [
            self.a_token_is_verified,
            self.a_changed_token_is_refused,
            self.a_cookie_is_verified,
            self.a_changed_cookie_is_refused,
            self.a_token_is_no_cookie_and_a_cookie_no_token,
            self.somebody_disabled_is_refused_when_asked_for,
            self.what_was_issued_before_a_revocation_is_refused_when_asked_for,
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url", help="http://host:port")
    parser.add_argument("project")
    parser.add_argument("--admin-token", required=True, help="the bearer of an administrator")
    parser.add_argument("--id-token", required=True, help="session JWT of a person who signed in with Apple")
    parser.add_argument("--certs", help="URL of the certificates for session JWTs (default: /v1/certs)")
    parser.add_argument("--cookie-certs", help="URL of the certificates for cookies (default: /v1/certs)")
    arguments = parser.parse_args()
    patched_app(
        arguments.base_url,
        arguments.project,
        arguments.admin_token,
        certs=arguments.certs,
        cookie_certs=arguments.cookie_certs,
    )
    return run(Verification(arguments).steps())


if __name__ == "__main__":
    sys.exit(main())
