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

# Runs a function while a program of the user waits between two builds. AS_USER is what comes before commands of his.
during_a_program() {
    echo "--- a program that runs goes on"
    rm -f /tmp/go_on
    ${AS_USER:-} "$PYTHON" /trial/long_run.py >/tmp/long_run 2>&1 &
    program=$!
    until grep -q begun /tmp/long_run 2>/dev/null; do sleep 0.1; done
    "$@"
    touch /tmp/go_on
    wait $program || { cat /tmp/long_run; exit 1; }
    tail -n 1 /tmp/long_run
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
