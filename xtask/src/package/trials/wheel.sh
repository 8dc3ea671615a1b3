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
FOR_OTHERS="$(venv/bin/lockstep-icd-path)"
run_programs
unset OCL_ICD_VENDORS
install_again_and_remove() {
    venv/bin/pip install --quiet --force-reinstall --no-deps --no-index --find-links /trial/wheels lockstep-opencl
    venv/bin/pip uninstall --quiet --yes lockstep-opencl
}
during_a_program install_again_and_remove
check_that_nothing_is_left

echo "--- pyopencl lies elsewhere"
venv/bin/pip install --quiet --target /tmp/elsewhere --no-deps --no-index --find-links /trial/wheels lockstep-opencl
export PYTHONPATH=/tmp/elsewhere
/tmp/elsewhere/bin/lockstep-icd-path | tee /tmp/advice
grep -q 'pyopencl lies elsewhere' /tmp/advice
sh -c "$(sed -n 's/^# \(echo .*\)/\1/p' /tmp/advice)"
"$PYTHON" /trial/vector_add.py
