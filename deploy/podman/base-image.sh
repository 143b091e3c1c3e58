#!/usr/bin/env bash
# Creates the base image of deploy/Dockerfile where no image registry is reachable: Debian bookworm from debootstrap,
# Node from this project's own node_modules, npm from the machine. The result has the registry's name only on this
# machine (`podman images` shows it as made here), so that the Dockerfile needs no change; it is for trying the
# deployment files, not for production.
set -euo pipefail

readonly IMAGE=docker.io/library/node:24-bookworm-slim
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if podman image exists "$IMAGE"; then
  echo "base image: $IMAGE is there already"
  exit 0
fi

node=$root/node_modules/node/bin/node
[[ -x $node ]] || { echo "base image: there is no $node; run npm start or npm test once" >&2; exit 1; }
npm=$(npm root -g 2> /dev/null)/npm
[[ -d $npm ]] || { echo "base image: npm of this machine is not at $npm" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "base image: debootstrap of Debian bookworm (about 220 MB) ..."
timeout 300 debootstrap --variant=minbase bookworm "$work/rootfs" > "$work/debootstrap.log" 2>&1 ||
  { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }
rm -rf "$work"/rootfs/var/cache/apt/archives/*.deb "$work"/rootfs/var/lib/apt/lists/*
install -m 0755 "$node" "$work/rootfs/usr/local/bin/node"
mkdir -p "$work/rootfs/usr/local/lib/node_modules"
cp -a "$npm" "$work/rootfs/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/rootfs/usr/local/bin/npm"
tar -C "$work/rootfs" -c . |
  podman import --quiet --message 'made by deploy/podman/base-image.sh' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$IMAGE" > /dev/null
podman run --rm --network none "$IMAGE" node --version
