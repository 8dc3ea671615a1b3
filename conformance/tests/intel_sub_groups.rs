//! cl_intel_subgroups and its forms for other types: shuffles of one and two values, and blocks of memory and of images, compared with
//! what the host makes of the values of each sub-group.

use lockstep_conformance::images::{Shape, read_image};
use lockstep_conformance::loader::has_extension;
use lockstep_conformance::objects::Argument;
use lockstep_conformance::opencl_sys::*;
use lockstep_conformance::{Random, Setup, arguments, is_lockstep, read, run};

const EXTENSIONS: [&str; 5] = [
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_short",
    "cl_intel_subgroups_long",
    "cl_intel_required_subgroup_size",
];

const SUB_GROUP_SIZES: [usize; 3] = [8, 16, 32];

/// Work-items of a launch, and of a group.
const ITEMS: usize = 128;
const GROUP: usize = 64;

fn there_are() -> bool {
    let there = EXTENSIONS.iter().all(|name| has_extension(name));
    assert!(there || !is_lockstep(), "the extensions are there");
    there
}

const SHUFFLES: &str = "
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    #define PASTE(T, N) T##N
    #define VECTOR(T, N) PASTE(T, N)
    typedef VECTOR(T, N) V;
    __attribute__((intel_reqd_sub_group_size(SIZE)))
    kernel void shuffle(global const int *in, global const uint *indices, global long *out) {
        size_t g = get_global_id(0);
        uint index = indices[g], by = indices[g - g % SIZE];
        V v = (V)(T)in[g], w = (V)(T)(in[g] + 1);
    #if VECTORS
        v.s1 = (T)(in[g] + 2); w.s1 = (T)(in[g] + 3);
    #endif
        V results[4] = { intel_sub_group_shuffle(v, index), intel_sub_group_shuffle_xor(v, by),
                         intel_sub_group_shuffle_down(v, w, by), intel_sub_group_shuffle_up(v, w, by) };
        for (int i = 0; i < 4; ++i) {
    #if VECTORS
            out[g * 8 + i * 2] = (long)results[i].s0;
            out[g * 8 + i * 2 + 1] = (long)results[i].s1;
    #else
            out[g * 8 + i * 2] = (long)results[i];
    #endif
        }
    }";

/// What each work-item gets of two values of all others, of which the second is one more; `by` is the same for a sub-group.
fn shuffled(values: &[i32], lane: usize, index: usize, by: usize) -> [i64; 4] {
    let size = values.len();
    let of_two = |at: usize| if at < size { values[at] } else { values[at - size] + 1 };
    [values[index], values[lane ^ by], of_two(lane + by), of_two(lane + size - by)].map(i64::from)
}

#[test]
fn values_are_shuffled() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let all = ["", "2", "3", "4", "8", "16"];
    let types = [("int", &all[..]), ("uint", &all[..]), ("float", &all[..]), ("char", &all[..]), ("uchar", &all[..])];
    let more = [("short", &all[..]), ("ushort", &all[..]), ("long", &all[..1]), ("ulong", &all[..1])];
    let floats = [("double", &all[..1]), ("half", &all[..1])];
    let mut random = Random::new(0x5aff1e);
    for (name, counts) in types.iter().chain(&more).chain(&floats) {
        for (count, size) in counts.iter().flat_map(|count| SUB_GROUP_SIZES.map(|size| (count, size))) {
            let vectors = i32::from(!count.is_empty());
            let options = format!("-cl-std=CL3.0 -DT={name} -DN={count} -DSIZE={size} -DVECTORS={vectors}");
            let kernel = setup.context.build(SHUFFLES, &options).kernel("shuffle");
            let (input, indices) = (random.ints(ITEMS, 100), random.ints(ITEMS, size as i32));
            let (from, ids) = (setup.context.with_values(&input), setup.context.with_values(&indices));
            let to = setup.context.zeros::<i64>(ITEMS * 8);
            kernel.set_all(arguments![&from, &ids, &to]);
            run(&setup.queue, &kernel, &[ITEMS], &[GROUP]);
            for (item, got) in read::<i64>(&setup.queue, &to).chunks(8).enumerate() {
                let (first, lane) = (item / size * size, item % size);
                let (index, by) = (indices[item] as usize, indices[first] as usize);
                let wanted = shuffled(&input[first..first + size], lane, index, by);
                let seconds = wanted.map(|value| if vectors == 1 { value + 2 } else { 0 });
                let wanted: Vec<i64> = wanted.into_iter().zip(seconds).flat_map(|(one, two)| [one, two]).collect();
                assert_eq!(got, wanted, "{name}{count}, sub-groups of {size}, work-item {item}");
            }
        }
    }
}

