package session

import (
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// algorithms are those by which tokens are signed. The console checks no signature: the API server does.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	jose.HS256, jose.HS384, jose.HS512,
}

// endOf returns when a token says that it ends; zero if it does not say so.
func endOf(token string) time.Time {
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return time.Time{}
	}
	var claims jwt.Claims
	if parsed.UnsafeClaimsWithoutVerification(&claims) != nil || claims.Expiry == nil {
		return time.Time{}
	}
	return claims.Expiry.Time()
}
