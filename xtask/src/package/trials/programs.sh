# What users do with a driver. The other scripts read this file; PYTHON is a Python with pyopencl.

run_programs() {
    echo "--- pyopencl, first process"
    "$PYTHON" /trial/vector_add.py
    echo "--- pyopencl, second process"
    "$PYTHON" /trial/vector_add.py
    # The rest goes through the system's loader.
    eval "${FOR_OTHERS:-}"
    echo "--- clinfo"
    clinfo -l
    clinfo -l | grep -q 'Platform #[0-9]*: Lockstep'
    echo "--- Mandelbrot set"
    /trial/xtask demo-render --picture /tmp/mandelbrot.png
}

# The files of this system, but for what programs leave of their own.
list_files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /trial -o -path /var/lib/dpkg -o -path /var/cache \
        -o -path /var/log -o -path /var/lib/apt -o -path '*/.cache' -o -name __pycache__ \) -prune -o -print 2>/dev/null | sort
}

# Compares with the list that was made before the installation.
check_that_nothing_is_left() {
    list_files >/tmp/after
    if ! diff /tmp/before /tmp/after; then
        echo "this was left"
        exit 1
    fi
    echo "--- nothing is left"
}
