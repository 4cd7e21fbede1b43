// A back end that takes Bramley's session JWTs, with go-oidc and no framework.
//
//	go mod init example.com/back-end && go mod tidy
//	ISSUER=https://auth.example.com AUDIENCE=bramley PORT=3000 go run back_end.go
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Fetches the published keys, and remembers whether that failed. A page that is no key set, or has no keys, is an outage as
// well as no answer.
type keyFetcher struct{ failed atomic.Bool }

func (fetcher *keyFetcher) RoundTrip(request *http.Request) (*http.Response, error) {
	fetcher.failed.Store(true)
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	var set struct{ Keys []json.RawMessage }
	isSet := answer.StatusCode == http.StatusOK && json.Unmarshal(body, &set) == nil && len(set.Keys) > 0
	fetcher.failed.Store(!isSet)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

func main() {
	issuer := os.Getenv("ISSUER")
	fetcher := &keyFetcher{}
	client := oidc.ClientContext(context.Background(), &http.Client{Transport: fetcher, Timeout: 5 * time.Second})
	keys := oidc.NewRemoteKeySet(client, issuer+"/.well-known/jwks.json")
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
		case fetcher.failed.Load():
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
