# As a user without rights: pip installs the wheel, pyopencl finds the driver, pip takes it away.
set -eu
. /trial/programs.sh
cd
list_files >/tmp/before
start=$(date +%s%N)
venv/bin/pip install --quiet --no-index --find-links /trial/wheels lockstep-opencl
PYTHON=venv/bin/python
venv/bin/python /trial/vector_add.py
echo "--- from pip install to the first result: $((($(date +%s%N) - start) / 1000000)) ms"
start=$(date +%s%N)
venv/bin/lockstep doctor
echo "--- doctor: $((($(date +%s%N) - start) / 1000000)) ms"
venv/bin/lockstep-icd-path
FOR_OTHERS="$(venv/bin/lockstep-icd-path | sed -n 's/^# \(export OCL_ICD_VENDORS\)/\1/p')"
run_programs
unset OCL_ICD_VENDORS
venv/bin/pip uninstall --quiet --yes lockstep-opencl
check_that_nothing_is_left
