package session

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

const (
	// FormField is the field of a form that holds its token.
	FormField = "csrf"
	// FormHeader holds the token of a request without a form.
	FormHeader = "X-CSRF-Token"
	nonceBytes = 16
)

// CSRF returns a token for a form. Each call returns another one, so that no compressed page betrays it. All are valid as long as the session.
func (s *Session) CSRF() string {
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // it never fails
	return base64.RawURLEncoding.EncodeToString(append(nonce, s.sign(nonce)...))
}

func (s *Session) sign(nonce []byte) []byte {
	mac := hmac.New(sha256.New, s.sessions.Key.forms)
	mac.Write(nonce)
	mac.Write([]byte(s.binding))
	return mac.Sum(nil)
}

// hasFormToken reports whether a request has a token of the session. It reads the form: the caller has bounded the body.
func (s *Session) hasFormToken(r *http.Request) bool {
	given := r.Header.Get(FormHeader)
	if given == "" {
		given = r.PostFormValue(FormField)
	}
	decoded, err := base64.RawURLEncoding.DecodeString(given)
	return err == nil && len(decoded) == nonceBytes+sha256.Size && hmac.Equal(decoded[nonceBytes:], s.sign(decoded[:nonceBytes]))
}
