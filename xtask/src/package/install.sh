#!/bin/sh
# Installs Lockstep from the folder that this script lies in, or removes it.
set -eu

usage() {
    cat <<'END'
usage: install.sh [--user | --system | --prefix DIR] [--uninstall]

    --user        to ~/.local (what happens without options)
    --system      to /usr/local, registered where every ICD loader looks; needs the rights to write there
    --prefix DIR  to a folder of its own
    --uninstall   remove what was installed there

The variable DESTDIR is put before all paths when files are copied, as packagers want it.
END
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

system_vendors=/etc/OpenCL/vendors
source=$(cd "$(dirname "$0")" && pwd)
place=user prefix= uninstall=
while [ $# -gt 0 ]; do
    case $1 in
    --user) place=user ;;
    --system) place=system ;;
    --prefix)
        [ $# -gt 1 ] || fail "--prefix needs a folder"
        place=prefix prefix=$2
        shift
        ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        usage
        exit
        ;;
    *)
        usage >&2
        fail "there is no option $1"
        ;;
    esac
    shift
done

# Removes the files that a record names, except those that a second one names as well.
remove_files() {
    while IFS= read -r file; do
        [ $# -gt 1 ] && grep -qxF "$file" "$2" || rm -f "$root$file"
    done <"$1"
}

# A copy of this script lies in the installation that it belongs to.
if [ -f "$source/installed-files" ]; then
    [ -n "$uninstall" ] || fail "this is the copy for --uninstall; a new version brings its own"
    place=prefix prefix=$(cd "$source/../.." && pwd)
fi

case $place in
user)
    [ -n "${HOME:-}" ] || fail "HOME is not set: name a folder with --prefix"
    prefix=$HOME/.local
    vendors=$prefix/share/OpenCL/vendors
    ;;
system) prefix=/usr/local vendors=$system_vendors ;;
prefix)
    case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
    # The one place outside its prefix that a distribution's package owns.
    if [ "$prefix" = /usr ]; then vendors=$system_vendors; else vendors=$prefix/etc/OpenCL/vendors; fi
    ;;
esac
root=${DESTDIR:-}
library_folder=$prefix/lib/lockstep
record=$library_folder/installed-files

# Removes what the record names, and the folders that are of nobody else.
remove_installation() {
    remove_files "$root$record"
    rm -f "$root$record"
    for folder in "$library_folder" "$prefix/share/doc/lockstep"; do
        rmdir "$root$folder" 2>/dev/null || echo "left $root$folder, which has other files in it"
    done
}

if [ -n "$uninstall" ]; then
    [ -f "$root$record" ] || fail "nothing is installed in $root$prefix ($root$record is not there)"
    remove_installation
    echo "removed from $root$prefix; what was compiled is in ~/.cache/lockstep until you delete it"
    exit
fi

[ -f "$source/lib/lockstep/liblockstep.so" ] || fail "$source does not hold Lockstep"
machine=$(uname -m)
[ "$machine" = x86_64 ] || fail "this Lockstep is for x86-64 and this machine is $machine"
if command -v getconf >/dev/null && libc=$(getconf GNU_LIBC_VERSION 2>/dev/null); then
    version=${libc#glibc }
    minor=${version#2.}
    [ "${minor%%.*}" -ge 17 ] 2>/dev/null || fail "this Lockstep needs glibc 2.17 or later and this machine has $version"
else
    echo "install.sh: this machine's C library is not glibc; the driver is for programs that use glibc" >&2
fi

# All files first go beside the old ones. Only when all of them are there do they take their places: on a disk that is full the old
# version stays as it was, and a process that has an old file mapped keeps it.
installed=
prepare_file() {
    mode=644
    [ ! -x "$1" ] || mode=755
    mkdir -p "$(dirname "$root$2")" || give_up "cannot make $(dirname "$root$2") (are the rights there?)"
    installed="$installed$2
"
    install -m "$mode" "$1" "$root$2.new" || give_up "cannot write $root$2 (is there room, and are the rights there?)"
}

# Runs a command of one word with the path of each file that was prepared.
for_each_file() {
    printf %s "$installed" | while IFS= read -r file; do "$1" "$root$file"; done
}
drop_new() { rm -f "$1.new"; }
put_in_place() { mv -f "$1.new" "$1"; }

give_up() {
    for_each_file drop_new
    fail "$*"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo "$library_folder/liblockstep.so" >"$scratch/lockstep.icd"
# The large one first: if there is no room, that is where it shows.
for file in $(cd "$source" && echo lib/lockstep/lockstep-compiler lib/lockstep/liblockstep.so && find bin share -type f | sort); do
    prepare_file "$source/$file" "$prefix/$file"
done
prepare_file "$source/install.sh" "$library_folder/install.sh"
prepare_file "$scratch/lockstep.icd" "$vendors/lockstep.icd"
printf %s "$installed" >"$scratch/installed-files"
prepare_file "$scratch/installed-files" "$record"
# What an earlier version had and this one has not.
[ ! -f "$root$record" ] || remove_files "$root$record" "$scratch/installed-files"
for_each_file put_in_place

# A folder may forbid that programs in it run.
if ! "$root$prefix/bin/lockstep" --version; then
    remove_installation
    fail "programs in $root$prefix/bin do not run (is it mounted with noexec?): name another folder with --prefix"
fi
echo "installed in $root$prefix, registered by $root$vendors/lockstep.icd"
if [ "$vendors" != "$system_vendors" ]; then
    cat <<END
ICD loaders do not look there unasked (nor in any folder of a user's own); set
    export OCL_ICD_VENDORS=$vendors/
Loaders then look only there: copy or link the files of $system_vendors into it
to keep seeing the machine's other drivers.
END
fi
echo "\`$prefix/bin/lockstep doctor\` tells whether all is well"
[ -n "$root" ] || echo "to uninstall: sh $library_folder/install.sh --uninstall"
