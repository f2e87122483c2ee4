// Package redact removes the values of secrets from all output: conditions, statuses, Events and logs.
//
// A value is secret if its key or the value itself matches a pattern, as in Spark's Utils.redact. There are three functions, for
// different knowledge about the text:
//
//	Value(key, value)   the key and the value are known: a Spark property, an environment variable
//	For(json).Text(s)   a text about one object, whose own pattern and secret values are known
//	Text(s)             any text: password=..., "token": ..., --secret ..., https://user:password@host
//
// Text is cheap for a text without secrets, so it can be applied to every message.
//
//	redact.go                    Value and Text: what is secret
//	object.go                    For: the pattern and the secret values of one object
//	fields.go                    a part of an object as JSON
//	find.go, escape.go, yaml.go  finds secrets in a text; with escaped characters; in blocks of YAML
package redact
