#!/usr/bin/env bash
# Proves that a release is reproducible and works: builds it twice, from copies of the source in different folders, compares all
# bytes, and then signs one, checks its parts and copies it to a registry. The first time, cosign is compiled for some minutes.
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
	make --no-print-directory -C "$1" release VERSION=v0.0.0-check KO_DOCKER_REPO=registry.example.com/firesteel \
		KO_DEFAULTBASEIMAGE=$address/base:1
}

copy() { # folder
	mkdir -p "$1"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory="$1" 2>/dev/null || true
}

copy "$work/a/source"
copy "$work/another-folder/further-down/source"
release "$work/a/source"
release "$work/another-folder/further-down/source"
diff -r "$work/a/source/release" "$work/another-folder/further-down/source/release"
echo "two builds are the same to the byte: $(wc -l <"$work/a/source/release/checksums.txt") files"

export COSIGN_PASSWORD=check COSIGN_KEY=$work/key/cosign.key
cosign=$(sed -n 's/.*Cosign = "\(.*\)"/\1/p' hack/release/build/sign.go)
mkdir "$work/key" && (cd "$work/key" && go run "$cosign" generate-key-pair)
release "$work/a/source"
(cd "$work/a/source/release" && sha256sum --check --quiet checksums.txt)
cd hack/release && go test -count=1 -v -timeout=10m ./verify -release="$work/a/source/release" -registry=$address/mirror -cosign="$cosign"
