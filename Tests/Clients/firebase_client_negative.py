"""Signs in with Apple's token through firebase-client-sdk, which cannot send a nonce: it must be refused.

Prints one JSON line with the message and status of the refusal; ends with 1 when there is none, or another.
"""

import argparse
import json
import sys
from urllib.parse import urlsplit

import requests
from firebase_client import AuthException, initialize_app


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url", help="http://host:port")
    parser.add_argument("project")
    parser.add_argument("--api-key", default="any")
    parser.add_argument("--apple-token", required=True, help="an ID token of Apple's with a nonce claim")
    arguments = parser.parse_args()
    app = initialize_app(
        {"apiKey": arguments.api_key, "projectId": arguments.project, "storageBucket": "none"}
    )
    address = urlsplit(arguments.base_url)
    app.auth.connect_emulator(address.hostname, address.port, scheme=address.scheme)
    try:
        app.auth.sign_in_with_oauth("apple.com", id_token=arguments.apple_token)
    except AuthException as error:
        message = ((error.raw_payload or {}).get("error") or {}).get("message") or error.message
        if error.http_status != 400 or not message.startswith("MISSING_OR_INVALID_NONCE : "):
            print(f"refused with {error.http_status} {message}", file=sys.stderr)
            return 1
        if app.session is not None:
            print("refused, but there is a session", file=sys.stderr)
            return 1
        print(json.dumps({"message": message, "status": error.http_status}))
        return 0
    except requests.RequestException as error:
        print(f"no answer: {error}", file=sys.stderr)
        return 1
    print("a token without a nonce was accepted", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
