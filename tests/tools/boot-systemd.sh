#!/bin/sh
# Boots systemd over this machine's files and ends it again:
#   unshare --kill-child -mpfCuin sh boot-systemd.sh DIRECTORY
# What it writes is lost, but for DIRECTORY/out, which is /out there. DIRECTORY/files is copied over
# the root before. /inside.sh, which must be among these files, runs as a unit; its output is
# DIRECTORY/out/log. No other unit of the machine is started.
set -e
mount --make-rprivate /
mkdir -p "$1/boot" "$1/out"
mount -t tmpfs boot "$1/boot"
cd "$1/boot"
mkdir upper work root
mount -t overlay -o "lowerdir=/,upperdir=upper,workdir=work" overlay root
cd root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 dev dev
for device in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"
done
mkdir -p dev/pts dev/shm dev/mqueue dev/hugepages out old
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount --bind "$1/out" out
cp -r "$1/files/." .
rm -rf etc/systemd/system/*.wants
cat >etc/systemd/system/test.target <<UNIT
[Unit]
DefaultDependencies=no
Requires=test.service
UNIT
cat >etc/systemd/system/test.service <<UNIT
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
StandardOutput=file:/out/log
StandardError=inherit
ExecStart=/bin/bash /inside.sh
ExecStopPost=/bin/systemctl --force --force exit
UNIT
# A user namespace (PrivateUsers=) cannot be made below chroot.
pivot_root . old
cd /
umount -l old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system \
    --unit=test.target --log-level=warning --show-status=no
