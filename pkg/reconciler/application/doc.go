// Package application reconciles the applications of any API. It reads from informers, lets pkg/lifecycle and pkg/submission
// compute the next step, and performs it.
package application
