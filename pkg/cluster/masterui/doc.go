// Package masterui asks the masters of standalone clusters which workers are registered. A master serves this as JSON
// beside its web page.
package masterui
