// Package hostile makes manifests that try to cost more than their size explains: deep, long, many, of huge numbers, odd
// characters, expansions, cron texts, regular expressions and URLs. Its tests measure what they cost without a server;
// test/integration applies them to a real one.
package hostile
