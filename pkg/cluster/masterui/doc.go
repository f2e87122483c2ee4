// Package masterui asks the masters of standalone clusters which workers are registered with them. A master tells that
// on the page that it serves for people, as JSON.
package masterui
