// Package consolepages holds objects for tests of the console's pages: a morning of a platform, at a fixed time, and names and messages that a
// hostile user may write.
package consolepages
