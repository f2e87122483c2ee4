// Package session signs users in to the console's pages, and guards what they send.
//
//	sessions.go    who sends a request: Sessions is a console.Guard
//	require.go     lets signed-in users through; of writes, only those of the console's own pages
//	sign_in.go     the form that takes a token, and the end of a session
//	proxy.go       a proxy that is trusted to say who the user is, with its proof
//	link.go        a link that begins a session once, in time, in the place of the form
//	cookie.go      the session in the user's browser: encrypted, in one or two cookies
//	expiry.go      when a token says that it ends
//	key.go         what encrypts cookies and signs the tokens of forms
//	form_token.go  what proves that a form is one of the console's
//	origin.go      which pages a request may come from
//	headers.go     what browsers may do with the pages
//	prefix.go      the path below which proxies serve the console
//
// A console stores nothing about its users: the session is the user's own token, which only the console can read from the cookie. The API server
// reviews the token at each request, and the answer is used for a minute, or for three while the API server gives none. So a session ends with its
// token, in each replica.
package session
