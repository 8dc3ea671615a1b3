//! Images in kernels: every format, addressing mode and filter against a model on the host, writes, queries.

use std::ffi::c_void;

use lockstep_conformance::images::{
    ADDRESSING, Format, Sampling, Shape, border, decode, element_size, read_image, reader,
};
use lockstep_conformance::loader::cl;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Buffer, Kernel, Plain, Random, Setup, arguments, ok, read, run};

const ONE_D: Shape = Shape { kind: CL_MEM_OBJECT_IMAGE1D, sizes: [7, 1, 1], layers: 1 };
const ROWS: Shape = Shape { kind: CL_MEM_OBJECT_IMAGE1D_ARRAY, sizes: [5, 1, 1], layers: 3 };
const FLAT: Shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [5, 3, 1], layers: 1 };
const LAYERS: Shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D_ARRAY, sizes: [4, 3, 1], layers: 3 };
const VOLUME: Shape = Shape { kind: CL_MEM_OBJECT_IMAGE3D, sizes: [4, 3, 5], layers: 1 };

/// Bytes of elements without infinities and what is no number.
fn contents(random: &mut Random, format: Format, elements: usize) -> Vec<u8> {
    let count = elements * element_size(format);
    match format.1 {
        CL_FLOAT => (0..count / 4).flat_map(|_| (random.below(2000) as f32 / 500.0 - 2.0).to_le_bytes()).collect(),
        CL_HALF_FLOAT => (0..count / 2).flat_map(|_| (random.bits() as u16 & 0xBFFF).to_le_bytes()).collect(),
        _ => (0..count).map(|_| random.bits() as u8).collect(),
    }
}

/// The kernel that reads at given places.
fn sampling_kernel(setup: &Setup, shape: Shape, format: Format, sampler: &str) -> Kernel {
    let (kind, at) = (reader(format.1), shape.coordinates());
    let (image, value) = match (format.0, kind) {
        (CL_DEPTH, _) if shape.layers > 1 => ("image2d_array_depth_t", "(float4)(v, 0, 0, 1)"),
        (CL_DEPTH, _) => ("image2d_depth_t", "(float4)(v, 0, 0, 1)"),
        _ => (shape.type_name(), "v"),
    };
    let result = match kind {
        "i" => "int",
        "ui" => "uint",
        _ => "float",
    };
    let read = if format.0 == CL_DEPTH { "float".into() } else { format!("{result}4") };
    let (parameter, argument) = match sampler {
        "argument" => ("sampler_t s, ", "s, "),
        "int" => ("sampler_t s, ", "s, convert_int4_rtn"),
        _ => ("", "convert_int4_rtn"),
    };
    let source = format!(
        "kernel void f(read_only {image} a, {parameter}global const float4 *at, global {result}4 *out) {{\
           size_t i = get_global_id(0); {read} v = read_image{kind}(a, {argument}(at[i]).{at}); out[i] = {value}; }}"
    );
    setup.context.build(&source, "-cl-std=CL3.0").kernel("f")
}

/// Runs it; results as numbers.
fn samples(
    setup: &Setup,
    kernel: &Kernel,
    format: Format,
    image: &Buffer,
    sampler: Option<cl_sampler>,
    at: &[[f32; 4]],
) -> Vec<[f64; 4]> {
    let places = setup.context.with_values(at);
    let out = setup.context.zeros::<[u32; 4]>(at.len());
    let mut index = 1;
    kernel.set(0, image);
    if let Some(sampler) = sampler {
        kernel.set(1, sampler);
        index = 2;
    }
    kernel.set(index, &places);
    kernel.set(index + 1, &out);
    run(&setup.queue, kernel, &[at.len()], &[]);
    let number = |word: u32| match reader(format.1) {
        "i" => f64::from(word as i32),
        "ui" => f64::from(word),
        _ => f64::from(f32::from_bits(word)),
    };
    read::<[u32; 4]>(&setup.queue, &out).into_iter().map(|words| words.map(number)).collect()
}

