//! Images on the host: creation and its errors, queries, transfers with every pitch, fills, maps, samplers.

use std::ffi::c_void;
use std::ptr;

use lockstep_conformance::commands::finish;
use lockstep_conformance::images::{Format, Shape, decode, element_size, read_image};
use lockstep_conformance::loader::cl;
use lockstep_conformance::objects::{host_bytes, write_host_bytes};
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Plain, Random, Setup, code_name, expect, info, ok, read};

const RGBA8: Format = (CL_RGBA, CL_UNORM_INT8);
const SHAPES: [Shape; 5] = [
    Shape { kind: CL_MEM_OBJECT_IMAGE1D, sizes: [9, 1, 1], layers: 1 },
    Shape { kind: CL_MEM_OBJECT_IMAGE1D_ARRAY, sizes: [6, 1, 1], layers: 4 },
    Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [6, 5, 1], layers: 1 },
    Shape { kind: CL_MEM_OBJECT_IMAGE2D_ARRAY, sizes: [4, 3, 1], layers: 3 },
    Shape { kind: CL_MEM_OBJECT_IMAGE3D, sizes: [4, 3, 5], layers: 1 },
];
const NONE: *const cl_event = ptr::null();

fn query<T: Plain>(image: &Buffer, name: cl_image_info) -> T {
    info::value(|size, value, returned| (cl().clGetImageInfo)(image.raw(), name, size, value, returned))
}

#[test]
fn required_formats() {
    let setup = Setup::new();
    let types = [
        CL_UNORM_INT8,
        CL_UNORM_INT16,
        CL_SNORM_INT8,
        CL_SNORM_INT16,
        CL_SIGNED_INT8,
        CL_SIGNED_INT16,
        CL_SIGNED_INT32,
        CL_UNSIGNED_INT8,
        CL_UNSIGNED_INT16,
        CL_UNSIGNED_INT32,
        CL_HALF_FLOAT,
        CL_FLOAT,
    ];
    for flags in [CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_KERNEL_READ_AND_WRITE] {
        for shape in SHAPES {
            let formats = setup.context.formats(flags, shape.kind);
            for order in [CL_R, CL_RG, CL_RGBA] {
                assert!(types.iter().all(|&data_type| formats.contains(&(order, data_type))), "{flags:#x} {shape:?}");
            }
            assert!(formats.contains(&(CL_BGRA, CL_UNORM_INT8)));
            assert_eq!(formats.contains(&(CL_sRGBA, CL_UNORM_INT8)), flags == CL_MEM_READ_ONLY);
            let flat = matches!(shape.kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY);
            assert_eq!(formats.contains(&(CL_DEPTH, CL_FLOAT)), flat);
        }
    }
}

