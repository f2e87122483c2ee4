#!/usr/bin/env bash
# Writes release/firesteel-core.yaml and release/firesteel-eventing.yaml, all objects in the order in which they are applied and
# all images by digest, and each image's SBOM in release/sbom. The images go to the registry KO_DOCKER_REPO; with OCI=DIR into
# an OCI layout there instead, from which they are still to be copied to KO_DOCKER_REPO.
# KO_DEFAULTBASEIMAGE is what they are built on, ko's own choice unless set. The same source and base make the same bytes,
# so name the base by its digest. VERSION is the version that all objects are labelled with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${KO_DOCKER_REPO:?the registry that the images are pushed to, or with OCI=DIR copied to}"
export KO_DOCKER_REPO
version=${VERSION:-$(git describe --tags --always --dirty)}
# The version control data of a folder is not part of the source.
export GOFLAGS="-trimpath -buildvcs=false"

rm -rf release
mkdir -p release/sbom
flags=(--sbom=spdx --sbom-dir="$PWD/release/sbom" --image-label="org.opencontainers.image.version=$version")
ko() { go tool -modfile=tools/go.mod ko "$@" 2>release/ko.log || { cat release/ko.log >&2 && exit 1; }; }
[[ -z ${OCI:-} ]] || flags+=(--push=false)

write() { # name folder
	echo "Building the images of $2; the first time, that compiles ko and Firesteel for some minutes" >&2
	# Labels of objects, which are indented by four: a selector must not change with the version.
	ko resolve "${flags[@]}" --filename="$2" |
		sed "s/^    app.kubernetes.io\/part-of: firesteel$/&\n    app.kubernetes.io\/version: \"$version\"/" >"release/$1.yaml"
}

write firesteel-core config/
write firesteel-eventing config/eventing/
if [[ -n ${OCI:-} ]]; then
	mapfile -t images < <(grep -ho 'ko://[^ "]*' config/*.yaml config/eventing/*.yaml | sort -u)
	# ko uses the folder as the beginning of an image's name, and not every path is valid there.
	ko build "${flags[@]}" --oci-layout-path=release/oci "${images[@]}" >/dev/null
	mkdir -p "$(dirname "$OCI")" && rm -rf "$OCI" && mv release/oci "$OCI"
fi
rm release/ko.log
ls release/*.yaml release/sbom/* >&2
