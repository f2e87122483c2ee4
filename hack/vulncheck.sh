#!/usr/bin/env bash
# Looks for known vulnerabilities that Firesteel's code can reach. GOVULNDB names the database: a URL, or file:///folder for
# a copy, such as data/osv of github.com/golang/vulndb. If no database can be read, it prints "skipped".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
scan() { # module, packages
	go tool -modfile=tools/go.mod govulncheck -C "$1" ${GOVULNDB:+-db "$GOVULNDB"} "$2"
}
{ scan . ./... && scan cmd/kubectl-spark-upload ./... && scan hack/release ./push; } >"$log" 2>&1 || status=$?
case $status in
0) echo "no known vulnerability is reachable" ;;
3) cat "$log" && exit 1 ;; # govulncheck's status if it found some
*)
	if grep -q -e 'fetching vulnerabilities' -e 'vulnerability database' "$log"; then
		echo "skipped: the vulnerability database cannot be read: $(tail -n 1 "$log")"
	else
		cat "$log" && exit 1
	fi
	;;
esac
