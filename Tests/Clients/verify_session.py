"""Verifies a session token as a back end would, with PyJWT and nothing but the published key set.

The token is read from standard input. Prints the subject; ends with 1 when the token is refused.
"""

import argparse
import sys

import jwt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key-set", required=True, help="URL of the key set")
    parser.add_argument("--audience", required=True)
    parser.add_argument("--issuer", required=True)
    arguments = parser.parse_args()
    token = sys.stdin.read().strip()
    try:
        key = jwt.PyJWKClient(arguments.key_set).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            # The key's own algorithm, never the token's.
            algorithms=[key.algorithm_name],
            audience=arguments.audience,
            issuer=arguments.issuer,
            options={"require": ["exp", "iat", "sub", "aud", "iss"]},
        )
    except jwt.PyJWTError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    print(claims["sub"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
