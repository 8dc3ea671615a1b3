# As a user without rights: the tarball is unpacked, installed at home, used and removed.
set -eu
. /trial/programs.sh
cd
list_files >/tmp/before
mkdir /tmp/unpacked
tar -xf /trial/lockstep-*.tar.gz -C /tmp/unpacked
echo "--- where it was unpacked"
OCL_ICD_VENDORS="$(echo /tmp/unpacked/*/lib/lockstep/liblockstep.so)" clinfo -l
/tmp/unpacked/*/install.sh
PYTHON=venv/bin/python
export OCL_ICD_VENDORS=$HOME/.local/share/OpenCL/vendors/
.local/bin/lockstep doctor
run_programs
install_again_and_remove() {
    /tmp/unpacked/*/install.sh >/dev/null
    sh .local/lib/lockstep/install.sh --uninstall
}
during_a_program install_again_and_remove
/tmp/unpacked/*/install.sh >/dev/null
unset OCL_ICD_VENDORS
echo "--- doctor of who forgets the variable"
.local/bin/lockstep doctor | grep '^BROKEN'
sh .local/lib/lockstep/install.sh --uninstall
find .local -type d -empty -delete
check_that_nothing_is_left