#[test]
fn queries() {
    let setup = Setup::new();
    for shape in SHAPES {
        for format in setup.context.formats(CL_MEM_READ_ONLY, shape.kind) {
            let image = setup.context.try_image(CL_MEM_READ_ONLY, format, &shape.descriptor(), ptr::null_mut());
            let image = image.unwrap_or_else(|code| panic!("{format:x?} {shape:?}: {}", code_name(code)));
            let size = element_size(format);
            let [width, height, depth] = shape.sizes;
            let counts = |counts: bool, value: usize| if counts { value } else { 0 };
            let array = matches!(shape.kind, CL_MEM_OBJECT_IMAGE1D_ARRAY | CL_MEM_OBJECT_IMAGE2D_ARRAY);
            let rows = !matches!(shape.kind, CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE1D_ARRAY);
            let volume = shape.kind == CL_MEM_OBJECT_IMAGE3D;
            assert_eq!(query::<[u32; 2]>(&image, CL_IMAGE_FORMAT), [format.0, format.1]);
            assert_eq!(query::<usize>(&image, CL_IMAGE_ELEMENT_SIZE), size);
            assert_eq!(query::<usize>(&image, CL_IMAGE_ROW_PITCH), size * width);
            assert_eq!(query::<usize>(&image, CL_IMAGE_SLICE_PITCH), counts(array || volume, size * width * height));
            assert_eq!(query::<usize>(&image, CL_IMAGE_WIDTH), width);
            assert_eq!(query::<usize>(&image, CL_IMAGE_HEIGHT), counts(rows, height));
            assert_eq!(query::<usize>(&image, CL_IMAGE_DEPTH), counts(volume, depth));
            assert_eq!(query::<usize>(&image, CL_IMAGE_ARRAY_SIZE), counts(array, shape.layers));
            assert_eq!(query::<usize>(&image, CL_IMAGE_BUFFER), 0);
            assert_eq!(query::<u32>(&image, CL_IMAGE_NUM_MIP_LEVELS), 0);
            assert_eq!(image.info::<u32>(CL_MEM_TYPE), shape.kind);
            assert_eq!(image.info::<usize>(CL_MEM_SIZE), size * shape.elements());
        }
    }
    let buffer = setup.context.zeros::<u8>(8);
    let ask = cl().clGetImageInfo;
    expect(ask(buffer.raw(), CL_IMAGE_WIDTH, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_MEM_OBJECT);
    let image = setup.context.image(CL_MEM_READ_ONLY, RGBA8, SHAPES[2], &[0; 120]);
    expect(ask(image.raw(), 0x1234, 0, ptr::null_mut(), ptr::null_mut()), CL_INVALID_VALUE);
    expect(ask(image.raw(), CL_IMAGE_WIDTH, 4, [0_u64; 1].as_mut_ptr().cast(), ptr::null_mut()), CL_INVALID_VALUE);
}

#[test]
fn errors_of_creation() {
    let setup = Setup::new();
    let mut host = [0_u64; 64];
    let host: *mut c_void = host.as_mut_ptr().cast();
    let none = ptr::null_mut();
    let flat = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [4, 4, 1], layers: 1 }.descriptor();
    let limit = |name| -> usize {
        info::value(|size, value, returned| {
            (cl().clGetDeviceInfo)(lockstep_conformance::loader::device(), name, size, value, returned)
        })
    };
    let (copy, used) = (CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR);
    let volume = cl_image_desc { image_type: CL_MEM_OBJECT_IMAGE3D, image_depth: 2, ..flat };
    let rows = cl_image_desc { image_type: CL_MEM_OBJECT_IMAGE1D_ARRAY, image_array_size: 2, ..flat };
    let buffer = setup.context.zeros::<u32>(16);
    let of_buffer = cl_image_desc { buffer: buffer.raw(), ..flat };
    let line = cl_image_desc { image_type: CL_MEM_OBJECT_IMAGE1D_BUFFER, image_width: 16, ..of_buffer };
    let other = setup.context.image(CL_MEM_READ_WRITE, RGBA8, SHAPES[2], &[0; 120]);
    let of_image = cl_image_desc { buffer: other.raw(), image_width: 6, image_height: 5, ..flat };
    let table = [
        ("flags that exclude each other", CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, RGBA8, flat, none, CL_INVALID_VALUE),
        ("unknown flags", 1 << 40, RGBA8, flat, none, CL_INVALID_VALUE),
        ("no such order", 0, (1, CL_UNORM_INT8), flat, none, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
        ("no such type", 0, (CL_RGBA, 1), flat, none, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
        ("order and type apart", 0, (CL_RGB, CL_UNORM_INT8), flat, none, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
        ("a format that is none of ours", 0, (CL_Rx, CL_UNORM_INT8), flat, none, CL_IMAGE_FORMAT_NOT_SUPPORTED),
        ("depth in a volume", 0, (CL_DEPTH, CL_FLOAT), volume, none, CL_IMAGE_FORMAT_NOT_SUPPORTED),
        ("no type", 0, RGBA8, cl_image_desc { image_type: 0, ..flat }, none, CL_INVALID_IMAGE_DESCRIPTOR),
        ("mip levels", 0, RGBA8, cl_image_desc { num_mip_levels: 2, ..flat }, none, CL_INVALID_IMAGE_DESCRIPTOR),
        ("samples", 0, RGBA8, cl_image_desc { num_samples: 2, ..flat }, none, CL_INVALID_IMAGE_DESCRIPTOR),
        ("no width", 0, RGBA8, cl_image_desc { image_width: 0, ..flat }, none, CL_INVALID_IMAGE_SIZE),
        ("no height", 0, RGBA8, cl_image_desc { image_height: 0, ..flat }, none, CL_INVALID_IMAGE_SIZE),
        ("no depth", 0, RGBA8, cl_image_desc { image_depth: 0, ..volume }, none, CL_INVALID_IMAGE_SIZE),
        ("no layers", 0, RGBA8, cl_image_desc { image_array_size: 0, ..rows }, none, CL_INVALID_IMAGE_SIZE),
        (
            "too wide",
            0,
            RGBA8,
            cl_image_desc { image_width: limit(CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1, ..flat },
            none,
            CL_INVALID_IMAGE_SIZE,
        ),
        ("too high", 0, RGBA8, cl_image_desc { image_height: usize::MAX, ..flat }, none, CL_INVALID_IMAGE_SIZE),
        (
            "too deep",
            0,
            RGBA8,
            cl_image_desc { image_depth: limit(CL_DEVICE_IMAGE3D_MAX_DEPTH) + 1, ..volume },
            none,
            CL_INVALID_IMAGE_SIZE,
        ),
        (
            "too many layers",
            0,
            RGBA8,
            cl_image_desc { image_array_size: limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE) + 1, ..rows },
            none,
            CL_INVALID_IMAGE_SIZE,
        ),
        ("a pointer that is not wanted", 0, RGBA8, flat, host, CL_INVALID_HOST_PTR),
        ("no pointer to copy from", copy, RGBA8, flat, none, CL_INVALID_HOST_PTR),
        ("no pointer to use", used, RGBA8, flat, none, CL_INVALID_HOST_PTR),
        (
            "a pitch without a pointer",
            0,
            RGBA8,
            cl_image_desc { image_row_pitch: 16, ..flat },
            none,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "a pitch shorter than a row",
            copy,
            RGBA8,
            cl_image_desc { image_row_pitch: 12, ..flat },
            host,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "a pitch of half elements",
            copy,
            RGBA8,
            cl_image_desc { image_row_pitch: 18, ..flat },
            host,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "slices too near",
            copy,
            RGBA8,
            cl_image_desc { image_slice_pitch: 32, ..volume },
            host,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "slices of half rows",
            copy,
            RGBA8,
            cl_image_desc { image_slice_pitch: 72, ..volume },
            host,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "an image of a buffer without one",
            0,
            RGBA8,
            cl_image_desc { buffer: none, ..line },
            none,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        ("longer than the buffer", 0, RGBA8, cl_image_desc { image_width: 17, ..line }, none, CL_INVALID_IMAGE_SIZE),
        (
            "a plane larger than the buffer",
            0,
            RGBA8,
            cl_image_desc { image_height: 5, ..of_buffer },
            none,
            CL_INVALID_IMAGE_SIZE,
        ),
        (
            "a plane of short rows",
            0,
            RGBA8,
            cl_image_desc { image_row_pitch: 8, ..of_buffer },
            none,
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        ),
        (
            "a volume of a buffer",
            0,
            RGBA8,
            cl_image_desc { buffer: buffer.raw(), ..volume },
            none,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        ("host memory of a buffer's image", CL_MEM_ALLOC_HOST_PTR, RGBA8, of_buffer, none, CL_INVALID_VALUE),
        (
            "another size than the image's",
            0,
            (CL_sRGBA, CL_UNORM_INT8),
            cl_image_desc { image_width: 5, ..of_image },
            none,
            CL_INVALID_IMAGE_DESCRIPTOR,
        ),
        (
            "an order that does not go with the image's",
            0,
            (CL_BGRA, CL_UNORM_INT8),
            of_image,
            none,
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        ),
        (
            "another type than the image's",
            0,
            (CL_RGBA, CL_SNORM_INT8),
            of_image,
            none,
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
        ),
    ];
    for (what, flags, format, desc, host, expected) in table {
        match setup.context.try_image(flags, format, &desc, host) {
            Ok(_) => panic!("{what}: an image"),
            Err(code) => assert_eq!(code, expected, "{what}: {}", code_name(code)),
        }
    }
    let (mut code, context) = (1, setup.context.raw());
    let format = cl_image_format { image_channel_order: CL_RGBA, image_channel_data_type: CL_UNORM_INT8 };
    let create = cl().clCreateImage;
    assert!(create(context, 0, ptr::null(), &flat, none, &mut code).is_null());
    expect(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert!(create(context, 0, &format, ptr::null(), none, &mut code).is_null());
    expect(code, CL_INVALID_IMAGE_DESCRIPTOR);
    let unknown = [77, 1, 0];
    let with = cl().clCreateImageWithProperties;
    assert!(with(context, unknown.as_ptr(), 0, &format, &flat, none, &mut code).is_null());
    expect(code, CL_INVALID_PROPERTY);
    assert!((cl().clCreateImage2D)(context, copy, &format, 4, 4, 8, host, &mut code).is_null());
    expect(code, CL_INVALID_IMAGE_SIZE);
    assert!((cl().clCreateImage3D)(context, 0, &format, 4, 4, 1, 0, 0, none, &mut code).is_null());
    expect(code, CL_INVALID_IMAGE_SIZE);
    for image in [
        (cl().clCreateImage2D)(context, copy, &format, 4, 4, 32, host, &mut code),
        (cl().clCreateImage3D)(context, copy, &format, 4, 4, 2, 0, 0, host, &mut code),
    ] {
        Buffer::own(image);
    }
}

/// Reads and writes of random boxes, tightly and with pitches, against a model in host memory.
#[test]
fn transfers_of_boxes() {
    let setup = Setup::new();
    let mut random = Random::new(5);
    let queue = setup.queue.raw();
    for shape in SHAPES {
        let [w, h, d] = shape.region();
        let mut model: Vec<u32> = (0..shape.elements() as u32).collect();
        let image = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, u32::to_bytes(&model));
        for round in 0..40 {
            let origin = [w, h, d].map(|n| random.below(n));
            let region = [0, 1, 2].map(|i| 1 + random.below([w, h, d][i] - origin[i]));
            let slices = !matches!(shape.kind, CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE2D);
            let layered = shape.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY;
            // In elements: tight, or with gaps.
            let row = region[0] + random.below(3);
            let rows = if layered { 1 } else { region[1] };
            let slice = row * rows + random.below(3) * row * usize::from(slices);
            let at = |x: usize, y: usize, z: usize| if layered { y * slice + x } else { z * slice + y * row + x };
            let length = at(region[0], region[1], region[2]) + slice * region[2].max(region[1]);
            let slice_pitch = if slices { 4 * slice } else { 0 };
            let mut host: Vec<u32> = (0..length as u32).map(|i| 0x1000_0000 + 1000 * round + i).collect();
            let pointer: *mut c_void = host.as_mut_ptr().cast();
            let each = |f: &mut dyn FnMut(usize, usize)| {
                for z in 0..region[2] {
                    for y in 0..region[1] {
                        for x in 0..region[0] {
                            f(at(x, y, z), ((z + origin[2]) * h + y + origin[1]) * w + x + origin[0]);
                        }
                    }
                }
            };
            let (o, r) = (origin.as_ptr(), region.as_ptr());
            if round % 2 == 0 {
                ok((cl().clEnqueueWriteImage)(
                    queue,
                    image.raw(),
                    CL_TRUE,
                    o,
                    r,
                    4 * row,
                    slice_pitch,
                    pointer,
                    0,
                    NONE,
                    ptr::null_mut(),
                ));
                each(&mut |outside, inside| model[inside] = host[outside]);
                let now = read_image(&setup.queue, &image, shape, 4);
                assert_eq!(u32::from_bytes(&now), model, "{shape:?} {origin:?} {region:?}");
            } else {
                let mut expected = host.clone();
                ok((cl().clEnqueueReadImage)(
                    queue,
                    image.raw(),
                    CL_TRUE,
                    o,
                    r,
                    4 * row,
                    slice_pitch,
                    pointer,
                    0,
                    NONE,
                    ptr::null_mut(),
                ));
                each(&mut |outside, inside| expected[outside] = model[inside]);
                assert_eq!(host, expected, "{shape:?} {origin:?} {region:?}");
            }
        }
    }
}

#[test]
fn copies_between_images_and_buffers() {
    let setup = Setup::new();
    let queue = setup.queue.raw();
    for shape in SHAPES {
        let values: Vec<u32> = (0..shape.elements() as u32).map(|i| i * 3 + 1).collect();
        let bytes = u32::to_bytes(&values);
        let image = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, bytes);
        let other = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, &vec![0; bytes.len()]);
        let buffer = setup.context.zeros::<u32>(shape.elements() + 2);
        let (zero, all, event) = ([0_usize; 3], shape.region(), ptr::null_mut());
        let (o, r) = (zero.as_ptr(), all.as_ptr());
        ok((cl().clEnqueueCopyImageToBuffer)(queue, image.raw(), buffer.raw(), o, r, 8, 0, NONE, event));
        assert_eq!(read::<u32>(&setup.queue, &buffer)[2..], values);
        ok((cl().clEnqueueCopyBufferToImage)(queue, buffer.raw(), other.raw(), 8, o, r, 0, NONE, event));
        assert_eq!(read_image(&setup.queue, &other, shape, 4), bytes);
        let third = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, &vec![0; bytes.len()]);
        ok((cl().clEnqueueCopyImage)(queue, image.raw(), third.raw(), o, o, r, 0, NONE, event));
        assert_eq!(read_image(&setup.queue, &third, shape, 4), bytes);
        // "CL_INVALID_VALUE [...] if the region [...] refer to a region outside dst_buffer".
        expect(
            (cl().clEnqueueCopyImageToBuffer)(queue, image.raw(), buffer.raw(), o, r, 12, 0, NONE, event),
            CL_INVALID_VALUE,
        );
        expect(
            (cl().clEnqueueCopyBufferToImage)(queue, buffer.raw(), image.raw(), usize::MAX, o, r, 0, NONE, event),
            CL_INVALID_VALUE,
        );
        // "CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the [...] regions overlap".
        let one = [1_usize, 0, 0];
        let part = [2_usize, 1, 1];
        let copy = cl().clEnqueueCopyImage;
        expect(
            copy(queue, image.raw(), image.raw(), o, one.as_ptr(), part.as_ptr(), 0, NONE, event),
            CL_MEM_COPY_OVERLAP,
        );
        let beside = [2_usize, 0, 0];
        ok(copy(queue, image.raw(), image.raw(), o, beside.as_ptr(), part.as_ptr(), 0, NONE, event));
        let got = read_image(&setup.queue, &image, shape, 4);
        assert_eq!(got[8..16], got[..8]);
        let floats = setup.context.image(CL_MEM_READ_WRITE, (CL_R, CL_FLOAT), shape, bytes);
        expect(copy(queue, image.raw(), floats.raw(), o, o, r, 0, NONE, event), CL_IMAGE_FORMAT_MISMATCH);
    }
}

#[test]
fn errors_of_commands() {
    let setup = Setup::new();
    let queue = setup.queue.raw();
    let shape = SHAPES[2];
    let image = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, &[0; 120]);
    let buffer = setup.context.zeros::<u8>(120);
    let mut host = [0_u64; 32];
    let host: *mut c_void = host.as_mut_ptr().cast();
    let event = ptr::null_mut();
    let null = ptr::null::<usize>();
    let (zero, region) = ([0_usize; 3], [2_usize, 2, 1]);
    let (o, r) = (zero.as_ptr(), region.as_ptr());
    let read = |image: cl_mem, o, r, row, slice, host| {
        (cl().clEnqueueReadImage)(queue, image, CL_TRUE, o, r, row, slice, host, 0, NONE, event)
    };
    expect(read(buffer.raw(), o, r, 0, 0, host), CL_INVALID_MEM_OBJECT);
    expect(read(image.raw(), null, r, 0, 0, host), CL_INVALID_VALUE);
    expect(read(image.raw(), o, null, 0, 0, host), CL_INVALID_VALUE);
    expect(read(image.raw(), o, r, 0, 0, ptr::null_mut()), CL_INVALID_VALUE);
    expect(read(image.raw(), o, r, 7, 0, host), CL_INVALID_VALUE);
    expect(read(image.raw(), o, r, 8, 16, host), CL_INVALID_VALUE);
    for (origin, region) in
        [([5, 0, 0], [2, 1, 1]), ([0, 0, 1], [1, 1, 1]), ([0, 0, 0], [1, 0, 1]), ([0, 4, 0], [1, 2, 1])]
    {
        let (origin, region): ([usize; 3], [usize; 3]) = (origin, region);
        expect(read(image.raw(), origin.as_ptr(), region.as_ptr(), 0, 0, host), CL_INVALID_VALUE);
        let fill = cl().clEnqueueFillImage;
        expect(fill(queue, image.raw(), host, origin.as_ptr(), region.as_ptr(), 0, NONE, event), CL_INVALID_VALUE);
    }
    expect((cl().clEnqueueFillImage)(queue, image.raw(), ptr::null(), o, r, 0, NONE, event), CL_INVALID_VALUE);
    expect(
        (cl().clEnqueueCopyImageToBuffer)(queue, buffer.raw(), buffer.raw(), o, r, 0, 0, NONE, event),
        CL_INVALID_MEM_OBJECT,
    );
    expect(
        (cl().clEnqueueCopyImageToBuffer)(queue, image.raw(), image.raw(), o, r, 0, 0, NONE, event),
        CL_INVALID_MEM_OBJECT,
    );
    let other = Setup::new();
    let foreign = other.context.image(CL_MEM_READ_WRITE, RGBA8, shape, &[0; 120]);
    expect(read(foreign.raw(), o, r, 0, 0, host), CL_INVALID_CONTEXT);
    // A buffer's commands do not take images.
    expect((cl().clEnqueueReadBuffer)(queue, image.raw(), CL_TRUE, 0, 4, host, 0, NONE, event), CL_INVALID_MEM_OBJECT);
    for (flags, reads, writes) in [
        (CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION),
        (CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION),
        (CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS),
    ] {
        let image = setup.context.try_image(flags, RGBA8, &shape.descriptor(), ptr::null_mut()).expect("an image");
        expect(read(image.raw(), o, r, 0, 0, host), reads);
        expect((cl().clEnqueueWriteImage)(queue, image.raw(), CL_TRUE, o, r, 0, 0, host, 0, NONE, event), writes);
        let (mut row, mut code) = (0, 1);
        for (flag, expected) in [(CL_MAP_READ, reads), (CL_MAP_WRITE, writes)] {
            let map = cl().clEnqueueMapImage;
            let mapped =
                map(queue, image.raw(), CL_TRUE, flag, o, r, &mut row, ptr::null_mut(), 0, NONE, event, &mut code);
            expect(code, expected);
            if !mapped.is_null() {
                ok((cl().clEnqueueUnmapMemObject)(queue, image.raw(), mapped, 0, NONE, event));
            }
        }
    }
}

#[test]
fn fills_of_every_format() {
    let setup = Setup::new();
    let shape = SHAPES[2];
    for format in setup.context.formats(CL_MEM_READ_ONLY, shape.kind) {
        let size = element_size(format);
        let image = setup.context.image(CL_MEM_READ_WRITE, format, shape, &vec![0; size * shape.elements()]);
        let kind = lockstep_conformance::images::reader(format.1);
        let color = match kind {
            "f" => [0.75_f32, 0.25, 0.5, 1.0].map(f32::to_bits),
            "i" => [-3_i32 as u32, 7, -128_i32 as u32, 100],
            _ => [3, 7, 255, 100],
        };
        let (origin, region) = ([1_usize, 2, 0], [3_usize, 2, 1]);
        let (o, r) = (origin.as_ptr(), region.as_ptr());
        let fill = cl().clEnqueueFillImage;
        ok(fill(setup.queue.raw(), image.raw(), color.as_ptr().cast(), o, r, 0, NONE, ptr::null_mut()));
        let bytes = read_image(&setup.queue, &image, shape, size);
        for (i, element) in bytes.chunks(size).enumerate() {
            let (x, y) = (i % 6, i / 6);
            if !((1..4).contains(&x) && (2..4).contains(&y)) {
                assert!(element.iter().all(|&byte| byte == 0), "{format:x?} at {x}, {y}");
                continue;
            }
            let got = decode(format, element);
            for c in 0..4 {
                let expected = match kind {
                    "f" => f64::from(f32::from_bits(color[c])),
                    "i" => f64::from(color[c] as i32),
                    _ => f64::from(color[c]),
                };
                let held = match format.0 {
                    CL_R | CL_DEPTH => c == 0,
                    CL_A => c == 3,
                    CL_RG => c < 2,
                    CL_RA => c == 0 || c == 3,
                    CL_INTENSITY | CL_LUMINANCE => c == 0,
                    CL_RGB => c < 3,
                    order if order == CL_RGBx => c < 3,
                    _ => true,
                };
                let tolerance = if kind == "f" { 0.017 } else { 0.0 };
                assert!(!held || (got[c] - expected).abs() <= tolerance, "{format:x?}: {got:?}");
            }
        }
    }
}

#[test]
fn maps() {
    let setup = Setup::new();
    let queue = setup.queue.raw();
    for shape in SHAPES {
        let values: Vec<u32> = (0..shape.elements() as u32).collect();
        let image = setup.context.image(CL_MEM_READ_WRITE, RGBA8, shape, u32::to_bytes(&values));
        let [w, h, d] = shape.region();
        let origin = [w - 2, h - 1, d - 1];
        let region = [2_usize, 1, 1];
        let (mut row, mut slice, mut code) = (0, 77, 1);
        let map = cl().clEnqueueMapImage;
        let (o, r, event) = (origin.as_ptr(), region.as_ptr(), ptr::null_mut());
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        let mapped = map(queue, image.raw(), CL_TRUE, flags, o, r, &mut row, &mut slice, 0, NONE, event, &mut code);
        ok(code);
        let flat = matches!(shape.kind, CL_MEM_OBJECT_IMAGE1D | CL_MEM_OBJECT_IMAGE2D);
        assert_eq!((row, slice == 0), (4 * w, flat), "{shape:?}");
        let last = shape.elements() as u32 - 1;
        assert_eq!(host_bytes(mapped, 8), u32::to_bytes(&[last - 1, last]));
        assert_eq!(image.info::<u32>(CL_MEM_MAP_COUNT), 1);
        // What lies beside may be mapped for writing too, what overlaps may not.
        let beside = [0_usize; 3];
        let write = CL_MAP_WRITE;
        let second = map(
            queue,
            image.raw(),
            CL_TRUE,
            write,
            beside.as_ptr(),
            r,
            &mut row,
            &mut slice,
            0,
            NONE,
            event,
            &mut code,
        );
        ok(code);
        map(queue, image.raw(), CL_TRUE, write, o, r, &mut row, &mut slice, 0, NONE, event, &mut code);
        expect(code, CL_INVALID_OPERATION);
        write_host_bytes(mapped, &[9; 8]);
        ok((cl().clEnqueueUnmapMemObject)(queue, image.raw(), mapped, 0, NONE, event));
        ok((cl().clEnqueueUnmapMemObject)(queue, image.raw(), second, 0, NONE, event));
        finish(&setup.queue);
        let bytes = read_image(&setup.queue, &image, shape, 4);
        assert_eq!(bytes[bytes.len() - 8..], [9; 8]);
        map(queue, image.raw(), CL_TRUE, write, o, r, ptr::null_mut(), &mut slice, 0, NONE, event, &mut code);
        expect(code, CL_INVALID_VALUE);
        map(queue, image.raw(), CL_TRUE, write, o, r, &mut row, ptr::null_mut(), 0, NONE, event, &mut code);
        expect(code, if flat { CL_SUCCESS } else { CL_INVALID_VALUE });
    }
}

#[test]
fn host_memory_with_pitches() {
    let setup = Setup::new();
    let mut host: Vec<u32> = (0..64).collect();
    let mut desc = Shape { kind: CL_MEM_OBJECT_IMAGE3D, sizes: [3, 2, 2], layers: 1 }.descriptor();
    desc.image_row_pitch = 32;
    desc.image_slice_pitch = 128;
    let pointer: *mut c_void = host.as_mut_ptr().cast();
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE3D, sizes: [3, 2, 2], layers: 1 };
    let expected: Vec<u32> = [0, 8, 32, 40].iter().flat_map(|&row| (0..3).map(move |x| row + x)).collect();
    for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
        let image = setup.context.try_image(flags, RGBA8, &desc, pointer).expect("an image");
        assert_eq!(u32::from_bytes(&read_image(&setup.queue, &image, shape, 4)), expected);
        assert_eq!(query::<usize>(&image, CL_IMAGE_ROW_PITCH), 32);
        assert_eq!(image.info::<usize>(CL_MEM_HOST_PTR) != 0, flags == CL_MEM_USE_HOST_PTR);
        let (mut row, mut slice, mut code) = (0, 0, 1);
        let (zero, region) = ([0_usize; 3], [3_usize, 2, 2]);
        let (o, r, event) = (zero.as_ptr(), region.as_ptr(), ptr::null_mut());
        let map = cl().clEnqueueMapImage;
        let mapped = map(
            setup.queue.raw(),
            image.raw(),
            CL_TRUE,
            CL_MAP_READ,
            o,
            r,
            &mut row,
            &mut slice,
            0,
            NONE,
            event,
            &mut code,
        );
        ok(code);
        assert_eq!((row, slice), (32, 128));
        assert_eq!(ptr::eq(mapped, pointer), flags == CL_MEM_USE_HOST_PTR);
        ok((cl().clEnqueueUnmapMemObject)(setup.queue.raw(), image.raw(), mapped, 0, NONE, event));
        finish(&setup.queue);
    }
}

