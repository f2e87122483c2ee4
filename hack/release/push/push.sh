#!/bin/sh
# Copies this release to a registry, and writes that registry into the manifests and the chart:
#   ./push registry.example.com/firesteel
set -eu
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) machine=$(uname -m) ;;
esac
program=$folder/bin/push-$system-$machine
if [ ! -f "$program" ]; then
	echo "push: this release has no program for $system/$machine. It has:" >&2
	ls "$folder/bin" >&2
	exit 1
fi
[ -x "$program" ] || chmod +x "$program" # a download does not keep this mode
exec "$program" -folder "$folder" "$@"
