#!/usr/bin/env bash
# Proves that a release is reproducible: builds it twice, from copies of the source in different folders, and compares the
# bytes of manifests, image digests in them, and SBOMs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
registry=
cleanup() {
	[[ -z $registry ]] || kill "$registry" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT

address=127.0.0.1:5006
(cd hack/localcluster && go build -o "$work/localcluster" ./cmd/localcluster)
"$work/localcluster" registry --address "$address" --dir "$work/registry" --base 2>"$work/registry.log" &
registry=$!
curl --retry 50 --retry-delay 1 --retry-all-errors -sf "http://$address/v2/base/manifests/1" -o /dev/null ||
	{ cat "$work/registry.log" >&2 && exit 1; }

release() { # folder
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory="$1" 2>/dev/null || true
	(cd "$1" && VERSION=v0.0.0-check KO_DOCKER_REPO=registry.example.com/firesteel KO_DEFAULTBASEIMAGE=$address/base:1 \
		OCI=$1/../oci hack/release.sh)
}

release "$work/a/source"
release "$work/another-folder/further-down/source"
diff -r "$work/a/source/release" "$work/another-folder/further-down/source/release"
for manifest in core eventing; do
	if grep -n 'ko://' "$work/a/source/release/firesteel-$manifest.yaml" ||
		grep -nE '^ +(- )?image: [a-z]' "$work/a/source/release/firesteel-$manifest.yaml" | grep -v '@sha256:'; then
		echo "an image of firesteel-$manifest.yaml is not named by its digest" >&2
		exit 1
	fi
done
for digest in $(grep -ho 'sha256:[0-9a-f]*' "$work"/a/source/release/*.yaml | sort -u); do
	grep -q "$digest" "$work/a/oci/index.json" || { echo "$digest is not in the OCI layout" >&2 && exit 1; }
done
echo "two builds are the same to the byte: $(grep -ho 'sha256:[0-9a-f]*' "$work"/a/source/release/*.yaml | sort -u | wc -l) images"
