// Package application reconciles the applications of any API: it reads from informers, asks
// pkg/lifecycle and pkg/submission what follows, and carries it out.
package application
