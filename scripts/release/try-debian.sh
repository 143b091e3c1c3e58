#!/bin/sh
# Installs, starts, reloads, upgrades, removes and purges the Debian package under a real systemd, in namespaces of their own.
#
#   sudo scripts/release/try-debian.sh FOLDER [ROOT]
#
# FOLDER holds the two packages that `node scripts/release/try-debian.ts FOLDER` made. ROOT is a Debian root, such as one of debootstrap with systemd
# and adduser; without it, this machine's own. Nothing is written to either: they are the lower layer of an overlay in memory. Needs Linux, root, overlay,
# unshare and systemd in the root. Ends with 0 when everything went as it should; what was done stands in FOLDER/log.
set -eu

folder=$(cd "$1" && pwd)
root=${2:-/}
here=$(cd "$(dirname "$0")" && pwd)
limit_seconds=${TRY_SECONDS:-300}

cp "$here/try-debian-inside.sh" "$folder/inside.sh"
rm -f "$folder/log" "$folder/result"
cat > "$folder/boot.sh" <<BOOT
set -eu
top=\$(mktemp -d)
mount -t tmpfs top "\$top"
mkdir "\$top/upper" "\$top/work" "\$top/root"
mount -t overlay root -o "lowerdir=$root,upperdir=\$top/upper,workdir=\$top/work" "\$top/root"
cd "\$top/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs run run
mount -t tmpfs tmp tmp
mount -t cgroup2 cgroup2 sys/fs/cgroup
mkdir -p run/try
mount --bind "$folder" run/try
# Units of the system reach the kernel of this machine: none of them is started.
for place in usr/lib/systemd/system etc/systemd/system; do
  for target in sysinit basic local-fs sockets timers multi-user; do rm -rf "\$place/\$target.target.wants"; done
done
cat > etc/systemd/system/try.service <<UNIT
[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
Environment=PATH=/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/bin/sh /run/try/inside.sh
StandardOutput=file:/run/try/log
StandardError=inherit
UNIT
# A node's own log has no journal here, and it is silent after ten seconds instead of two minutes.
mkdir -p etc/systemd/system/holdfast.service.d
cat > etc/systemd/system/holdfast.service.d/try.conf <<UNIT
[Service]
StandardError=append:/run/try/node.log
WatchdogSec=10s
RestartSec=1s
UNIT
exec chroot . env -i container=holdfast PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=try.service --log-target=null
BOOT

timeout --signal=KILL "$limit_seconds" unshare --mount --propagation slave --pid --fork --kill-child --cgroup --uts --ipc --net \
  sh "$folder/boot.sh" > "$folder/boot.log" 2>&1 || true
cat "$folder/log" 2> /dev/null || cat "$folder/boot.log"
[ "$(cat "$folder/result" 2> /dev/null)" = passed ]
