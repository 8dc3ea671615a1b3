"""Builds a program, waits until it may go on, and builds others: the driver and its compiler may have been replaced or removed by then."""

import os
import time

import numpy
import pyopencl

context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
queue = pyopencl.CommandQueue(context)


def check_program(number):
    source = f"__kernel void f(__global int *a) {{ a[get_global_id(0)] = {number}; }}"
    buffer = pyopencl.Buffer(context, pyopencl.mem_flags.WRITE_ONLY, 4096)
    pyopencl.Program(context, source).build(cache_dir=False).f(queue, (1024,), None, buffer)
    result = numpy.empty(1024, numpy.int32)
    pyopencl.enqueue_copy(queue, result, buffer)
    assert (result == number).all()


check_program(1)
print("begun", flush=True)
while not os.path.exists("/tmp/go_on"):
    time.sleep(0.05)
check_program(2)
check_program(3)
print("three programs were built and right")
