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
echo "--- a program that runs goes on while the package is installed again and removed"
$as_user /home/user/venv/bin/python /trial/long_run.py >/tmp/long_run 2>&1 &
program=$!
until grep -q begun /tmp/long_run; do sleep 0.1; done
apt-get install -q -y --reinstall /trial/*.deb >/tmp/apt.log 2>&1
apt-get purge -q -y lockstep-opencl-icd >/tmp/apt.log 2>&1
touch /tmp/go_on
wait $program || { cat /tmp/long_run; exit 1; }
cat /tmp/long_run
check_that_nothing_is_left
