//! Buffers: flags, host memory, sub-buffers, maps, and transfers compared with a model in host memory.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockstep_conformance::commands::{finish, try_launch};
use lockstep_conformance::loader::{cl, device, is_lockstep};
use lockstep_conformance::objects::{host_bytes, write_host_bytes};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Event, Queue, Random, Setup, code_name, expect, info, ok, read, run, write};

const KERNEL: &str = "kernel void add(global int *a) { a[get_global_id(0)] += 1000; }";

/// An owned copy of bytes at an address that buffers may use.
fn aligned(bytes: usize) -> Vec<u64> {
    vec![0x0101_0101_0101_0101; bytes.div_ceil(8)]
}

#[test]
fn queries() {
    let setup = Setup::new();
    let flags = CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY;
    let buffer = setup.context.try_buffer(flags, 100, ptr::null_mut()).expect("a buffer");
    assert_eq!(buffer.info::<u32>(CL_MEM_TYPE), CL_MEM_OBJECT_BUFFER);
    assert_eq!(buffer.info::<u64>(CL_MEM_FLAGS), flags);
    assert_eq!(buffer.info::<usize>(CL_MEM_SIZE), 100);
    assert_eq!(buffer.info::<usize>(CL_MEM_HOST_PTR), 0);
    assert_eq!(buffer.info::<u32>(CL_MEM_MAP_COUNT), 0);
    assert_eq!(buffer.info::<u32>(CL_MEM_REFERENCE_COUNT), 1);
    assert_eq!(buffer.info::<usize>(CL_MEM_CONTEXT), setup.context.raw() as usize);
    assert_eq!(buffer.info::<usize>(CL_MEM_ASSOCIATED_MEMOBJECT), 0);
    assert_eq!(buffer.info::<usize>(CL_MEM_OFFSET), 0);
    assert_eq!(buffer.info::<u32>(CL_MEM_USES_SVM_POINTER), CL_FALSE);
    assert!(buffer.info_array::<u64>(CL_MEM_PROPERTIES).is_empty());
    expect((cl().clGetMemObjectInfo)(buffer.raw(), 0x11ff, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    let other = buffer.clone();
    assert_eq!(buffer.info::<u32>(CL_MEM_REFERENCE_COUNT), 2);
    drop(buffer);
    assert_eq!(other.info::<u32>(CL_MEM_REFERENCE_COUNT), 1);
}

#[test]
fn every_combination_of_flags() {
    let setup = Setup::new();
    let mut memory = aligned(64);
    let kernel_access = [0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY];
    let host_access = [0, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS];
    let (used, allocated, copied) = (CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR);
    for kernel in kernel_access {
        for host in host_access {
            for origin in [0, used, allocated, copied, allocated | copied] {
                let flags = kernel | host | origin;
                let given = if origin & (used | copied) == 0 { ptr::null_mut() } else { memory.as_mut_ptr().cast() };
                let buffer = setup.context.try_buffer(flags, 64, given);
                let buffer = buffer.unwrap_or_else(|code| panic!("flags {flags:#x}: {}", code_name(code)));
                let wanted = if kernel == 0 { flags | CL_MEM_READ_WRITE } else { flags };
                let got = buffer.info::<u64>(CL_MEM_FLAGS);
                assert!(got == wanted || got == flags, "flags {flags:#x} became {got:#x}");
            }
        }
    }
}

#[test]
fn contradicting_flags() {
    let setup = Setup::new();
    let mut memory = aligned(64);
    let host = memory.as_mut_ptr().cast();
    for flags in [
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY,
        CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY,
        1 << 40,
    ] {
        let needs_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
        let given = if needs_host { host } else { ptr::null_mut() };
        let code = setup.context.try_buffer(flags, 64, given).err();
        assert_eq!(code, Some(CL_INVALID_VALUE), "flags {flags:#x}");
    }
    // "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in flags or if
    // host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set in flags".
    for flags in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR] {
        assert_eq!(setup.context.try_buffer(flags, 64, ptr::null_mut()).err(), Some(CL_INVALID_HOST_PTR));
    }
    for flags in [0, CL_MEM_READ_ONLY, CL_MEM_ALLOC_HOST_PTR] {
        assert_eq!(setup.context.try_buffer(flags, 64, host).err(), Some(CL_INVALID_HOST_PTR));
    }
}

#[test]
fn sizes() {
    let setup = Setup::new();
    let most: u64 = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, size, value, returned)
    });
    let try_size = |size| setup.context.try_buffer(CL_MEM_READ_WRITE, size, ptr::null_mut());
    assert_eq!(try_size(0).err(), Some(CL_INVALID_BUFFER_SIZE));
    assert_eq!(try_size(usize::MAX).err(), Some(CL_INVALID_BUFFER_SIZE));
    assert_eq!(try_size(most as usize + 1).err(), Some(CL_INVALID_BUFFER_SIZE));
    for size in [1, 3, 7, 63, 4097, 1 << 24] {
        assert_eq!(
            try_size(size).unwrap_or_else(|code| panic!("{}", code_name(code))).info::<usize>(CL_MEM_SIZE),
            size
        );
    }
}

