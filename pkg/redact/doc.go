// Package redact takes the values of secrets out of what is written for people: conditions, statuses, Events and logs.
//
// A value is a secret's if its key or the value itself matches a pattern, as in Spark's Utils.redact. There are three
// ways to use it, from the narrowest to the widest:
//
//	Value(key, value)   the key and the value are known: a Spark property, an environment variable
//	For(json).Text(s)   a text about one object: its own pattern and the values of its secrets are known
//	Text(s)             any text: password=..., "token": ..., --secret ..., https://user:password@host
//
// Text is cheap for a text that mentions no secret: it is applied to each message, also on paths that are taken often.
package redact