/// What the elements of a type of image are, from its bytes.
fn elements<'a>(format: Format, shape: Shape, bytes: &'a [u8]) -> impl Fn([usize; 3]) -> [f64; 4] + 'a {
    let size = element_size(format);
    let [width, height, _] = shape.region();
    move |[x, y, z]| decode(format, &bytes[((z * height + y) * width + x) * size..][..size])
}

#[track_caller]
fn assert_close(got: &[f64; 4], expected: &[f64; 4], tolerance: f64, what: &str) {
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= tolerance * e.abs().max(1.0), "{what}: {got:?}, expected {expected:?}");
    }
}

fn formats(setup: &Setup, flags: cl_mem_flags, shape: Shape) -> Vec<Format> {
    let formats = setup.context.formats(flags, shape.kind);
    assert!(!formats.is_empty());
    formats
}

/// In planes each format has a kernel of its own, so that its code is that for launches with this format. Elsewhere they
/// share a kernel, whose code is for all of them from the third on.
fn alone(shape: Shape, format: Format) -> Option<Format> {
    (shape.kind == CL_MEM_OBJECT_IMAGE2D).then_some(format)
}

#[test]
fn every_format_at_whole_coordinates() {
    let setup = Setup::new();
    let mut random = Random::new(1);
    for shape in [ONE_D, ROWS, FLAT, LAYERS, VOLUME] {
        let mut kernels = std::collections::HashMap::new();
        for format in formats(&setup, CL_MEM_READ_ONLY, shape) {
            let bytes = contents(&mut random, format, shape.elements());
            let image = setup.context.image(CL_MEM_READ_ONLY, format, shape, &bytes);
            let [w, h, d] = shape.region();
            let all = (0..w * h * d).map(|i| [i % w, i / w % h, i / w / h]);
            let at: Vec<_> = all.clone().map(|p| [p[0] as f32, p[1] as f32, p[2] as f32, 0.0]).collect();
            let kernel = kernels
                .entry((reader(format.1), format.0 == CL_DEPTH, alone(shape, format)))
                .or_insert_with(|| sampling_kernel(&setup, shape, format, "none"));
            let got = samples(&setup, kernel, format, &image, None, &at);
            let element = elements(format, shape, &bytes);
            for (got, place) in got.iter().zip(all) {
                assert_close(got, &element(place), 2e-7, &format!("{format:x?} {shape:?} at {place:?}"));
            }
        }
    }
}

/// Coordinates in and around an image.
fn places(random: &mut Random, shape: Shape, normalized: bool, count: usize) -> Vec<[f32; 4]> {
    let mut at = Vec::new();
    for i in 0..count {
        let mut place = [0.0; 4];
        for (axis, size) in shape.region().into_iter().enumerate() {
            let array = (axis == 1 && shape.kind == CL_MEM_OBJECT_IMAGE1D_ARRAY)
                || (axis == 2 && shape.kind == CL_MEM_OBJECT_IMAGE2D_ARRAY);
            // Some are on the borders between elements, in numbers that are exact.
            let c = if i % 4 == 0 {
                random.below(17) as f32 / 4.0 - 1.5
            } else {
                random.below(30011) as f32 / 7919.0 - 1.4
            };
            place[axis] = if normalized && !array { c } else { c * size as f32 };
        }
        at.push(place);
    }
    at
}

