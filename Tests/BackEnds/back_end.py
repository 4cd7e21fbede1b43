"""A back end that takes Bramley's session JWTs, with PyJWT and no framework.

    pip install 'pyjwt[crypto]'
    ISSUER=https://auth.example.com AUDIENCE=bramley PORT=3000 python3 back_end.py
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

ISSUER, AUDIENCE = os.environ["ISSUER"], os.environ["AUDIENCE"]


class NoKeys(Exception):
    """Says nothing about the token: whoever gets a 401 signs people out."""


class Keys(jwt.PyJWKClient):
    """The published keys. A page that is no key set is an outage as well as no answer."""

    def get_signing_keys(self, refresh=False):
        try:
            return super().get_signing_keys(refresh)
        except (jwt.PyJWTError, ValueError) as fault:
            raise NoKeys from fault


keys = Keys(ISSUER + "/.well-known/jwks.json", lifespan=1800)


def account(authorization):
    """The account that is signed in."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise jwt.InvalidTokenError("no bearer")
    key = keys.get_signing_key_from_jwt(token)
    # The algorithm is ours to say (BRAMLEY_SESSION_ALG), never the token's.
    return jwt.decode(token, key, algorithms=["ES256"], audience=AUDIENCE, issuer=ISSUER)["sub"]


class BackEnd(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            self.answer(200, {"account": account(self.headers.get("Authorization", ""))})
        except NoKeys:
            self.answer(503, {"error": "no keys"})
        except jwt.PyJWTError:
            self.answer(401, {"error": "sign in"})

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(content)


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), BackEnd)
print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
