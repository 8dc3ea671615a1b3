# As root, who may mount: disks that are full, homes that are not there, folders that forbid programs, two installations at once.
# Each has programs go on where they can, and doctor name what is wrong.
set -eu
. /trial/programs.sh
apt-get install -q -y --no-install-recommends /trial/*.deb >/tmp/apt.log 2>&1
# pyopencl's own cache does not survive a HOME that is read only.
export PYOPENCL_NO_CACHE=1
user='setpriv --reuid=1000 --regid=1000 --clear-groups env'
add='/home/user/venv/bin/python /trial/vector_add.py'
mkdir /tmp/unpacked
tar -xf /trial/lockstep-*.tar.gz -C /tmp/unpacked
install=$(echo /tmp/unpacked/*/install.sh)
# Runs doctor with some variables, and wants a line.
expect() {
    wanted=$1
    shift
    $user "$@" lockstep doctor >/tmp/doctor || true
    grep -- "$wanted" /tmp/doctor || { cat /tmp/doctor; exit 1; }
}

echo "--- no HOME"
$user -u HOME $add
expect '^lacking *cache .*no folder' -u HOME
echo "--- a HOME that is read only"
mkdir -p /tmp/read_only && mount -t tmpfs -o ro none /tmp/read_only
$user HOME=/tmp/read_only $add
expect '^lacking *cache .*Read-only file system' HOME=/tmp/read_only
echo "--- a disk that is full"
mkdir -p /tmp/full && mount -t tmpfs -o size=64k,uid=1000,mode=700 none /tmp/full
$user HOME=/tmp/full $add
expect '^lacking *cache .*No space left' HOME=/tmp/full
$user HOME=/tmp/full sh "$install" 2>&1 | grep 'is there room' || exit 1
test -z "$(find /tmp/full/.local -type f)"
echo "--- a folder that forbids programs"
mkdir -p /tmp/noexec && mount -t tmpfs -o noexec,uid=1000,mode=700 none /tmp/noexec
$user HOME=/tmp/noexec sh "$install" 2>&1 | grep 'noexec' || exit 1
$user HOME=/tmp/noexec $add
echo "--- an old C library, another architecture"
for what in 'glibc 2.12' aarch64; do
    mkdir -p /tmp/other
    printf '#!/bin/sh\necho %s\n' "$what" >/tmp/other/"$(case $what in glibc*) echo getconf ;; *) echo uname ;; esac)"
    chmod 755 /tmp/other/*
    $user HOME=/home/user PATH="/tmp/other:$PATH" sh "$install" 2>&1 | grep 'this machine' || exit 1
    rm /tmp/other/*
done
echo "--- a wheel beside the package, and a tarball beside both"
$user HOME=/home/user /home/user/venv/bin/pip install --quiet --no-index --find-links /trial/wheels lockstep-opencl
expect '^ok *registered' HOME=/home/user
$user HOME=/home/user /home/user/venv/bin/lockstep doctor | grep 'names another Lockstep' || exit 1
sh "$install" --prefix /opt/lockstep >/dev/null
cp /opt/lockstep/etc/OpenCL/vendors/lockstep.icd /etc/OpenCL/vendors/a.icd
expect 'names another Lockstep, /opt/lockstep/lib/lockstep/liblockstep.so, which loaders list before this one' HOME=/home/user
$user HOME=/home/user $add