/// Compares all samplers with images of the formats that are wanted. With a kernel of its own each sampler has code of
/// its own.
fn compare_sampling(shape: Shape, own_kernels: bool, wanted: impl Fn(Format) -> bool) {
    let setup = Setup::new();
    let mut random = Random::new(2);
    let mut kernels = std::collections::HashMap::new();
    for format in formats(&setup, CL_MEM_READ_ONLY, shape).into_iter().filter(|&format| wanted(format)) {
        let kind = reader(format.1);
        let bytes = contents(&mut random, format, shape.elements());
        let image = setup.context.image(CL_MEM_READ_ONLY, format, shape, &bytes);
        let element = elements(format, shape, &bytes);
        for normalized in [false, true] {
            for addressing in ADDRESSING {
                for filter in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
                    let sampling = Sampling { normalized, addressing, filter };
                    let repeats = matches!(addressing, CL_ADDRESS_REPEAT | CL_ADDRESS_MIRRORED_REPEAT);
                    // Integers are not mixed, and what repeats has normalized coordinates.
                    if (filter == CL_FILTER_LINEAR && kind != "f") || (repeats && !normalized) {
                        continue;
                    }
                    let sampler = setup.context.try_sampler(normalized, addressing, filter).expect("a sampler");
                    let alone = own_kernels.then_some((format, normalized, addressing, filter));
                    let kernel = kernels
                        .entry((kind, format.0 == CL_DEPTH, alone))
                        .or_insert_with(|| sampling_kernel(&setup, shape, format, "argument"));
                    let at = places(&mut random, shape, normalized, 60);
                    let got = samples(&setup, kernel, format, &image, Some(sampler), &at);
                    for (got, at) in got.iter().zip(&at) {
                        let mut edge = border(format);
                        if format.0 == CL_DEPTH {
                            edge[3] = 1.0;
                        }
                        let expected = sampling.sample([at[0], at[1], at[2]], shape, edge, &element);
                        if let Some(expected) = expected {
                            assert_close(
                                got,
                                &expected,
                                3e-6,
                                &format!("{format:x?} {sampling:?} {shape:?} at {at:?}"),
                            );
                        }
                    }
                    ok((cl().clReleaseSampler)(sampler));
                }
            }
        }
    }
}

#[test]
fn every_format_and_sampler_in_a_plane() {
    compare_sampling(FLAT, false, |_| true);
}

#[test]
fn code_for_one_sampler_and_one_format() {
    compare_sampling(FLAT, true, |format| {
        matches!(
            format,
            (CL_RGBA, CL_UNORM_INT8 | CL_SIGNED_INT16 | CL_UNORM_INT_101010_2)
                | (CL_RG, CL_FLOAT)
                | (CL_A, CL_SNORM_INT16)
                | (CL_LUMINANCE, CL_HALF_FLOAT)
        )
    });
}

#[test]
fn every_sampler_in_a_row() {
    compare_sampling(ONE_D, false, |format| {
        matches!(format, (CL_RGBA, CL_UNORM_INT8 | CL_FLOAT | CL_SIGNED_INT16) | (CL_R, _))
    });
}

#[test]
fn every_sampler_in_arrays_of_rows() {
    compare_sampling(ROWS, false, |format| {
        matches!(format, (CL_RGBA, CL_UNORM_INT8) | (CL_RG, CL_HALF_FLOAT | CL_UNSIGNED_INT8))
    });
}

#[test]
fn every_sampler_in_arrays_of_planes() {
    let wanted = |format| matches!(format, (CL_BGRA, CL_UNORM_INT8) | (CL_RG, CL_SNORM_INT16) | (CL_DEPTH, _));
    compare_sampling(LAYERS, false, wanted);
}

#[test]
fn every_sampler_in_a_volume() {
    let wanted =
        |format| matches!(format, (CL_RGBA, CL_UNORM_INT8 | CL_FLOAT | CL_UNSIGNED_INT32) | (CL_A, CL_UNORM_INT16));
    compare_sampling(VOLUME, false, wanted);
}

#[test]
fn whole_coordinates_outside() {
    let setup = Setup::new();
    let mut random = Random::new(3);
    for shape in [ONE_D, FLAT, LAYERS, VOLUME] {
        for format in [(CL_RGBA, CL_UNORM_INT8), (CL_R, CL_SIGNED_INT16), (CL_RG, CL_UNSIGNED_INT32)] {
            let bytes = contents(&mut random, format, shape.elements());
            let image = setup.context.image(CL_MEM_READ_ONLY, format, shape, &bytes);
            let kernel = sampling_kernel(&setup, shape, format, "int");
            let element = elements(format, shape, &bytes);
            for addressing in [CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE] {
                let sampler = setup.context.try_sampler(false, addressing, CL_FILTER_NEAREST).expect("a sampler");
                let mut at: Vec<_> = (0..200).map(|_| [0; 4].map(|_| random.below(15) as f32 - 5.0)).collect();
                at.extend([[2e9, 0.0, 0.0, 0.0], [-2e9, -2e9, -2e9, 0.0], [0.0, 2e9, 2e9, 0.0]]);
                let got = samples(&setup, &kernel, format, &image, Some(sampler), &at);
                let sampling = Sampling { normalized: false, addressing, filter: CL_FILTER_NEAREST };
                for (got, at) in got.iter().zip(&at) {
                    let expected = sampling.sample([at[0], at[1], at[2]], shape, border(format), &element);
                    assert_close(got, &expected.expect("said"), 2e-7, &format!("{format:x?} {sampling:?} at {at:?}"));
                }
                ok((cl().clReleaseSampler)(sampler));
            }
        }
    }
}