#[test]
fn buffers_with_properties() {
    let setup = Setup::new();
    let create = |properties: *const cl_mem_properties| {
        let mut code = 1;
        let buffer = (cl().clCreateBufferWithProperties)(
            setup.context.raw(),
            properties,
            CL_MEM_READ_WRITE,
            16,
            ptr::null_mut(),
            &mut code,
        );
        if code == CL_SUCCESS { Ok(Buffer::own(buffer)) } else { Err(code) }
    };
    let buffer = create([0].as_ptr()).expect("an empty list of properties");
    assert_eq!(buffer.info_array::<u64>(CL_MEM_PROPERTIES), [0]);
    let buffer = create(ptr::null()).expect("no list of properties");
    assert!(buffer.info_array::<u64>(CL_MEM_PROPERTIES).is_empty());
    assert_eq!(create([0x7777, 1, 0].as_ptr()).err(), Some(CL_INVALID_PROPERTY));
}

#[test]
fn host_memory_is_used_in_place() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(KERNEL, "add");
    let mut memory: Vec<i32> = (0..1024).collect();
    let address = memory.as_mut_ptr();
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    let buffer = setup.context.try_buffer(flags, 4096, address.cast()).expect("a buffer");
    assert_eq!(buffer.info::<usize>(CL_MEM_HOST_PTR), address as usize);
    kernel.set(0, &buffer);
    run(&setup.queue, &kernel, &[1024], &[]);
    // "If CL_MEM_USE_HOST_PTR, the pointer returned by a map is derived from the host_ptr".
    let mapped = map(&setup.queue, &buffer, CL_MAP_READ, 16, 64).expect("a map");
    assert_eq!(mapped as usize, address as usize + 16);
    assert_eq!(memory[4..20], (1004..1020).collect::<Vec<i32>>());
    unmap(&setup.queue, &buffer, mapped);
    drop(buffer);
    assert_eq!(memory, (1000..2024).collect::<Vec<i32>>());
}

#[test]
fn copied_host_memory_is_not_touched() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(KERNEL, "add");
    let mut memory: Vec<i32> = (0..16).collect();
    let buffer = setup.context.with_values(&memory);
    memory[3] = -1;
    kernel.set(0, &buffer);
    run(&setup.queue, &kernel, &[16], &[]);
    assert_eq!(read::<i32>(&setup.queue, &buffer), (1000..1016).collect::<Vec<i32>>());
    assert_eq!(memory[2..5], [2, -1, 4]);
}

fn map(queue: &Queue, buffer: &Buffer, flags: cl_map_flags, offset: usize, size: usize) -> Result<*mut c_void, cl_int> {
    let mut code = 1;
    let (none, event) = (ptr::null(), ptr::null_mut());
    let pointer =
        (cl().clEnqueueMapBuffer)(queue.raw(), buffer.raw(), CL_TRUE, flags, offset, size, 0, none, event, &mut code);
    if code != CL_SUCCESS {
        assert!(pointer.is_null());
        return Err(code);
    }
    Ok(pointer)
}

#[track_caller]
fn unmap(queue: &Queue, buffer: &Buffer, pointer: *mut c_void) {
    ok((cl().clEnqueueUnmapMemObject)(queue.raw(), buffer.raw(), pointer, 0, ptr::null(), ptr::null_mut()));
    finish(queue);
}