#[test]
fn images_of_other_objects() {
    let setup = Setup::new();
    let values: Vec<u32> = (0..100).collect();
    let buffer = setup.context.with_values(&values);
    let line = Shape { kind: CL_MEM_OBJECT_IMAGE1D_BUFFER, sizes: [90, 1, 1], layers: 1 };
    let desc = cl_image_desc { buffer: buffer.raw(), ..line.descriptor() };
    let image = setup.context.try_image(0, RGBA8, &desc, ptr::null_mut()).expect("an image of a buffer");
    assert_eq!(query::<usize>(&image, CL_IMAGE_BUFFER), buffer.raw() as usize);
    assert_eq!(image.info::<usize>(CL_MEM_ASSOCIATED_MEMOBJECT), buffer.raw() as usize);
    assert_eq!(image.info::<u64>(CL_MEM_FLAGS) & CL_MEM_READ_WRITE, CL_MEM_READ_WRITE, "inherited");
    assert_eq!(read_image(&setup.queue, &image, line, 4), u32::to_bytes(&values[..90]));
    // The image keeps the buffer.
    drop(buffer);
    assert_eq!(read_image(&setup.queue, &image, line, 4).len(), 360);

    let flat = SHAPES[2];
    let linear = setup.context.image(CL_MEM_READ_WRITE, RGBA8, flat, &[188; 120]);
    let desc = cl_image_desc { buffer: linear.raw(), ..flat.descriptor() };
    let view = setup.context.try_image(0, (CL_sRGBA, CL_UNORM_INT8), &desc, ptr::null_mut()).expect("another order");
    let source = "kernel void f(read_only image2d_t a, read_only image2d_t b, global float4 *out) {
            out[0] = read_imagef(a, (int2)(1, 1)); out[1] = read_imagef(b, (int2)(1, 1)); }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let out = setup.context.zeros::<[f32; 4]>(2);
    kernel.set_all(lockstep_conformance::arguments![&linear, &view, &out]);
    lockstep_conformance::run(&setup.queue, &kernel, &[1], &[]);
    let got = read::<[f32; 4]>(&setup.queue, &out);
    let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-6;
    assert!(close(got[0][0], 188.0 / 255.0) && close(got[1][0], decode((CL_sRGBA, CL_UNORM_INT8), &[188; 4])[0]));
    assert!(close(got[1][3], 188.0 / 255.0), "alpha is linear");
}