const SMALL_TYPES: &str = "
    __attribute__((intel_reqd_sub_group_size(16)))
    kernel void combine(global const T *in, global T *out) {
        size_t g = get_global_id(0);
        out += g * 5;
        out[0] = intel_sub_group_reduce_add(in[g]);
        out[1] = intel_sub_group_reduce_max(in[g]);
        out[2] = intel_sub_group_scan_inclusive_min(in[g]);
        out[3] = intel_sub_group_scan_exclusive_add(in[g]);
        out[4] = intel_sub_group_broadcast(in[g], 5);
    }";

#[test]
fn small_types_are_combined_under_names_of_their_own() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let kernel = setup.context.build(SMALL_TYPES, "-cl-std=CL1.2 -DT=short").kernel("combine");
    let input: Vec<i16> = Random::new(7).ints(ITEMS, 2000).iter().map(|&value| value as i16 - 1000).collect();
    let (from, to) = (setup.context.with_values(&input), setup.context.zeros::<i16>(ITEMS * 5));
    kernel.set_all(arguments![&from, &to]);
    run(&setup.queue, &kernel, &[ITEMS], &[GROUP]);
    let got: Vec<i16> = read(&setup.queue, &to);
    for (item, got) in got.chunks(5).enumerate() {
        let (values, lane) = (&input[item / 16 * 16..][..16], item % 16);
        let sum = |values: &[i16]| values.iter().copied().fold(0, i16::wrapping_add);
        let (most, least) = (values.iter().max().expect("16 values"), values[..=lane].iter().min().expect("one"));
        assert_eq!(got, [sum(values), *most, *least, sum(&values[..lane]), values[5]], "work-item {item}");
    }
}

const BLOCKS: &str = "
    #define PASTE(A, B, C) A##B##C
    #define NAME(A, B, C) PASTE(A, B, C)
    typedef NAME(T, N, ) V;
    __attribute__((intel_reqd_sub_group_size(SIZE)))
    kernel void blocks(global const T *in, global T *out, global V *seen, local T *shared) {
        size_t g = get_global_id(0), first = (g - g % SIZE) * COUNT, local_first = first % (GROUP * COUNT);
        V v = NAME(intel_sub_group_block_read, ENDING, N)(in + first);
        seen[g] = v;
    #if HAS_LOCAL
        NAME(intel_sub_group_block_write, ENDING, N)(shared + local_first, v);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        v = NAME(intel_sub_group_block_read, ENDING, N)(shared + local_first) + (V)1;
    #else
        v += (V)1;
    #endif
        NAME(intel_sub_group_block_write, ENDING, N)(out + first, v);
    }";

#[test]
fn blocks_of_memory_are_read_and_written() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let has_local = i32::from(has_extension("cl_intel_subgroup_local_block_io"));
    let forms = [("", "uint", 4), ("_ui", "uint", 4), ("_us", "ushort", 2), ("_uc", "uchar", 1), ("_ul", "ulong", 8)];
    for (ending, name, bytes) in forms {
        let counts = if matches!(ending, "_us" | "_uc") { &[1, 2, 4, 8, 16][..] } else { &[1, 2, 4, 8][..] };
        for (&count, size) in counts.iter().flat_map(|count| SUB_GROUP_SIZES.map(|size| (count, size))) {
            let vector = if count == 1 { String::new() } else { count.to_string() };
            let options = format!(
                "-cl-std=CL3.0 -DT={name} -DN={vector} -DENDING={ending} -DCOUNT={count} -DSIZE={size} -DGROUP={GROUP} \
                 -DHAS_LOCAL={has_local}"
            );
            let kernel = setup.context.build(BLOCKS, &options).kernel("blocks");
            let input: Vec<u8> = (0..ITEMS * count * bytes).map(|at| (at * 7 + at / 251) as u8).collect();
            let (out, seen) = (setup.context.zeros::<u8>(input.len()), setup.context.zeros::<u8>(input.len()));
            let from = setup.context.with_values(&input);
            kernel.set_all(arguments![&from, &out, &seen]);
            kernel.set(3, Argument::Local(GROUP * count * bytes));
            run(&setup.queue, &kernel, &[ITEMS], &[GROUP]);
            let element = |data: &[u8], at: usize| {
                let mut wide = [0; 8];
                wide[..bytes].copy_from_slice(&data[at * bytes..][..bytes]);
                u64::from_le_bytes(wide)
            };
            let (out, seen): (Vec<u8>, Vec<u8>) = (read(&setup.queue, &out), read(&setup.queue, &seen));
            let mask = u64::MAX >> (64 - 8 * bytes);
            for at in 0..ITEMS * count {
                // A lane's vector has an element of each row of its sub-group's block.
                let (item, row) = (at / count, at % count);
                let source = item / size * size * count + row * size + item % size;
                let what = format!("{name}{vector}, sub-groups of {size}, element {at}");
                assert_eq!(element(&seen, at), element(&input, source), "{what}");
                assert_eq!(element(&out, at), element(&input, at).wrapping_add(1) & mask, "{what}");
            }
        }
    }
}