#[test]
fn maps() {
    let setup = Setup::new();
    let buffer = setup.context.with_values(&(0..=255).collect::<Vec<u8>>());
    let mapped = map(&setup.queue, &buffer, CL_MAP_READ, 10, 20).expect("a map");
    assert_eq!(host_bytes(mapped, 20), (10..30).collect::<Vec<u8>>());
    assert_eq!(buffer.info::<u32>(CL_MEM_MAP_COUNT), 1);
    let again = map(&setup.queue, &buffer, CL_MAP_READ, 15, 100).expect("a second map");
    assert_eq!(host_bytes(again, 100), (15..115).collect::<Vec<u8>>());
    assert_eq!(buffer.info::<u32>(CL_MEM_MAP_COUNT), 2);
    unmap(&setup.queue, &buffer, mapped);
    unmap(&setup.queue, &buffer, again);
    assert_eq!(buffer.info::<u32>(CL_MEM_MAP_COUNT), 0);
    let mapped = map(&setup.queue, &buffer, CL_MAP_READ | CL_MAP_WRITE, 0, 256).expect("a map");
    write_host_bytes(mapped, &[9; 100]);
    unmap(&setup.queue, &buffer, mapped);
    let mapped = map(&setup.queue, &buffer, CL_MAP_WRITE_INVALIDATE_REGION, 200, 56).expect("a map");
    write_host_bytes(mapped, &[7; 56]);
    unmap(&setup.queue, &buffer, mapped);
    let mut wanted: Vec<u8> = (0..=255).collect();
    wanted[..100].fill(9);
    wanted[200..].fill(7);
    assert_eq!(read::<u8>(&setup.queue, &buffer), wanted);
}

