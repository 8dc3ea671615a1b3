# As root: apt installs the package; a user's programs find it; apt purges it.
set -eu
. /trial/programs.sh
list_files >/tmp/before
apt-get install -q -y --no-install-recommends /trial/*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
cat >/tmp/user.sh <<'END'
set -eu
. /trial/programs.sh
cd
PYTHON=venv/bin/python
lockstep doctor
run_programs
lockstep devices
END
as_user='setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user'
$as_user sh /tmp/user.sh
install_again_and_remove() {
    apt-get install -q -y --reinstall /trial/*.deb >/tmp/apt.log 2>&1
    apt-get purge -q -y lockstep-opencl-icd >/tmp/apt.log 2>&1
}
PYTHON=/home/user/venv/bin/python
AS_USER=$as_user
during_a_program install_again_and_remove
check_that_nothing_is_left
