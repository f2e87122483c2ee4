#!/bin/sh
# Runs the program of this script's name, for the system and the machine at hand. The release's README.md says what it does.
set -eu
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name=$(basename -- "$0")
system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) machine=$(uname -m) ;;
esac
program=$folder/bin/$name-$system-$machine
if [ ! -f "$program" ]; then
	echo "$name: this release has no program for $system/$machine. It has:" >&2
	ls "$folder/bin" >&2
	exit 1
fi
# A download does not keep the mode, and a share may be read-only or without programs. -folder of push names the folder then.
if [ ! -x "$program" ] && ! chmod +x "$program" 2>/dev/null; then
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	cp "$program" "$copy/" && chmod +x "$copy/${program##*/}"
	[ "$name" != push ] || set -- -folder "$folder" "$@"
	status=0
	"$copy/${program##*/}" "$@" || status=$?
	exit "$status"
fi
exec "$program" "$@"
