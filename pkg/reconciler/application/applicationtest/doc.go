// Package applicationtest builds applications and driver Pods for tests.
package applicationtest