/// Coordinates that are no numbers, or far away, read something and harm nothing.
#[test]
fn coordinates_that_are_no_numbers() {
    let setup = Setup::new();
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 3e9, -3e9, f32::MIN_POSITIVE];
    let at: Vec<_> = (0..512).map(|i| [wild[i % 8], wild[i / 8 % 8], wild[i / 64], 0.0]).collect();
    for shape in [ONE_D, ROWS, FLAT, LAYERS, VOLUME] {
        let format = (CL_RGBA, CL_UNORM_INT8);
        let image = setup.context.image(CL_MEM_READ_ONLY, format, shape, &vec![255; 4 * shape.elements()]);
        let kernel = sampling_kernel(&setup, shape, format, "argument");
        for addressing in ADDRESSING {
            for filter in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
                let sampler = setup.context.try_sampler(true, addressing, filter).expect("a sampler");
                let got = samples(&setup, &kernel, format, &image, Some(sampler), &at);
                if filter == CL_FILTER_NEAREST {
                    let known = |v: &[f64; 4]| *v == [1.0; 4] || *v == [0.0; 4];
                    assert!(got.iter().all(known), "an element or the border, {shape:?} {addressing:#x}");
                }
                ok((cl().clReleaseSampler)(sampler));
            }
        }
    }
}

#[test]
fn samplers_of_programs() {
    let setup = Setup::new();
    let image = setup.context.image(
        CL_MEM_READ_ONLY,
        (CL_R, CL_FLOAT),
        ONE_D,
        f32::to_bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
    );
    let source =
        "constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
        float4 through(read_only image1d_t a, sampler_t s, float c) { return read_imagef(a, s, c); }
        kernel void f(read_only image1d_t a, global float *out) {
            const sampler_t clamp_linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;
            const sampler_t repeat = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
            out[0] = read_imagef(a, edge, 100).x;
            out[1] = read_imagef(a, edge, -100.0f).x;
            out[2] = read_imagef(a, clamp_linear, 7.0f).x;
            out[3] = through(a, repeat, 1.5f / 7 + 2).x;
            out[4] = through(a, edge, 3.9f).x;
        }";
    for options in ["", "-cl-std=CL3.0", "-cl-opt-disable"] {
        let kernel = setup.context.build(source, options).kernel("f");
        let out = setup.context.zeros::<f32>(5);
        kernel.set_all(arguments![&image, &out]);
        run(&setup.queue, &kernel, &[1], &[]);
        assert_eq!(read::<f32>(&setup.queue, &out), [7.0, 1.0, 3.5, 2.0, 4.0], "{options}");
    }
}

#[test]
fn queries_in_kernels() {
    let setup = Setup::new();
    let source = "kernel void f(read_only image1d_t a, read_only image1d_array_t b, write_only image2d_t c,
                                read_only image2d_array_t d, read_write image3d_t e, global int *out) {
            out[0] = get_image_width(a); out[1] = get_image_width(b); out[2] = get_image_array_size(b);
            out[3] = get_image_width(c); out[4] = get_image_height(c); out[5] = get_image_dim(c).y;
            out[6] = get_image_height(d); out[7] = get_image_array_size(d);
            out[8] = get_image_depth(e); out[9] = get_image_dim(e).z; out[10] = get_image_dim(e).w;
            out[11] = get_image_channel_order(e) == CLK_RG; out[12] = get_image_channel_data_type(e) == CLK_FLOAT;
        }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let format = (CL_RG, CL_FLOAT);
    let images = [ONE_D, ROWS, FLAT, LAYERS, VOLUME]
        .map(|shape| setup.context.image(CL_MEM_READ_WRITE, format, shape, &vec![0; 8 * shape.elements()]));
    let out = setup.context.zeros::<i32>(13);
    for (index, image) in images.iter().enumerate() {
        kernel.set(index, image);
    }
    kernel.set(5, &out);
    run(&setup.queue, &kernel, &[1], &[]);
    assert_eq!(read::<i32>(&setup.queue, &out), [7, 5, 3, 5, 3, 3, 3, 3, 5, 5, 0, 1, 1]);
}