#[test]
fn samplers() {
    let setup = Setup::new();
    let context = setup.context.raw();
    for (normalized, addressing, filter, expected) in [
        (true, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, CL_SUCCESS),
        (false, CL_ADDRESS_NONE, CL_FILTER_NEAREST, CL_SUCCESS),
        (false, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, CL_INVALID_VALUE),
        (false, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, CL_INVALID_VALUE),
        (true, 0, CL_FILTER_NEAREST, CL_INVALID_VALUE),
        (true, CL_ADDRESS_CLAMP, 0, CL_INVALID_VALUE),
    ] {
        match setup.context.try_sampler(normalized, addressing, filter) {
            Err(code) => expect(code, expected),
            Ok(sampler) => {
                expect(CL_SUCCESS, expected);
                let ask = |name| -> u32 {
                    info::value(|size, value, returned| (cl().clGetSamplerInfo)(sampler, name, size, value, returned))
                };
                assert_eq!(ask(CL_SAMPLER_NORMALIZED_COORDS), u32::from(normalized));
                assert_eq!((ask(CL_SAMPLER_ADDRESSING_MODE), ask(CL_SAMPLER_FILTER_MODE)), (addressing, filter));
                ok((cl().clRetainSampler)(sampler));
                assert_eq!(ask(CL_SAMPLER_REFERENCE_COUNT), 2);
                let nothing = ptr::null_mut();
                expect((cl().clGetSamplerInfo)(sampler, 7, 0, nothing, ptr::null_mut()), CL_INVALID_VALUE);
                ok((cl().clReleaseSampler)(sampler));
                ok((cl().clReleaseSampler)(sampler));
            }
        }
    }
    let create = cl().clCreateSamplerWithProperties;
    let mut code = 1;
    let (mode, filter) = (u64::from(CL_SAMPLER_ADDRESSING_MODE), u64::from(CL_SAMPLER_FILTER_MODE));
    let repeat = u64::from(CL_ADDRESS_REPEAT);
    for (list, expected) in [
        (vec![0], CL_SUCCESS),
        (vec![mode, repeat, filter, CL_FILTER_LINEAR.into(), 0], CL_SUCCESS),
        (vec![mode, repeat, mode, repeat, 0], CL_INVALID_VALUE),
        (vec![7, 1, 0], CL_INVALID_VALUE),
        (vec![filter, 7, 0], CL_INVALID_VALUE),
        (vec![filter, u64::MAX, 0], CL_INVALID_VALUE),
    ] {
        let sampler = create(context, list.as_ptr(), &mut code);
        expect(code, expected);
        if code == CL_SUCCESS {
            let got: Vec<u64> = info::array(|size, value, returned| {
                (cl().clGetSamplerInfo)(sampler, CL_SAMPLER_PROPERTIES, size, value, returned)
            });
            assert_eq!(got, list);
            ok((cl().clReleaseSampler)(sampler));
        }
    }
}

