// A back end that takes Bramley's session JWTs, with go-oidc and no framework.
//
//	go mod init example.com/back-end && go mod tidy
//	ISSUER=https://auth.example.com AUDIENCE=bramley PORT=3000 go run back_end.go
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

func main() {
	issuer := os.Getenv("ISSUER")
	keys := oidc.NewRemoteKeySet(context.Background(), issuer+"/.well-known/jwks.json")
	// The algorithm is ours to say (BRAMLEY_SESSION_ALG), never the token's.
	verifier := oidc.NewVerifier(issuer, keys, &oidc.Config{
		ClientID: os.Getenv("AUDIENCE"), SupportedSigningAlgs: []string{oidc.ES256}})

	answer := func(w http.ResponseWriter, status int, body map[string]string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	backEnd := func(w http.ResponseWriter, r *http.Request) {
		scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			bearer = ""
		}
		token, err := verifier.Verify(r.Context(), bearer)
		switch {
		case err == nil:
			answer(w, http.StatusOK, map[string]string{"account": token.Subject})
		case strings.Contains(err.Error(), "fetching keys"):
			// Says nothing about the token: whoever gets a 401 signs people out.
			answer(w, http.StatusServiceUnavailable, map[string]string{"error": "no keys"})
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			answer(w, http.StatusUnauthorized, map[string]string{"error": "sign in"})
		}
	}

	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(backEnd)))
}