/// Every element written, and as many places outside; what is read back, by the host's own decoding, is what was
/// written as nearly as the format holds it.
#[test]
fn writes_of_every_format() {
    let setup = Setup::new();
    let mut random = Random::new(4);
    for shape in [ONE_D, ROWS, FLAT, LAYERS, VOLUME] {
        let mut kernels = std::collections::HashMap::new();
        for format in formats(&setup, CL_MEM_WRITE_ONLY, shape) {
            let kind = reader(format.1);
            let depth = format.0 == CL_DEPTH;
            let image_type = match depth {
                true if shape.layers > 1 => "image2d_array_depth_t",
                true => "image2d_depth_t",
                false => shape.type_name(),
            };
            let vector = match kind {
                "i" => "int4",
                "ui" => "uint4",
                _ => "float4",
            };
            let source = format!(
                "kernel void f(write_only {image_type} a, global const int4 *at, global const {vector} *v) {{\
                   size_t i = get_global_id(0); write_image{kind}(a, at[i].{}, v[i]{}); }}",
                shape.coordinates(),
                if depth { ".x" } else { "" }
            );
            let build = || setup.context.build(&source, "-cl-std=CL3.0").kernel("f");
            let kernel = kernels.entry((kind, depth, alone(shape, format))).or_insert_with(build);
            let size = element_size(format);
            let image = setup.context.image(CL_MEM_WRITE_ONLY, format, shape, &vec![0x55; size * shape.elements()]);
            let [w, h, d] = shape.region().map(|n| n as i32);
            let mut at: Vec<[i32; 4]> = (0..w * h * d).map(|i| [i % w, i / w % h, i / w / h, 0]).collect();
            let outside = [[-1, 0, 0, 0], [w, 0, 0, 0], [i32::MAX, 0, 0, 0], [i32::MIN, 0, 0, 0]];
            at.extend(outside);
            if h > 1 {
                at.extend([[0, -1, 0, 0], [0, h, 0, 0], [0, i32::MAX, 0, 0]]);
            }
            if d > 1 {
                at.extend([[0, 0, -1, 0], [0, 0, d, 0], [0, 0, i32::MIN, 0]]);
            }
            let values: Vec<[u32; 4]> = at
                .iter()
                .map(|_| {
                    [0; 4].map(|_| match kind {
                        "f" => (random.below(4001) as f32 / 1500.0 - 1.3).to_bits(),
                        _ => (random.bits() as i32 >> random.below(32)) as u32,
                    })
                })
                .collect();
            let (places, colors) = (setup.context.with_values(&at), setup.context.with_values(&values));
            kernel.set_all(arguments![&image, &places, &colors]);
            run(&setup.queue, kernel, &[at.len()], &[]);
            let bytes = read_image(&setup.queue, &image, shape, size);
            for (element, value) in bytes.chunks(size).zip(&values) {
                let got = decode(format, element);
                let (expected, tolerance) = stored(format, *value);
                for c in 0..4 {
                    if let Some(expected) = expected[c] {
                        assert!(
                            (got[c] - expected).abs() <= tolerance,
                            "{format:x?}: {value:x?} became {got:?}, not {expected:?}"
                        );
                    }
                }
            }
        }
    }
}

