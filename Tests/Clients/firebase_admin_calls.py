"""Every management call of firebase-admin that Sign in with Apple needs, against a server of one's own.

Without --admin-token the server is called as Firebase's emulator is, so it must be in development mode. With
it, the server must not be, for the bearer `owner` has to be refused. The person of the id token is left as he
was. Prints one JSON line: the way, what passed, and what failed with its reason; ends with 1 when something
failed.
"""

import argparse
import secrets
import sys
import time

from firebase_admin import auth, exceptions, _token_gen

from admin_app import emulated_app, expect, expect_equal, expect_refused, patched_app, run
from tokens import claims_of

APPLE = "apple.com"
MISSING = "nobody-" + secrets.token_hex(6)


class Calls:
    """The steps, in an order in which each finds what the ones before have left."""

    def __init__(self, arguments, app):
        self.arguments = arguments
        # pylint: disable=protected-access
        self.users = auth._get_client(app)._user_manager
        self.run = secrets.token_hex(6)
        self.uid = f"created-{self.run}"
        self.email = f"created-{self.run}@example.com"
        self.imported = [f"imported-{index}-{self.run}" for index in range(5)]
        self.person = claims_of(arguments.id_token)

    def subject(self, uid):
        return f"000123.{uid}.0456"

    def server_update(self, **fields):
        """An update without the checks that the SDK makes before it sends one."""
        # pylint: disable=protected-access
        return self.users._make_request("post", "/accounts:update", json={"localId": self.uid, **fields})

    # People who signed in.

    def a_person_who_signed_in_is_found(self):
        user = auth.get_user(self.person["sub"])
        expect_equal(user.uid, self.person["sub"], "uid")
        expect_equal(user.disabled, False, "disabled")
        expect_equal(user.email, self.person.get("email"), "email")
        expect(user.user_metadata.creation_timestamp, "no creation time")
        expect(user.user_metadata.last_sign_in_timestamp, "no time of the last sign-in")
        found = [info.uid for info in user.provider_data if info.provider_id == APPLE]
        expect_equal(found, self.person["firebase"]["identities"][APPLE], "subjects at Apple")

    def a_person_who_signed_in_is_found_by_the_subject(self):
        subject = self.person["firebase"]["identities"][APPLE][0]
        found = auth.get_users([auth.ProviderIdentifier(APPLE, subject)])
        expect_equal([user.uid for user in found.users], [self.person["sub"]], "users")

    # Accounts made by an administrator.

    def an_account_is_created(self):
        user = auth.create_user(
            uid=self.uid,
            email=self.email,
            display_name="Ann & Bö 😀",
            photo_url="https://example.com/a.png",
            email_verified=True,
            disabled=False,
        )
        expect_equal(user.uid, self.uid, "uid")
        expect_equal(user.email, self.email, "email")
        expect_equal(user.display_name, "Ann & Bö 😀", "display name")
        expect_equal(user.photo_url, "https://example.com/a.png", "photo URL")
        expect_equal(user.email_verified, True, "email verified")
        expect_equal(user.disabled, False, "disabled")
        expect(user.user_metadata.creation_timestamp, "no creation time")

    def an_account_is_created_without_anything(self):
        user = auth.create_user()
        expect(user.uid, "no uid")
        expect_equal(user.email, None, "email")
        expect_equal(user.display_name, None, "display name")
        auth.delete_user(user.uid)

    def an_account_is_created_disabled(self):
        user = auth.create_user(disabled=True)
        expect_equal(user.disabled, True, "disabled")
        auth.delete_user(user.uid)

    def a_uid_is_given_once(self):
        expect_refused(auth.UidAlreadyExistsError, lambda: auth.create_user(uid=self.uid))

    def an_account_is_found_by_uid_and_by_email(self):
        expect_equal(auth.get_user(self.uid).email, self.email, "email")
        expect_equal(auth.get_user_by_email(self.email).uid, self.uid, "uid")

    def accounts_that_are_not_there_are_not_found(self):
        for call in (
            lambda: auth.get_user(MISSING),
            lambda: auth.get_user_by_email(MISSING + "@example.com"),
            lambda: auth.update_user(MISSING, display_name="Ann"),
            lambda: auth.set_custom_user_claims(MISSING, {"a": 1}),
            lambda: auth.revoke_refresh_tokens(MISSING),
            lambda: auth.delete_user(MISSING),
        ):
            expect_refused(auth.UserNotFoundError, call)

    # Changes.

    def names_are_changed_and_taken_away(self):
        user = auth.update_user(self.uid, display_name="Ann Other", photo_url="https://example.com/b.png")
        expect_equal(user.display_name, "Ann Other", "display name")
        expect_equal(user.photo_url, "https://example.com/b.png", "photo URL")
        user = auth.update_user(self.uid, display_name=auth.DELETE_ATTRIBUTE)
        expect_equal(user.display_name, None, "display name")
        expect_equal(user.photo_url, "https://example.com/b.png", "photo URL")
        user = auth.update_user(self.uid, photo_url=auth.DELETE_ATTRIBUTE)
        expect_equal(user.photo_url, None, "photo URL")
        expect_equal(user.email, self.email, "email")

    def an_email_is_changed(self):
        self.email = f"changed-{self.run}@example.com"
        user = auth.update_user(self.uid, email=self.email, email_verified=False)
        expect_equal((user.email, user.email_verified), (self.email, False), "email")
        expect_equal(auth.get_user_by_email(self.email).uid, self.uid, "uid")

    def an_account_is_disabled_and_enabled(self):
        expect_equal(auth.update_user(self.uid, disabled=True).disabled, True, "disabled")
        expect_equal(auth.get_user(self.uid).disabled, True, "disabled")
        expect_equal(auth.update_user(self.uid, disabled=False).disabled, False, "disabled")

    def custom_claims_are_set_and_cleared(self):
        claims = {"role": "admin", "level": 3, "groups": ["a", "ü"], "https://example.com/x": {"y": None}}
        auth.set_custom_user_claims(self.uid, claims)
        expect_equal(auth.get_user(self.uid).custom_claims, claims, "claims")
        auth.update_user(self.uid, display_name="Ann")
        expect_equal(auth.get_user(self.uid).custom_claims, claims, "claims after another change")
        auth.set_custom_user_claims(self.uid, None)
        expect_equal(auth.get_user(self.uid).custom_claims, None, "claims")

    def custom_claims_that_would_lie_are_refused(self):
        for name in ("sub", "firebase", "nonce"):
            expect_refused(ValueError, lambda name=name: auth.set_custom_user_claims(self.uid, {name: "x"}))
        for name in ("sub", "firebase", "nonce", "sid"):
            attributes = f'{{"{name}":"x"}}'
            expect_refused(
                exceptions.InvalidArgumentError,
                lambda attributes=attributes: self.server_update(customAttributes=attributes),
                "FORBIDDEN_CLAIM",
            )
        for attributes, code in (
            ("[]", "INVALID_CLAIMS"),
            ('{"a":"' + "x" * 1000 + '"}', "CLAIMS_TOO_LARGE"),
        ):
            expect_refused(
                exceptions.InvalidArgumentError,
                lambda attributes=attributes: self.server_update(customAttributes=attributes),
                code,
            )
        expect_equal(auth.get_user(self.uid).custom_claims, None, "claims")

    def refresh_tokens_are_revoked(self):
        before = int(time.time())
        auth.revoke_refresh_tokens(self.uid)
        since = auth.get_user(self.uid).tokens_valid_after_timestamp
        expect(before * 1000 <= since <= (int(time.time()) + 1) * 1000, f"valid since {since}, now {before}")

    # Many at once.

    def accounts_are_imported(self):
        created = 1_600_000_000_000
        records = [
            auth.ImportUserRecord(
                uid,
                email=f"{uid}@example.com",
                email_verified=True,
                display_name=f"Imported {index}",
                custom_claims={"index": index},
                user_metadata=auth.UserMetadata(created, created + 1000),
                provider_data=[auth.UserProvider(self.subject(uid), APPLE, f"{uid}@example.com")],
            )
            for index, uid in enumerate(self.imported)
        ]
        result = auth.import_users(records)
        expect_equal([(error.index, error.reason) for error in result.errors], [], "errors")
        expect_equal((result.success_count, result.failure_count), (5, 0), "counts")
        user = auth.get_user(self.imported[3])
        expect_equal(user.display_name, "Imported 3", "display name")
        expect_equal(user.email_verified, True, "email verified")
        expect_equal(user.custom_claims, {"index": 3}, "claims")
        expect_equal(user.user_metadata.creation_timestamp, created, "creation time")
        found = [(info.provider_id, info.uid) for info in user.provider_data]
        expect((APPLE, self.subject(user.uid)) in found, f"providers are {found}")

    def accounts_are_found_by_all_kinds_of_identifiers(self):
        first, second = self.imported[:2]
        result = auth.get_users(
            [
                auth.UidIdentifier(self.uid),
                auth.EmailIdentifier(f"{first}@example.com"),
                auth.ProviderIdentifier(APPLE, self.subject(second)),
                auth.UidIdentifier(MISSING),
                auth.ProviderIdentifier(APPLE, MISSING),
            ]
        )
        expect_equal({user.uid for user in result.users}, {self.uid, first, second}, "users")
        expect_equal(len(result.users), 3, "count")
        expect_equal(len(result.not_found), 2, "count of those not found")
        none = auth.get_users([auth.UidIdentifier(MISSING)])
        expect_equal((none.users, len(none.not_found)), ([], 1), "users")

    def accounts_are_listed_page_by_page(self):
        page, pages, seen = auth.list_users(max_results=2), 0, []
        while page:
            pages += 1
            expect(len(page.users) <= 2, f"{len(page.users)} on a page of two")
            seen += [user.uid for user in page.users]
            page = page.get_next_page()
        expect(pages >= 3, f"only {pages} pages")
        expect_equal(len(seen), len(set(seen)), "listed accounts")
        missing = {self.uid, self.person["sub"], *self.imported} - set(seen)
        expect_equal(missing, set(), "accounts that are not listed")
        every = [user.uid for user in auth.list_users().iterate_all()]
        expect_equal(sorted(every), sorted(seen), "accounts on one page")

    def a_provider_is_taken_away(self):
        user = auth.update_user(self.imported[0], providers_to_delete=[APPLE])
        expect_equal(
            [info.provider_id for info in user.provider_data if info.provider_id == APPLE], [], "providers"
        )
        found = auth.get_users([auth.ProviderIdentifier(APPLE, self.subject(user.uid))])
        expect_equal(found.users, [], "users with the identity")

    # Session cookies.

    def a_session_cookie_lives_from_five_minutes_to_two_weeks(self):
        token = self.arguments.id_token
        for seconds in (299, 1_209_601):
            expect_refused(ValueError, lambda seconds=seconds: auth.create_session_cookie(token, seconds))
        for seconds in (300, 1_209_600):
            cookie = claims_of(auth.create_session_cookie(token, seconds))
            expect_equal(cookie["exp"] - cookie["iat"], seconds, "life of the cookie")
            expect_equal(
                cookie["iss"], f"https://session.firebase.google.com/{self.arguments.project}", "issuer"
            )
            for name in ("sub", "aud", "auth_time"):
                expect_equal(cookie[name], self.person[name], name)

    def a_session_cookie_of_another_life_is_refused_by_the_server(self):
        kept = _token_gen.MIN_SESSION_COOKIE_DURATION_SECONDS, _token_gen.MAX_SESSION_COOKIE_DURATION_SECONDS
        _token_gen.MIN_SESSION_COOKIE_DURATION_SECONDS = -1
        _token_gen.MAX_SESSION_COOKIE_DURATION_SECONDS = 1 << 40
        try:
            for seconds in (299, 1_209_601, 0, 1 << 40):
                expect_refused(
                    exceptions.InvalidArgumentError,
                    lambda seconds=seconds: auth.create_session_cookie(self.arguments.id_token, seconds),
                    "INVALID_DURATION",
                )
        finally:
            _token_gen.MIN_SESSION_COOKIE_DURATION_SECONDS, _token_gen.MAX_SESSION_COOKIE_DURATION_SECONDS = (
                kept
            )

    def a_session_cookie_needs_a_good_token(self):
        changed = self.arguments.id_token[:-8] + "AAAAAAAA"
        expect_refused(auth.InvalidIdTokenError, lambda: auth.create_session_cookie(changed, 300))

    # The end.

    def an_account_is_deleted(self):
        auth.delete_user(self.uid)
        expect_refused(auth.UserNotFoundError, lambda: auth.get_user(self.uid))
        expect_refused(auth.UserNotFoundError, lambda: auth.delete_user(self.uid))

    def accounts_are_deleted_together(self):
        kept = self.users.delete_users(self.imported[:1], force_delete=False)
        expect_equal([error.index for error in kept.errors], [0], "index of the account that is not disabled")
        expect(kept.errors[0].reason.startswith("NOT_DISABLED"), f"the reason is {kept.errors[0].reason!r}")
        result = auth.delete_users(self.imported + [MISSING])
        expect_equal((result.success_count, result.failure_count), (6, 0), "counts")
        identifiers = [auth.UidIdentifier(uid) for uid in self.imported]
        expect_equal(auth.get_users(identifiers).users, [], "users")

    def another_bearer_is_refused(self):
        app = patched_app(self.arguments.base_url, self.arguments.project, "x" * 32, name="stranger")
        expect_refused(exceptions.UnauthenticatedError, lambda: auth.get_user(self.uid, app=app))
        owner = patched_app(self.arguments.base_url, self.arguments.project, "owner", name="owner")
        expect_refused(exceptions.UnauthenticatedError, lambda: auth.get_user(self.uid, app=owner))

    def steps(self):
        steps = [
            self.a_person_who_signed_in_is_found,
            self.a_person_who_signed_in_is_found_by_the_subject,
            self.an_account_is_created,
            self.an_account_is_created_without_anything,
            self.an_account_is_created_disabled,
            self.a_uid_is_given_once,
            self.an_account_is_found_by_uid_and_by_email,
            self.accounts_that_are_not_there_are_not_found,
            self.names_are_changed_and_taken_away,
            self.an_email_is_changed,
            self.an_account_is_disabled_and_enabled,
            self.custom_claims_are_set_and_cleared,
            self.custom_claims_that_would_lie_are_refused,
            self.refresh_tokens_are_revoked,
            self.accounts_are_imported,
            self.accounts_are_found_by_all_kinds_of_identifiers,
            self.accounts_are_listed_page_by_page,
            self.a_provider_is_taken_away,
            self.a_session_cookie_lives_from_five_minutes_to_two_weeks,
            self.a_session_cookie_of_another_life_is_refused_by_the_server,
            self.a_session_cookie_needs_a_good_token,
            self.an_account_is_deleted,
            self.accounts_are_deleted_together,
        ]
        return steps + ([self.another_bearer_is_refused] if self.arguments.admin_token else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url", help="http://host:port")
    parser.add_argument("project")
    parser.add_argument("--admin-token", help="the bearer of an administrator; without it, as to an emulator")
    parser.add_argument("--id-token", required=True, help="session JWT of a person who signed in with Apple")
    arguments = parser.parse_args()
    if arguments.admin_token:
        app = patched_app(arguments.base_url, arguments.project, arguments.admin_token)
    else:
        app = emulated_app(arguments.base_url, arguments.project)
    way = "patched" if arguments.admin_token else "emulated"
    return run(Calls(arguments, app).steps(), {"way": way})


if __name__ == "__main__":
    sys.exit(main())