#[test]
fn arguments_of_kernels() {
    let setup = Setup::new();
    let source = "kernel void f(read_only image2d_t a, write_only image2d_t b, sampler_t s, global float4 *out) {
            out[0] = read_imagef(a, s, (int2)(0, 0)); write_imagef(b, (int2)(0, 0), (float4)(1)); }";
    let kernel = setup.context.kernel(source, "f");
    let image =
        |flags| setup.context.try_image(flags, RGBA8, &SHAPES[2].descriptor(), ptr::null_mut()).expect("an image");
    let (both, reads, writes) = (image(0), image(CL_MEM_READ_ONLY), image(CL_MEM_WRITE_ONLY));
    let buffer = setup.context.zeros::<u32>(4);
    for (index, object, expected) in [
        (0, &both, CL_SUCCESS),
        (0, &reads, CL_SUCCESS),
        (0, &writes, CL_INVALID_ARG_VALUE),
        (0, &buffer, CL_INVALID_MEM_OBJECT),
        (1, &writes, CL_SUCCESS),
        (1, &reads, CL_INVALID_ARG_VALUE),
        (2, &both, CL_INVALID_SAMPLER),
        (3, &both, CL_INVALID_MEM_OBJECT),
    ] {
        assert_eq!(kernel.try_set(index, object), expected, "argument {index}");
    }
    let set = cl().clSetKernelArg;
    expect(set(kernel.raw(), 0, 4, (&raw const both).cast()), CL_INVALID_ARG_SIZE);
    expect(set(kernel.raw(), 0, 8, ptr::null()), CL_INVALID_MEM_OBJECT);
    expect(set(kernel.raw(), 2, 4, (&raw const both).cast()), CL_INVALID_ARG_SIZE);
    expect(set(kernel.raw(), 2, 8, ptr::null()), CL_INVALID_SAMPLER);
    let about = |index, name| -> u32 {
        info::value(|size, value, returned| (cl().clGetKernelArgInfo)(kernel.raw(), index, name, size, value, returned))
    };
    assert_eq!(about(0, CL_KERNEL_ARG_ACCESS_QUALIFIER), CL_KERNEL_ARG_ACCESS_READ_ONLY);
    assert_eq!(about(1, CL_KERNEL_ARG_ACCESS_QUALIFIER), CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
    assert_eq!(about(0, CL_KERNEL_ARG_ADDRESS_QUALIFIER), CL_KERNEL_ARG_ADDRESS_GLOBAL);
    assert_eq!(about(2, CL_KERNEL_ARG_ADDRESS_QUALIFIER), CL_KERNEL_ARG_ADDRESS_PRIVATE);
}