/// What a format holds of a colour, and how exactly; `None` for components that it does not hold.
fn stored(format: Format, value: [u32; 4]) -> ([Option<f64>; 4], f64) {
    let float = |c: usize| f64::from(f32::from_bits(value[c]));
    let held = |c: usize| match format.1 {
        CL_SNORM_INT8 | CL_SNORM_INT16 => float(c).clamp(-1.0, 1.0),
        CL_FLOAT | CL_HALF_FLOAT => float(c),
        CL_SIGNED_INT8 => f64::from((value[c] as i32).clamp(-128, 127)),
        CL_SIGNED_INT16 => f64::from((value[c] as i32).clamp(-32768, 32767)),
        CL_SIGNED_INT32 => f64::from(value[c] as i32),
        CL_UNSIGNED_INT8 => f64::from(value[c].min(255)),
        CL_UNSIGNED_INT16 => f64::from(value[c].min(65535)),
        CL_UNSIGNED_INT32 => f64::from(value[c]),
        _ => float(c).clamp(0.0, 1.0),
    };
    // Half a step, and of halves the rounding of numbers below 2.
    let tolerance = match format.1 {
        CL_UNORM_INT8 => 0.501 / 255.0,
        CL_SNORM_INT8 => 0.501 / 127.0,
        CL_UNORM_INT16 => 0.51 / 65535.0,
        CL_SNORM_INT16 => 0.51 / 32767.0,
        CL_UNORM_SHORT_565 | CL_UNORM_SHORT_555 => 0.501 / 31.0,
        CL_UNORM_INT_101010 => 0.501 / 1023.0,
        CL_UNORM_INT_101010_2 => 0.501 / 3.0,
        CL_HALF_FLOAT => 0.5 / 1024.0,
        _ => 0.0,
    };
    let [r, g, b, a] = [0, 1, 2, 3].map(|c| Some(held(c)));
    let held = match format.0 {
        CL_R | CL_DEPTH => [r, None, None, None],
        CL_A => [None, None, None, a],
        CL_RG => [r, g, None, None],
        CL_RA => [r, None, None, a],
        CL_RGB => [r, g, b, None],
        CL_INTENSITY => [r; 4],
        CL_LUMINANCE => [r, r, r, None],
        order if order == CL_RGBx => [r, g, b, None],
        _ => [r, g, b, a],
    };
    (held, tolerance)
}

#[test]
fn images_that_are_read_and_written() {
    let setup = Setup::new();
    let source = "kernel void f(read_write image2d_t a) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            uint4 v = read_imageui(a, at);
            write_imageui(a, at, v * 2 + 1);
        }";
    let kernel = setup.context.build(source, "-cl-std=CL3.0").kernel("f");
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [37, 5, 1], layers: 1 };
    let values: Vec<u32> = (0..37 * 5 * 4).collect();
    let image = setup.context.image(CL_MEM_READ_WRITE, (CL_RGBA, CL_UNSIGNED_INT32), shape, u32::to_bytes(&values));
    kernel.set_all(arguments![&image]);
    run(&setup.queue, &kernel, &[37, 5], &[]);
    let got = u32::from_bytes(&read_image(&setup.queue, &image, shape, 16));
    assert_eq!(got, values.iter().map(|v| v * 2 + 1).collect::<Vec<_>>());
}

/// An image of the middle of a buffer: writes to places outside leave the rest of the buffer alone.
#[test]
fn writes_outside_stay_out_of_the_buffer() {
    let setup = Setup::new();
    let buffer = setup.context.with_values(&vec![7_u32; 64 * 64]);
    let mut desc = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [20, 10, 1], layers: 1 }.descriptor();
    desc.image_row_pitch = 256;
    desc.buffer = buffer.raw();
    let format = (CL_RGBA, CL_UNSIGNED_INT8);
    let image =
        setup.context.try_image(0, format, &desc, std::ptr::null_mut::<c_void>()).expect("an image of a buffer");
    let source = "kernel void f(write_only image2d_t a) {
            write_imageui(a, (int2)(get_global_id(0), get_global_id(1)) - 16, (uint4)(1, 0, 0, 0));
        }";
    let kernel = setup.context.kernel(source, "f");
    kernel.set_all(arguments![&image]);
    run(&setup.queue, &kernel, &[96, 64], &[]);
    let got: Vec<u32> = read(&setup.queue, &buffer);
    for (i, &word) in got.iter().enumerate() {
        let inside = i % 64 < 20 && i / 64 < 10;
        assert_eq!(word, if inside { 1 } else { 7 }, "word {i}");
    }
}
