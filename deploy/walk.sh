# shellcheck shell=bash
# shellcheck disable=SC2154 # $bramley and $apple are set by whoever sources this
# Sourced: a sign-in from its beginning to its end, at the service of $bramley with the stand-in of $apple. Every request
# is shown as a command that can be typed again; what goes wrong ends the script.

say() { printf '\n'; printf '%s\n' "$@"; }

# pretty TEXT: JSON on many lines, anything else as it is.
pretty() { jq . <<<"$1" 2>/dev/null || printf '%s\n' "$1"; }

# show COMMAND: prints a command and what it answers.
show() {
  printf '\n$ %s\n' "$1"
  answer="$(eval "$1")"
  pretty "$answer"
}

# keep COMMAND NAME: prints a command that keeps something in the variable NAME, runs it, and prints what it kept.
keep() {
  printf '\n$ %s\n' "$1"
  eval "$1"
  pretty "${!2}"
}

say "A stand-in for Apple listens at $apple, Bramley at $bramley." \
  "Every line behind a \$ can be typed again in another shell, in this order. First these:"
printf '\n$ bramley=%s\n$ apple=%s\n' "$bramley" "$apple"

say "1. The app makes a random nonce, keeps it, and gives Apple its SHA-256. Apple's sheet ends with an ID token;" \
  "   here the stand-in mints it."
keep "rawNonce=\$(head -c 24 /dev/urandom | base64 | tr +/ -_)" rawNonce
keep "appleToken=\$(curl -sS \$apple/mint \\
    -d '{\"audience\":\"com.example.demo\",\"nonceRaw\":\"'\$rawNonce'\",\"email\":\"ada@example.com\"}' | jq -r .idToken)" \
  appleToken

say "2. The app posts the token, the raw nonce and the person's name. Bramley checks the nonce and Apple's signature," \
  "   keeps the account, and answers with a session of its own."
keep "signedIn=\$(curl -sS \$bramley/v1/signInWithIdp -H 'Content-Type: application/json' \\
    -d '{\"idToken\":\"'\$appleToken'\",\"rawNonce\":\"'\$rawNonce'\",\"fullName\":{\"givenName\":\"Ada\",\"familyName\":\"Example\"}}')" \
  signedIn

say "3. An hour later the app refreshes: the refresh token is traded for its successor and a fresh session JWT."
keep "refreshToken=\$(jq -r .refreshToken <<<\$signedIn)" refreshToken
keep "refreshed=\$(curl -sS \$bramley/v1/token -d grant_type=refresh_token -d refresh_token=\$refreshToken)" refreshed
keep "sessionToken=\$(jq -r .id_token <<<\$refreshed)" sessionToken

say "4. A back end verifies the session JWT with the published key set (here by the program \`jose\` of Debian)."
show "curl -sS \$bramley/.well-known/jwks.json"
show "curl -sS \$bramley/.well-known/jwks.json | jose jws ver -i \$sessionToken -k - -O -"
if [[ "$(jq -r .name <<<"$answer")" != "Ada Example" ]]; then
  echo "the session JWT was not verified" >&2
  exit 1
fi

say "5. A nonce that is not the one of the token is refused, and the answer says which mistake it was."
show "curl -sS \$bramley/v1/signInWithIdp -H 'Content-Type: application/json' \
-d '{\"idToken\":\"'\$appleToken'\",\"rawNonce\":\"another-nonce\"}'"
reason="$(jq -r '.error.details[0].reason' <<<"$answer")"
if [[ "$reason" != nonce_mismatch ]]; then
  echo "expected nonce_mismatch, got $reason" >&2
  exit 1
fi
