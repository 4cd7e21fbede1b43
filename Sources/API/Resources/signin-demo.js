"use strict";

const page = location.origin + location.pathname;
const show = (id, text) => { document.getElementById(id).textContent = text ?? ""; };
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// Only this page has the verifier; what goes through the browser is its digest (RFC 7636).
async function begin() {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const state = base64url(crypto.getRandomValues(new Uint8Array(16)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  sessionStorage.setItem("attempt", JSON.stringify({ verifier, state }));
  const query = new URLSearchParams({
    redirect_uri: page, state, code_challenge: base64url(digest), code_challenge_method: "S256",
  });
  const client = document.getElementById("client").value.trim();
  if (client) query.set("client_id", client);
  location.assign("/v1/apple/authorize?" + query);
}

async function end(query) {
  history.replaceState(null, "", page);
  const attempt = JSON.parse(sessionStorage.getItem("attempt") ?? "null");
  sessionStorage.removeItem("attempt");
  if (!attempt || attempt.state !== query.get("state")) return show("status", "not begun here");
  if (query.get("error")) return show("status", query.get("error"));
  const traded = await fetch("/v1/token", {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code", code: query.get("code"), code_verifier: attempt.verifier,
    }),
  });
  const tokens = await traded.json();
  if (!traded.ok) return show("status", tokens.error.message);
  const asked = await fetch("/v1/account", { headers: { Authorization: "Bearer " + tokens.id_token } });
  const account = await asked.json();
  if (!asked.ok) return show("status", account.error.message);
  show("localId", account.localId);
  show("name", account.displayName);
  show("email", account.email);
  show("session", JSON.parse(atob(tokens.id_token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).sid);
  document.getElementById("account").hidden = false;
  show("status", "signed in");
}

document.getElementById("signin").addEventListener("click", () => {
  begin().catch((fault) => show("status", String(fault)));
});
const query = new URLSearchParams(location.search);
if (query.has("code") || query.has("error")) end(query).catch((fault) => show("status", String(fault)));
