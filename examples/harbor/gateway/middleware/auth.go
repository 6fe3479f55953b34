package middleware

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Errors a TokenVerifier reports; anything else is an internal failure.
var (
	ErrMalformedToken = errors.New("malformed token")
	ErrBadSignature   = errors.New("bad token signature")
	ErrTokenExpired   = errors.New("token expired")
)

const tokenPrefix = "hbr1"

// Claims are what an access token says about its bearer. The JSON is written
// by TokenService in web/src/auth/tokenService.ts.
type Claims struct {
	ID        string   `json:"id"`
	Subject   string   `json:"subject"`
	Scopes    []string `json:"scopes"`
	ExpiresAt int64    `json:"expiresAt"`
}

// Allows reports whether the claims include a scope. Admins may do everything.
func (c Claims) Allows(scope string) bool {
	for _, granted := range c.Scopes {
		if granted == scope || granted == "admin" {
			return true
		}
	}
	return false
}

// TokenVerifier turns a raw token into claims, or says why it cannot.
type TokenVerifier interface {
	Verify(raw string) (Claims, error)
}

// HMACVerifier checks access tokens against the secret shared with the portal.
// It knows nothing about revocation; that is up to the portal's TokenService.
type HMACVerifier struct {
	Secret []byte
	Now    func() time.Time
}

// Verify implements TokenVerifier: format, then signature, then expiry.
func (v HMACVerifier) Verify(raw string) (Claims, error) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 || parts[0] != tokenPrefix {
		return Claims{}, ErrMalformedToken
	}
	mac := hmac.New(sha256.New, v.Secret)
	mac.Write([]byte(parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		return Claims{}, ErrBadSignature
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return Claims{}, ErrMalformedToken
	}
	var claims Claims
	if err := json.Unmarshal(payload, &claims); err != nil {
		return Claims{}, ErrMalformedToken
	}
	if v.Now().UnixMilli() >= claims.ExpiresAt {
		return Claims{}, ErrTokenExpired
	}
	return claims, nil
}

type claimsKey struct{}

// ClaimsFrom returns the claims that RequireScope stored in the context.
func ClaimsFrom(ctx context.Context) (Claims, bool) {
	claims, ok := ctx.Value(claimsKey{}).(Claims)
	return claims, ok
}

// RequireScope rejects requests without a valid token for the scope.
func RequireScope(verifier TokenVerifier, scope string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			claims, err := verifier.Verify(raw)
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
			if !claims.Allows(scope) {
				http.Error(w, "missing scope "+scope, http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, claims)))
		})
	}
}
