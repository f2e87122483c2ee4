#!/usr/bin/env bash
# Looks for functions that nothing calls. In all modules these are functions that neither a program nor a test calls. In
# Firesteel's own packages these are also functions that only tests call. The local cluster's kubernetes command is left out, as
# in lint.sh.
set -euo pipefail
shopt -s inherit_errexit # a failed analysis has found nothing
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

deadcode() { go tool -modfile="$root/tools/go.mod" deadcode "$@"; }

uncalled() {
	local found
	found=$(deadcode -test "$@")
	grep -v -e 'unreachable func: Example' <<<"$found" || true # go doc shows an example without output, and no test runs it
}

# What only tests call on purpose: packages that help tests, and what authors of handlers import (docs/users/handlers.md).
helpers='^internal/cost/|^pkg/[^:]*test/'
offered='^pkg/function/|^pkg/events/transition\.go:.*: (DecodeTransition|DecodeClock|decode)$'

# Only tests of other modules call it, and the one that calls all of it has to reach it.
recorded='test/harness/recorded'

# What a program that is a module of its own does not call either, of a package that it shares with those of the main module.
uncalledThere() { # module package
	(cd "$1" && deadcode -filter "^github\.com/firesteel-dev/firesteel/$2$" ./...) | sed "s#^$root/##"
}

onlyTested() {
	local found shared there
	found=$(deadcode -filter '^github\.com/firesteel-dev/firesteel/(cmd|hack|internal|pkg)/' ./...)
	shared=$(grep '^pkg/upload/' <<<"$found" || true)
	there=$(uncalledThere cmd/kubectl-spark-upload pkg/upload)
	found=$(grep -v '^pkg/upload/' <<<"$found" || true)$'\n'$(comm -12 <(sort <<<"$shared") <(sort <<<"$there"))
	grep -v -E -e "^\$|$helpers|$offered" <<<"$found" | sed 's/$/ (only tests call it)/' || true
}

dead=$(
	main=$(uncalled ./...)
	grep -v "^$recorded/" <<<"$main" || true
	(cd cmd/kubectl-spark-upload && uncalled ./...)
	(cd test/console && uncalled -filter="firesteel/test/console" ./...)
	(cd test/install && uncalled -filter="firesteel/(test/install|$recorded)" ./...)
	(cd hack/release && uncalled ./...)
	(cd hack/localcluster && uncalled ./cmd/localcluster/... ./cmd/pause/... ./internal/...)
	onlyTested
)
[[ -z $dead ]] || { echo "$dead" && exit 1; }
