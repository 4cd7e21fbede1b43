"""Verifies a delivery as a back end would: the body on standard input, its headers as JSON, the secret as it is set."""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

secret, headers = sys.argv[1], json.loads(sys.argv[2])
hook = Webhook(secret if secret.startswith("whsec_") else secret.encode())
try:
    event = hook.verify(sys.stdin.buffer.read(), headers)
except WebhookVerificationError as error:
    sys.exit(f"refused: {error}")
print(event["type"], event["data"]["localId"])