#[test]
fn map_errors() {
    let setup = Setup::new();
    let buffer = setup.context.zeros::<u8>(64);
    let fails = |flags, offset, size, wanted| {
        let code = map(&setup.queue, &buffer, flags, offset, size).err();
        assert_eq!(code, Some(wanted), "flags {flags}, offset {offset}, size {size}");
    };
    fails(CL_MAP_READ, 0, 65, CL_INVALID_VALUE);
    fails(CL_MAP_READ, 64, 1, CL_INVALID_VALUE);
    fails(CL_MAP_READ, 1, usize::MAX, CL_INVALID_VALUE);
    fails(CL_MAP_READ, 0, 0, CL_INVALID_VALUE);
    fails(1 << 20, 0, 1, CL_INVALID_VALUE);
    fails(CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 1, CL_INVALID_VALUE);
    fails(CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, 1, CL_INVALID_VALUE);
    let mut elsewhere = 0_u8;
    let code = (cl().clEnqueueUnmapMemObject)(
        setup.queue.raw(),
        buffer.raw(),
        (&raw mut elsewhere).cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    );
    // "CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer".
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn host_access_flags_bind() {
    let setup = Setup::new();
    let mut host = [0_u8; 16];
    let (host, none) = (host.as_mut_ptr().cast::<c_void>(), ptr::null());
    let event = ptr::null_mut();
    let zero = [0_usize; 3].as_ptr();
    let region = [4_usize, 4, 1].as_ptr();
    let queue = setup.queue.raw();
    for (flags, reads, writes) in [
        (CL_MEM_HOST_READ_ONLY, true, false),
        (CL_MEM_HOST_WRITE_ONLY, false, true),
        (CL_MEM_HOST_NO_ACCESS, false, false),
    ] {
        let buffer = setup.context.try_buffer(flags, 16, ptr::null_mut()).expect("a buffer");
        let raw = buffer.raw();
        let answer = |allowed| if allowed { CL_SUCCESS } else { CL_INVALID_OPERATION };
        let cl = cl();
        expect((cl.clEnqueueReadBuffer)(queue, raw, CL_TRUE, 0, 16, host, 0, none, event), answer(reads));
        expect((cl.clEnqueueWriteBuffer)(queue, raw, CL_TRUE, 0, 16, host, 0, none, event), answer(writes));
        expect(
            (cl.clEnqueueReadBufferRect)(queue, raw, CL_TRUE, zero, zero, region, 0, 0, 0, 0, host, 0, none, event),
            answer(reads),
        );
        expect(
            (cl.clEnqueueWriteBufferRect)(queue, raw, CL_TRUE, zero, zero, region, 0, 0, 0, 0, host, 0, none, event),
            answer(writes),
        );
        for (map_flags, allowed) in
            [(CL_MAP_READ, reads), (CL_MAP_WRITE, writes), (CL_MAP_WRITE_INVALIDATE_REGION, writes)]
        {
            match map(&setup.queue, &buffer, map_flags, 0, 16) {
                Ok(pointer) => {
                    assert!(allowed);
                    unmap(&setup.queue, &buffer, pointer);
                }
                Err(code) => expect(code, answer(allowed)),
            }
        }
    }
}

fn sub_buffer(buffer: &Buffer, flags: cl_mem_flags, origin: usize, size: usize) -> Result<Buffer, cl_int> {
    let region = cl_buffer_region { origin, size };
    let mut code = 1;
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    let sub = (cl().clCreateSubBuffer)(buffer.raw(), flags, kind, (&raw const region).cast(), &mut code);
    if code == CL_SUCCESS { Ok(Buffer::own(sub)) } else { Err(code) }
}

/// The alignment in bytes that the device asks of sub-buffers.
fn alignment() -> usize {
    let bits: cl_uint = info::value(|size, value, returned| {
        (cl().clGetDeviceInfo)(device(), CL_DEVICE_MEM_BASE_ADDR_ALIGN, size, value, returned)
    });
    bits as usize / 8
}

#[test]
fn sub_buffers() {
    let setup = Setup::new();
    let step = alignment();
    let count = step * 4;
    let buffer = setup.context.with_values(&(0..count).map(|i| i as u8).collect::<Vec<u8>>());
    let sub = sub_buffer(&buffer, 0, step, step * 2).expect("a sub-buffer");
    assert_eq!(sub.info::<usize>(CL_MEM_ASSOCIATED_MEMOBJECT), buffer.raw() as usize);
    assert_eq!(sub.info::<usize>(CL_MEM_OFFSET), step);
    assert_eq!(sub.info::<usize>(CL_MEM_SIZE), step * 2);
    assert_eq!(sub.info::<u64>(CL_MEM_FLAGS) & CL_MEM_READ_WRITE, CL_MEM_READ_WRITE);
    let bytes = read::<u8>(&setup.queue, &sub);
    assert_eq!(bytes, (step..3 * step).map(|i| i as u8).collect::<Vec<u8>>());
    write(&setup.queue, &sub, &[200_u8, 201, 202]);
    assert_eq!(read::<u8>(&setup.queue, &buffer)[step..step + 4], [200, 201, 202, (step + 3) as u8]);
    let overlapping = sub_buffer(&buffer, CL_MEM_READ_ONLY, 0, step + 2).expect("another sub-buffer");
    assert_eq!(read::<u8>(&setup.queue, &overlapping)[step..], [200, 201]);
    // The parent's memory lives as long as the last sub-buffer.
    drop(buffer);
    assert_eq!(read::<u8>(&setup.queue, &sub)[..2], [200, 201]);
}

#[test]
fn sub_buffer_errors() {
    let setup = Setup::new();
    let step = alignment();
    let buffer = setup.context.zeros::<u8>(step * 4);
    let code = |flags, origin, size| sub_buffer(&buffer, flags, origin, size).err();
    assert_eq!(code(0, 0, step * 4 + 1), Some(CL_INVALID_VALUE));
    assert_eq!(code(0, step * 4, 1), Some(CL_INVALID_VALUE));
    assert_eq!(code(0, step, usize::MAX), Some(CL_INVALID_VALUE));
    assert_eq!(code(0, 0, 0), Some(CL_INVALID_BUFFER_SIZE));
    if step > 1 {
        assert_eq!(code(0, 1, 1), Some(CL_MISALIGNED_SUB_BUFFER_OFFSET));
    }
    assert_eq!(code(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 0, 1), Some(CL_INVALID_VALUE));
    for flag in [CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        assert_eq!(code(flag, 0, 1), Some(CL_INVALID_VALUE));
    }
    // Of a sub-buffer there is none.
    let sub = sub_buffer(&buffer, 0, 0, step).expect("a sub-buffer");
    assert_eq!(sub_buffer(&sub, 0, 0, 1).err(), Some(CL_INVALID_MEM_OBJECT));
    // More rights than the parent has.
    let parent = |flags| setup.context.try_buffer(flags, step * 4, ptr::null_mut()).expect("a buffer");
    for (has, wants) in [
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE),
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY),
        (CL_MEM_READ_ONLY, CL_MEM_READ_WRITE),
        (CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY),
        (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY),
        (CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY),
    ] {
        assert_eq!(sub_buffer(&parent(has), wants, 0, step).err(), Some(CL_INVALID_VALUE), "{has:#x} to {wants:#x}");
    }
    let inherited = sub_buffer(&parent(CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS), 0, 0, step).expect("a sub-buffer");
    assert_eq!(inherited.info::<u64>(CL_MEM_FLAGS), CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS);
    let mut code = 1;
    assert!((cl().clCreateSubBuffer)(buffer.raw(), 0, 0x7777, ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
    let kind = CL_BUFFER_CREATE_TYPE_REGION;
    assert!((cl().clCreateSubBuffer)(buffer.raw(), 0, kind, ptr::null(), &mut code).is_null());
    expect(code, CL_INVALID_VALUE);
}

#[test]
fn random_reads_writes_copies_and_fills() {
    let setup = Setup::new();
    let mut random = Random::new(11);
    let (cl, queue, none) = (cl(), setup.queue.raw(), ptr::null());
    let event = ptr::null_mut();
    let mut model = [random.bytes(1000), random.bytes(1000)];
    let buffers = [setup.context.with_values(&model[0]), setup.context.with_values(&model[1])];
    for _ in 0..300 {
        let at = random.below(2);
        let size = random.between(1, 300);
        let (offset, to) = (random.below(1000 - size), random.below(1000 - size));
        let (raw, blocking) = (buffers[at].raw(), random.below(2) as cl_bool);
        match random.below(4) {
            0 => {
                let mut host = vec![0_u8; size];
                let memory = host.as_mut_ptr().cast();
                ok((cl.clEnqueueReadBuffer)(queue, raw, blocking, offset, size, memory, 0, none, event));
                finish(&setup.queue);
                assert_eq!(host, model[at][offset..offset + size]);
            }
            1 => {
                let host = random.bytes(size);
                let memory = host.as_ptr().cast();
                ok((cl.clEnqueueWriteBuffer)(queue, raw, blocking, offset, size, memory, 0, none, event));
                finish(&setup.queue);
                model[at][offset..offset + size].copy_from_slice(&host);
            }
            2 => {
                let other = 1 - at;
                ok((cl.clEnqueueCopyBuffer)(queue, raw, buffers[other].raw(), offset, to, size, 0, none, event));
                let moved = model[at][offset..offset + size].to_vec();
                model[other][to..to + size].copy_from_slice(&moved);
            }
            _ => {
                let width = 1 << random.below(8);
                let pattern = random.bytes(width);
                let (offset, size) = (offset / width * width, size.max(width) / width * width);
                if offset + size <= 1000 {
                    let given = pattern.as_ptr().cast();
                    ok((cl.clEnqueueFillBuffer)(queue, raw, given, width, offset, size, 0, none, event));
                    // The pattern is the driver's after the call.
                    drop(pattern.clone());
                    for (byte, value) in model[at][offset..offset + size].iter_mut().zip(pattern.iter().cycle()) {
                        *byte = *value;
                    }
                }
            }
        }
    }
    assert_eq!(read::<u8>(&setup.queue, &buffers[0]), model[0]);
    assert_eq!(read::<u8>(&setup.queue, &buffers[1]), model[1]);
}

/// A box in a buffer: where it begins, and the pitches of rows and slices (zero for "as tight as the region").
#[derive(Clone, Copy)]
struct Place {
    origin: [usize; 3],
    row: usize,
    slice: usize,
}

impl Place {
    /// The byte offset of a byte of the region, by the formulas of the specification.
    fn byte(&self, region: [usize; 3], at: [usize; 3]) -> usize {
        let row = if self.row == 0 { region[0] } else { self.row };
        let slice = if self.slice == 0 { region[1] * row } else { self.slice };
        (self.origin[2] + at[2]) * slice + (self.origin[1] + at[1]) * row + self.origin[0] + at[0]
    }

    /// A random place that ends before `limit`.
    fn random(random: &mut Random, region: [usize; 3], limit: usize) -> Place {
        loop {
            let row = if random.below(3) == 0 { 0 } else { region[0] + random.below(9) };
            // A slice is a whole number of rows.
            let rows = region[1] + random.below(3);
            let slice = if random.below(3) == 0 { 0 } else { rows * if row == 0 { region[0] } else { row } };
            let place = Place { origin: std::array::from_fn(|_| random.below(4)), row, slice };
            if place.byte(region, region.map(|size| size - 1)) < limit {
                return place;
            }
        }
    }
}

fn positions(region: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [x, y, z] = region;
    (0..x * y * z).map(move |i| [i % x, i / x % y, i / x / y])
}

#[test]
fn random_rectangles() {
    let setup = Setup::new();
    let mut random = Random::new(13);
    let (cl, queue, none) = (cl(), setup.queue.raw(), ptr::null());
    let event = ptr::null_mut();
    const SIZE: usize = 3000;
    for round in 0..150 {
        let region: [usize; 3] = std::array::from_fn(|_| random.between(1, 6));
        let (from, to) = (Place::random(&mut random, region, SIZE), Place::random(&mut random, region, SIZE));
        let (source, target) = (random.bytes(SIZE), random.bytes(SIZE));
        let mut wanted = target.clone();
        for at in positions(region) {
            wanted[to.byte(region, at)] = source[from.byte(region, at)];
        }
        let region = region.as_ptr();
        let (from_origin, to_origin) = (from.origin.as_ptr(), to.origin.as_ptr());
        let got = match round % 3 {
            0 => {
                let buffer = setup.context.with_values(&source);
                let mut host = target.clone();
                let memory = host.as_mut_ptr().cast();
                ok((cl.clEnqueueReadBufferRect)(
                    queue,
                    buffer.raw(),
                    CL_TRUE,
                    from_origin,
                    to_origin,
                    region,
                    from.row,
                    from.slice,
                    to.row,
                    to.slice,
                    memory,
                    0,
                    none,
                    event,
                ));
                host
            }
            1 => {
                let buffer = setup.context.with_values(&target);
                let memory = source.as_ptr().cast();
                ok((cl.clEnqueueWriteBufferRect)(
                    queue,
                    buffer.raw(),
                    CL_TRUE,
                    to_origin,
                    from_origin,
                    region,
                    to.row,
                    to.slice,
                    from.row,
                    from.slice,
                    memory,
                    0,
                    none,
                    event,
                ));
                read(&setup.queue, &buffer)
            }
            _ => {
                let (a, b) = (setup.context.with_values(&source), setup.context.with_values(&target));
                ok((cl.clEnqueueCopyBufferRect)(
                    queue,
                    a.raw(),
                    b.raw(),
                    from_origin,
                    to_origin,
                    region,
                    from.row,
                    from.slice,
                    to.row,
                    to.slice,
                    0,
                    none,
                    event,
                ));
                read(&setup.queue, &b)
            }
        };
        assert!(got == wanted, "round {round}");
    }
}

#[test]
fn rectangle_errors() {
    let setup = Setup::new();
    let buffer = setup.context.zeros::<u8>(64);
    let other = setup.context.zeros::<u8>(64);
    let mut host = [0_u8; 256];
    let memory: *mut c_void = host.as_mut_ptr().cast();
    let read_rect = |origin: [usize; 3], region: [usize; 3], row, slice, host_row, host_slice, memory| {
        (cl().clEnqueueReadBufferRect)(
            setup.queue.raw(),
            buffer.raw(),
            CL_TRUE,
            origin.as_ptr(),
            [0; 3].as_ptr(),
            region.as_ptr(),
            row,
            slice,
            host_row,
            host_slice,
            memory,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    ok(read_rect([0; 3], [8, 8, 1], 0, 0, 0, 0, memory));
    let bad = CL_INVALID_VALUE;
    expect(read_rect([0; 3], [8, 8, 1], 0, 0, 0, 0, ptr::null_mut()), bad);
    expect(read_rect([1, 0, 0], [8, 8, 1], 8, 0, 0, 0, memory), bad);
    expect(read_rect([0, 1, 0], [8, 8, 1], 0, 0, 0, 0, memory), bad);
    expect(read_rect([0; 3], [8, 8, 2], 0, 0, 0, 0, memory), bad);
    for region in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        expect(read_rect([0; 3], region, 0, 0, 0, 0, memory), bad);
    }
    expect(read_rect([0; 3], [8, 2, 1], 7, 0, 0, 0, memory), bad);
    expect(read_rect([0; 3], [8, 2, 1], 0, 0, 7, 0, memory), bad);
    expect(read_rect([0; 3], [8, 2, 1], 8, 15, 0, 0, memory), bad);
    expect(read_rect([0; 3], [8, 2, 1], 0, 0, 8, 15, memory), bad);
    expect(read_rect([0; 3], [8, 2, 1], 8, 17, 0, 0, memory), bad);
    expect(read_rect([0; 3], [8, 2, 1], 0, 0, 8, 17, memory), bad);
    expect(read_rect([usize::MAX, 0, 0], [8, 1, 1], 0, 0, 0, 0, memory), bad);
    expect(read_rect([0, usize::MAX / 4, 0], [8, 1, 1], 8, 0, 0, 0, memory), bad);
    let copy_rect =
        |to: &Buffer, from_origin: [usize; 3], to_origin: [usize; 3], region: [usize; 3], rows: [usize; 4]| {
            (cl().clEnqueueCopyBufferRect)(
                setup.queue.raw(),
                buffer.raw(),
                to.raw(),
                from_origin.as_ptr(),
                to_origin.as_ptr(),
                region.as_ptr(),
                rows[0],
                rows[1],
                rows[2],
                rows[3],
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
    ok(copy_rect(&other, [0; 3], [4, 4, 0], [4, 4, 1], [8, 0, 8, 0]));
    expect(copy_rect(&other, [0; 3], [5, 4, 0], [4, 4, 1], [8, 0, 8, 0]), bad);
    expect(copy_rect(&buffer, [0; 3], [2, 2, 0], [4, 4, 1], [8, 0, 8, 0]), CL_MEM_COPY_OVERLAP);
    ok(copy_rect(&buffer, [0; 3], [4, 0, 0], [4, 4, 1], [8, 0, 8, 0]));
    // "CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and src_slice_pitch is not equal to
    // dst_slice_pitch or src_row_pitch is not equal to dst_row_pitch".
    expect(copy_rect(&buffer, [0; 3], [4, 0, 0], [2, 2, 1], [8, 0, 4, 0]), bad);
}

#[test]
fn transfer_errors() {
    let setup = Setup::new();
    let (a, b) = (setup.context.zeros::<u8>(64), setup.context.zeros::<u8>(64));
    let mut host = [0_u8; 64];
    let memory: *mut c_void = host.as_mut_ptr().cast();
    let (queue, none, event) = (setup.queue.raw(), ptr::null(), ptr::null_mut());
    let cl = cl();
    let bad = CL_INVALID_VALUE;
    for (offset, size) in [(0, 65), (64, 1), (60, 5), (usize::MAX, 2), (1, usize::MAX)] {
        expect((cl.clEnqueueReadBuffer)(queue, a.raw(), CL_TRUE, offset, size, memory, 0, none, event), bad);
        expect((cl.clEnqueueWriteBuffer)(queue, a.raw(), CL_TRUE, offset, size, memory, 0, none, event), bad);
        expect((cl.clEnqueueCopyBuffer)(queue, a.raw(), b.raw(), offset, 0, size, 0, none, event), bad);
        expect((cl.clEnqueueCopyBuffer)(queue, a.raw(), b.raw(), 0, offset, size, 0, none, event), bad);
        expect((cl.clEnqueueFillBuffer)(queue, a.raw(), memory, 1, offset, size, 0, none, event), bad);
    }
    expect((cl.clEnqueueReadBuffer)(queue, a.raw(), CL_TRUE, 0, 8, ptr::null_mut(), 0, none, event), bad);
    expect((cl.clEnqueueWriteBuffer)(queue, a.raw(), CL_TRUE, 0, 8, ptr::null_mut(), 0, none, event), bad);
    // Overlapping copies within a buffer, and through its sub-buffers.
    let copy = |from: &Buffer, to: &Buffer, from_offset, to_offset, size| {
        (cl.clEnqueueCopyBuffer)(queue, from.raw(), to.raw(), from_offset, to_offset, size, 0, none, event)
    };
    expect(copy(&a, &a, 0, 8, 16), CL_MEM_COPY_OVERLAP);
    expect(copy(&a, &a, 8, 0, 16), CL_MEM_COPY_OVERLAP);
    expect(copy(&a, &a, 5, 5, 1), CL_MEM_COPY_OVERLAP);
    ok(copy(&a, &a, 0, 16, 16));
    let step = alignment();
    let parent = setup.context.zeros::<u8>(step * 3);
    let first = sub_buffer(&parent, 0, 0, step * 2).expect("a sub-buffer");
    let second = sub_buffer(&parent, 0, step, step * 2).expect("a sub-buffer");
    expect(copy(&first, &second, step, 0, 4), CL_MEM_COPY_OVERLAP);
    ok(copy(&first, &second, 0, 0, step));
    // Fill: "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of
    // { 1, 2, 4, 8, 16, 32, 64, 128 }", "if offset and size are not a multiple of pattern_size".
    let fill = |pattern, width, offset, size| {
        (cl.clEnqueueFillBuffer)(queue, a.raw(), pattern, width, offset, size, 0, none, event)
    };
    expect(fill(ptr::null(), 4, 0, 8), bad);
    for width in [0, 3, 5, 256] {
        expect(fill(memory, width, 0, 0), bad);
    }
    expect(fill(memory, 4, 2, 8), bad);
    expect(fill(memory, 4, 0, 6), bad);
    // Objects of another context.
    let elsewhere = Setup::new();
    let foreign = elsewhere.context.zeros::<u8>(64);
    expect((cl.clEnqueueReadBuffer)(queue, foreign.raw(), CL_TRUE, 0, 8, memory, 0, none, event), CL_INVALID_CONTEXT);
    expect(copy(&a, &foreign, 0, 0, 8), CL_INVALID_CONTEXT);
    expect(copy(&foreign, &a, 0, 0, 8), CL_INVALID_CONTEXT);
    finish(&setup.queue);
}

#[test]
fn migration() {
    let setup = Setup::new();
    let buffers = [setup.context.with_values(&[1_i32, 2]), setup.context.with_values(&[3_i32, 4])];
    let raw = [buffers[0].raw(), buffers[1].raw()];
    let migrate = |count, objects, flags| {
        (cl().clEnqueueMigrateMemObjects)(setup.queue.raw(), count, objects, flags, 0, ptr::null(), ptr::null_mut())
    };
    ok(migrate(2, raw.as_ptr(), 0));
    ok(migrate(2, raw.as_ptr(), CL_MIGRATE_MEM_OBJECT_HOST));
    assert_eq!(read::<i32>(&setup.queue, &buffers[1]), [3, 4]);
    ok(migrate(1, raw.as_ptr(), CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED));
    expect(migrate(0, raw.as_ptr(), 0), CL_INVALID_VALUE);
    expect(migrate(2, ptr::null(), 0), CL_INVALID_VALUE);
    expect(migrate(2, raw.as_ptr(), 1 << 20), CL_INVALID_VALUE);
    finish(&setup.queue);
}

static DESTROYED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

extern "C" fn destroyed(_: cl_mem, user_data: *mut c_void) {
    DESTROYED.lock().expect("no panic").push(user_data as usize);
}

#[test]
fn destructor_callbacks_run_last_first() {
    let setup = Setup::new();
    let buffer = setup.context.zeros::<u8>(16);
    for number in 1..=3_usize {
        let set = cl().clSetMemObjectDestructorCallback;
        ok(set(buffer.raw(), Some(destroyed), number as *mut c_void));
    }
    let second = buffer.clone();
    drop(buffer);
    assert!(DESTROYED.lock().expect("no panic").is_empty());
    drop(second);
    assert_eq!(*DESTROYED.lock().expect("no panic"), [3, 2, 1]);
    let buffer = setup.context.zeros::<u8>(16);
    expect((cl().clSetMemObjectDestructorCallback)(buffer.raw(), None, ptr::null_mut()), CL_INVALID_VALUE);
}

/// "Implementations shall not allow cl_kernel objects to hold reference counts to cl_kernel arguments". A kernel whose
/// argument is gone cannot be launched.
#[test]
fn kernels_do_not_hold_their_arguments() {
    static GONE: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn gone(_: cl_mem, _: *mut c_void) {
        GONE.fetch_add(1, Ordering::Relaxed);
    }
    let setup = Setup::new();
    let kernel = setup.context.kernel("kernel void f(global int *x) { *x = 1; }", "f");
    let buffer = setup.context.zeros::<i32>(1);
    ok((cl().clSetMemObjectDestructorCallback)(buffer.raw(), Some(gone), ptr::null_mut()));
    assert_eq!(kernel.try_set(0, &buffer), CL_SUCCESS);
    drop(buffer);
    assert_eq!(GONE.load(Ordering::Relaxed), 1);
    if is_lockstep() {
        assert_eq!(try_launch(&setup.queue, &kernel, &[1], &[]), CL_INVALID_KERNEL_ARGS);
    }
}

#[test]
fn transfers_wait_for_events() {
    let setup = Setup::new();
    let queue = setup.context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    let (a, b) = (setup.context.with_values(&[1_u8; 32]), setup.context.with_values(&[2_u8; 32]));
    let gate = setup.context.user_event();
    let cl = cl();
    let mut event = ptr::null_mut();
    ok((cl.clEnqueueCopyBuffer)(queue.raw(), a.raw(), b.raw(), 0, 0, 16, 1, &gate.raw(), &mut event));
    let copied = Event::own(event);
    let mut host = [0_u8; 32];
    let memory = host.as_mut_ptr().cast();
    let mut event = ptr::null_mut();
    let waits = copied.raw();
    ok((cl.clEnqueueReadBuffer)(queue.raw(), b.raw(), CL_FALSE, 0, 32, memory, 1, &waits, &mut event));
    let done = Event::own(event);
    ok((cl.clFlush)(queue.raw()));
    assert_eq!(read::<u8>(&setup.queue, &b), [2; 32]);
    ok(gate.set_status(CL_COMPLETE));
    ok(done.wait());
    assert_eq!((&host[..16], &host[16..]), (&[1_u8; 16][..], &[2_u8; 16][..]));
}

#[test]
fn maps_wait_in_the_queue() {
    let setup = Setup::new();
    let kernel = setup.context.kernel(KERNEL, "add");
    let buffer = setup.context.with_values(&[0_i32; 64]);
    kernel.set(0, &buffer);
    for round in 1..=10 {
        ok(try_launch(&setup.queue, &kernel, &[64], &[]));
        let mapped = map(&setup.queue, &buffer, CL_MAP_READ | CL_MAP_WRITE, 0, 256).expect("a map");
        let bytes = host_bytes(mapped, 256);
        assert_eq!(i32::from_ne_bytes([bytes[252], bytes[253], bytes[254], bytes[255]]), 1000 * round);
        let code =
            (cl().clEnqueueUnmapMemObject)(setup.queue.raw(), buffer.raw(), mapped, 0, ptr::null(), ptr::null_mut());
        ok(code);
    }
}
