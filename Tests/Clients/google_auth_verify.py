"""Verifies a session JWT with google-auth, by the map of certificates and by the key set.

Prints one JSON line with the subject that each of them gives; ends with 1 when a good token is refused or a
changed one is not.
"""

import argparse
import json
import sys

import google.auth.transport.requests
import jwt
from google.oauth2 import id_token

from tokens import changed_tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--certs", required=True, help="URL of the map from key id to certificate")
    parser.add_argument("--key-set", required=True, help="URL of the JWK set")
    parser.add_argument("--audience", required=True)
    parser.add_argument("--issuer", required=True)
    parser.add_argument("--token", required=True)
    arguments = parser.parse_args()
    request = google.auth.transport.requests.Request()
    subjects = {}
    for name, url in (("certs", arguments.certs), ("keySet", arguments.key_set)):

        def verify(token, audience=arguments.audience, url=url):
            return id_token.verify_token(token, request, audience=audience, certs_url=url)

        try:
            claims = verify(arguments.token)
        except (ValueError, jwt.PyJWTError) as error:
            print(f"{name}: refused: {error}", file=sys.stderr)
            return 1
        # google-auth checks signature, times and audience; the issuer is left to its caller.
        if claims["iss"] != arguments.issuer:
            print(f"{name}: issued by {claims['iss']}", file=sys.stderr)
            return 1
        bad = [
            (f"a changed {part}", token, arguments.audience)
            for part, token in changed_tokens(arguments.token)
        ]
        for what, token, audience in bad + [("another audience", arguments.token, arguments.audience + "x")]:
            try:
                verify(token, audience)
            except (ValueError, jwt.PyJWTError):
                continue
            print(f"{name}: accepted {what}", file=sys.stderr)
            return 1
        subjects[name] = claims["sub"]
    print(json.dumps(subjects))
    return 0


if __name__ == "__main__":
    sys.exit(main())
