"""Verifies session tokens with a key set that was fetched once, just before the issuer rotates its keys.

PyJWT, joserfc and Authlib each read the set and keep it. Each verifies the tokens of BEFORE; the line `cached` says
that this is done. The end of standard input says that the keys have been rotated: then each verifies the tokens of
BEFORE and AFTER with the set that it kept, and refuses every token that was changed. Ends with 1 when a good token is
refused or a bad one is not. BEFORE and AFTER are files with one token a line; AFTER is read after the rotation.
"""

import argparse
import json
import sys
import urllib.request

import jwt as pyjwt
from authlib.jose import JsonWebKey, JsonWebToken
from authlib.jose.errors import JoseError as AuthlibError
from joserfc import jwt as joserfc_jwt
from joserfc.errors import JoseError as JoserfcError
from joserfc.jwk import KeySet

from tokens import changed_tokens


class PyJWTVerifier:
    name = "PyJWT"

    def __init__(self, key_set, issuer, audience):
        self.keys = {key.key_id: key for key in pyjwt.PyJWKSet.from_dict(key_set).keys}
        self.issuer, self.audience = issuer, audience

    def subject(self, token):
        try:
            key = self.keys[pyjwt.get_unverified_header(token)["kid"]]
            claims = pyjwt.decode(
                token, key, algorithms=[key.algorithm_name], audience=self.audience, issuer=self.issuer
            )
        except (KeyError, pyjwt.PyJWTError):
            return None
        return claims["sub"]


class JoserfcVerifier:
    name = "joserfc"

    def __init__(self, key_set, issuer, audience):
        self.keys = KeySet.import_key_set(key_set)
        self.algorithms = sorted({key["alg"] for key in key_set["keys"]})
        self.rules = joserfc_jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
        )

    def subject(self, token):
        try:
            claims = joserfc_jwt.decode(token, self.keys, algorithms=self.algorithms).claims
            self.rules.validate(claims)
        except (ValueError, JoserfcError):
            return None
        return claims["sub"]


class AuthlibVerifier:
    name = "Authlib"

    def __init__(self, key_set, issuer, audience):
        self.keys = JsonWebKey.import_key_set(key_set)
        self.reader = JsonWebToken(sorted({key["alg"] for key in key_set["keys"]}))
        self.options = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": audience},
            "exp": {"essential": True},
        }

    def subject(self, token):
        try:
            claims = self.reader.decode(token, self.keys, claims_options=self.options)
            claims.validate()
        except (ValueError, AuthlibError):
            return None
        return claims["sub"]


def read_tokens(path):
    with open(path, encoding="ascii") as file:
        return file.read().split()


def faults(verifiers, tokens):
    for verifier in verifiers:
        for token in tokens:
            if verifier.subject(token) is None:
                yield f"{verifier.name} refuses a good token"
            for part, changed in changed_tokens(token):
                if verifier.subject(changed) is not None:
                    yield f"{verifier.name} accepts a token with another {part}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key-set", required=True, help="URL of the key set")
    parser.add_argument("--audience", required=True)
    parser.add_argument("--issuer", required=True)
    parser.add_argument("before")
    parser.add_argument("after")
    arguments = parser.parse_args()
    with urllib.request.urlopen(arguments.key_set, timeout=20) as answer:
        key_set = json.load(answer)
    verifiers = [
        verifier(key_set, arguments.issuer, arguments.audience)
        for verifier in (PyJWTVerifier, JoserfcVerifier, AuthlibVerifier)
    ]
    before = read_tokens(arguments.before)
    found = list(faults(verifiers, before))
    print("cached", flush=True)
    sys.stdin.read()
    tokens = before + read_tokens(arguments.after)
    found += faults(verifiers, tokens)
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(tokens)} tokens")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
