"""A back end in the weeks of a move from Firebase: it takes the tokens of both issuers, each by its own keys.

Tokens are read from standard input, one a line. Prints the uid of each, or "refused".
"""

import argparse
import sys

import jwt

GOOGLE_KEYS = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"


class Issuers:
    """Which issuers there are: the keys, the audience and the algorithms of each."""

    def __init__(self) -> None:
        self.known = {}

    def add(self, issuer: str, audience: str, keys: str, algorithms: list[str]) -> None:
        self.known[issuer] = (jwt.PyJWKClient(keys), audience, algorithms)

    def uid(self, token: str) -> str:
        """The uid of a good token; both issuers call one person the same."""
        # What an unverified token says of its issuer chooses the keys it is verified with, and nothing else.
        claimed = jwt.decode(token, options={"verify_signature": False}).get("iss")
        if claimed not in self.known:
            raise jwt.InvalidIssuerError(claimed)
        keys, audience, algorithms = self.known[claimed]
        claims = jwt.decode(
            token,
            keys.get_signing_key_from_jwt(token).key,
            algorithms=algorithms,
            audience=audience,
            issuer=claimed,
            options={"require": ["exp", "iat", "sub", "aud", "iss"]},
        )
        return claims["sub"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bramley", required=True, help="BRAMLEY_PUBLIC_URL")
    parser.add_argument("--audience", default="bramley", help="BRAMLEY_PROJECT_ID")
    parser.add_argument("--firebase", required=True, help="the Firebase project")
    parser.add_argument("--firebase-keys", default=GOOGLE_KEYS)
    arguments = parser.parse_args()
    issuers = Issuers()
    issuers.add(arguments.bramley, arguments.audience, arguments.bramley + "/.well-known/jwks.json", ["ES256"])
    issuers.add(
        "https://securetoken.google.com/" + arguments.firebase, arguments.firebase, arguments.firebase_keys, ["RS256"]
    )
    for line in sys.stdin:
        try:
            print(issuers.uid(line.strip()))
        except jwt.PyJWTError:
            print("refused")


if __name__ == "__main__":
    main()
