"""Where the Lockstep driver lies that this package installed, and its command."""

import importlib.util
import os
import sys

# Beside pyopencl's own ICD loader, which looks there.
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pyopencl", ".libs")
DRIVER = os.path.join(FOLDER, "liblockstep.so")


def run_command():
    """Becomes the command `lockstep`."""
    command = os.path.join(FOLDER, "lockstep")
    try:
        os.execv(command, ["lockstep", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"lockstep: {command} does not run: {error.strerror}")


def print_icd_path():
    """Tells how programs find the driver."""
    print("# Leads programs to the driver, and to no other one (every ICD loader):")
    print(f'export OCL_ICD_VENDORS="{DRIVER}"')
    print("# Leads programs to the driver as well as to others (only the Khronos loader, not ocl-icd):")
    print(f'# export OCL_ICD_FILENAMES="{DRIVER}"')
    print(describe_pyopencl())


def describe_pyopencl():
    """Says whether pyopencl finds the driver without a variable, and what to do where it does not."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return "# pyopencl is not installed for this Python; it will find the driver once it is installed beside it."
    folder = os.path.join(os.path.dirname(spec.origin), ".libs")
    if not os.path.isdir(folder):
        return f"# {spec.origin} uses the system's loader: set one of the two for it as well."
    if os.path.realpath(folder) == os.path.realpath(FOLDER):
        return "# pyopencl finds it without either."
    icd = os.path.join(folder, "lockstep.icd")
    return f"# pyopencl lies elsewhere. It finds the driver with either, or after:\n# echo '{DRIVER}' > '{icd}'"