const IMAGE_BLOCKS: &str = "
    #define PASTE(A, B, C) A##B##C
    #define NAME(A, B, C) PASTE(A, B, C)
    typedef NAME(T, N, ) V;
    __attribute__((intel_reqd_sub_group_size(16)))
    kernel void read_block(read_only image2d_t image, int2 at, global V *seen) {
        seen[get_global_id(0)] = NAME(intel_sub_group_block_read, ENDING, N)(image, at);
    }
    __attribute__((intel_reqd_sub_group_size(16)))
    kernel void write_block(write_only image2d_t image, int2 at, global const V *data) {
        NAME(intel_sub_group_block_write, ENDING, N)(image, at, data[get_global_id(0)]);
    }";

/// The image's rows, and the bytes of one: 20 elements of 4 bytes.
const ROWS: usize = 9;
const ROW_BYTES: usize = 80;

#[test]
fn blocks_of_images_end_at_the_edges() {
    if !there_are() {
        return;
    }
    let setup = Setup::new();
    let pixels: Vec<u8> = (0..ROWS * ROW_BYTES).map(|at| (at * 5 + at / 83) as u8).collect();
    let shape = Shape { kind: CL_MEM_OBJECT_IMAGE2D, sizes: [ROW_BYTES / 4, ROWS, 1], layers: 1 };
    let format = (CL_RGBA, CL_UNORM_INT8);
    for (ending, name, bytes, count) in [
        ("", "uint", 4, 1),
        ("", "uint", 4, 8),
        ("_us", "ushort", 2, 4),
        ("_uc", "uchar", 1, 16),
        ("_ul", "ulong", 8, 2),
    ] {
        let vector = if count == 1 { String::new() } else { count.to_string() };
        let options = format!("-cl-std=CL3.0 -DT={name} -DN={vector} -DENDING={ending}");
        let program = setup.context.build(IMAGE_BLOCKS, &options);
        for at in [[0_i32, 0], [16, 2], [-8, -3], [48, 6], [i32::MAX - 7, i32::MAX], [i32::MIN, i32::MIN]] {
            let image = setup.context.image(CL_MEM_READ_WRITE, format, shape, &pixels);
            let seen = setup.context.zeros::<u8>(16 * count * bytes);
            let kernel = program.kernel("read_block");
            kernel.set_all(arguments![&image, at, &seen]);
            run(&setup.queue, &kernel, &[16], &[16]);
            let data: Vec<u8> = (0..16 * count * bytes).map(|at| (at * 3 + 1) as u8).collect();
            let kernel = program.kernel("write_block");
            let written = setup.context.with_values(&data);
            kernel.set_all(arguments![&image, at, &written]);
            run(&setup.queue, &kernel, &[16], &[16]);
            let (mut wanted_seen, mut wanted_pixels) = (vec![0; data.len()], pixels.clone());
            for (lane, row) in (0..16).flat_map(|lane| (0..count).map(move |row| (lane, row))) {
                let (x, y) = (i64::from(at[0]) + (lane * bytes) as i64, i64::from(at[1]) + row as i64);
                let (last_x, last_y) = ((ROW_BYTES - bytes) as i64, ROWS as i64 - 1);
                let nearest = y.clamp(0, last_y) as usize * ROW_BYTES + x.clamp(0, last_x) as usize;
                let element = (lane * count + row) * bytes;
                wanted_seen[element..][..bytes].copy_from_slice(&pixels[nearest..][..bytes]);
                if (0..=last_x).contains(&x) && (0..=last_y).contains(&y) {
                    wanted_pixels[nearest..][..bytes].copy_from_slice(&data[element..][..bytes]);
                }
            }
            let what = format!("{name}{vector} at {at:?}");
            assert_eq!(read::<u8>(&setup.queue, &seen), wanted_seen, "{what}");
            assert_eq!(read_image(&setup.queue, &image, shape, 4), wanted_pixels, "{what}");
        }
    }
}
