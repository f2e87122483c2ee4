#!/usr/bin/env bash
# unless-passed.sh NAME COMMAND...: runs a command that tests, unless it passed with the same files of the repository and the same Go
# before. It is for tests that read files outside their module, which go test does not notice when it looks for a cached result.
set -euo pipefail

name=$1 && shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tree is the hash of all files but ignored ones, as they are. Nothing is written to the repository.
tree() {
	# With the time of the index: git reads a file that was written in the same second as the index, or later.
	cp -p "$(git -C "$root" rev-parse --path-format=absolute --git-path index)" "$work/index"
	local -x GIT_INDEX_FILE=$work/index GIT_OBJECT_DIRECTORY=$work/objects
	local -x GIT_ALTERNATE_OBJECT_DIRECTORIES=$1
	mkdir "$work/objects"
	git -C "$root" add --all && git -C "$root" write-tree
}

passed=
if objects=$(git -C "$root" rev-parse --path-format=absolute --git-path objects 2>/dev/null); then
	key=$({ tree "$objects" && go env GOVERSION GOOS GOARCH GOFLAGS CGO_ENABLED && echo "$*"; } | sha256sum)
	passed=${FIRESTEEL_CACHE:-$HOME/.cache/firesteel}/passed/$name-${key:0:40}
	if [[ -e $passed ]]; then
		echo "ok  	$name	(passed with these files before; to run it again: rm $passed)"
		exit
	fi
fi
"$@"
if [[ -n $passed ]]; then
	mkdir -p "$(dirname "$passed")"
	rm -f "$(dirname "$passed")/$name"-*
	touch "$passed"
fi
