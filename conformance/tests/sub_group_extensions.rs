//! Functions of sub-groups that act on the work-items which come there together: votes, ballots, arithmetic, clusters and
//! exchanges, everywhere and where control flow divides a sub-group, compared with the host's own computation.

use lockstep_conformance::loader::has_extension;
use lockstep_conformance::{Random, Setup, is_lockstep, read, run};

const EXTENSIONS: [&str; 8] = [
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
];

/// Local sizes of which some leave a sub-group that is not full, or end rows within one.
const LOCALS: &[&[usize]] = &[
    &[1],
    &[3],
    &[7],
    &[8],
    &[16],
    &[17],
    &[64],
    &[100],
    &[256],
    &[8, 8],
    &[3, 5],
    &[32, 3],
    &[16, 2, 2],
    &[5, 3, 2],
    &[1, 7, 5],
];

/// Those of kernels that ask for a size of their sub-groups.
const LOCALS_OF_SIZES: &[&[usize]] = &[&[7], &[17], &[64], &[100], &[8, 8], &[3, 5], &[32, 3], &[16, 2, 2]];

const SOURCE: &str = "
    #pragma OPENCL EXTENSION cl_khr_fp16 : enable
    #if BITS
    #define BIT_OPERATION(x) (x)
    #else
    #define BIT_OPERATION(x) 0
    #endif
    void together(T v, int n, uint id, global long *out) {
        uint4 there = sub_group_ballot(1);
        uint last = 31 - clz(there.x);
        *out++ = there.x | (there.y | there.z | there.w ? 1L << 40 : 0);
        *out++ = sub_group_elect() != 0;
        *out++ = sub_group_non_uniform_all(n > 1) != 0;
        *out++ = sub_group_non_uniform_any(n > 7) != 0;
        *out++ = sub_group_non_uniform_all_equal(v) != 0;
        uint4 some = sub_group_ballot(n > 4);
        *out++ = some.x;
        *out++ = sub_group_inverse_ballot(some) != 0;
        *out++ = sub_group_ballot_bit_extract(some, n) != 0;
        *out++ = sub_group_ballot_bit_count(some);
        *out++ = sub_group_ballot_inclusive_scan(some);
        *out++ = sub_group_ballot_exclusive_scan(some);
        *out++ = sub_group_ballot_find_lsb(there);
        *out++ = sub_group_ballot_find_msb(there);
        *out++ = (long)sub_group_broadcast_first(v);
        *out++ = (long)sub_group_non_uniform_broadcast(v, last);
        *out++ = (long)sub_group_non_uniform_reduce_add(v);
        *out++ = (long)sub_group_non_uniform_reduce_min(v);
        *out++ = (long)sub_group_non_uniform_reduce_max(v);
        *out++ = (long)sub_group_non_uniform_reduce_mul((T)(id % 8 ? 1 : 2));
        *out++ = BIT_OPERATION((long)sub_group_non_uniform_reduce_and((T)n) & 15);
        *out++ = BIT_OPERATION((long)sub_group_non_uniform_reduce_or((T)n));
        *out++ = BIT_OPERATION((long)sub_group_non_uniform_reduce_xor((T)n));
        *out++ = sub_group_non_uniform_reduce_logical_and(n) != 0;
        *out++ = sub_group_non_uniform_reduce_logical_or(n > 8) != 0;
        *out++ = sub_group_non_uniform_reduce_logical_xor(n > 4) != 0;
        *out++ = (long)sub_group_non_uniform_scan_inclusive_add(v);
        *out++ = (long)sub_group_non_uniform_scan_inclusive_min(v);
        *out++ = (long)sub_group_non_uniform_scan_inclusive_max(v);
        *out++ = (long)sub_group_non_uniform_scan_exclusive_add(v);
        bool first = id == sub_group_ballot_find_lsb(there);
        T low = sub_group_non_uniform_scan_exclusive_min(v), high = sub_group_non_uniform_scan_exclusive_max(v);
        *out++ = first ? 0 : (long)low;
        *out++ = first ? 0 : (long)high;
        *out++ = (long)sub_group_non_uniform_scan_exclusive_mul((T)(id % 8 ? 1 : 2));
        *out++ = BIT_OPERATION((long)sub_group_non_uniform_scan_inclusive_xor((T)n));
        *out++ = BIT_OPERATION((long)sub_group_non_uniform_scan_exclusive_or((T)n));
        *out++ = sub_group_non_uniform_scan_exclusive_logical_and(n > 1) != 0;
        *out++ = sub_group_non_uniform_scan_inclusive_logical_xor(n > 4) != 0;
        *out++ = (long)sub_group_clustered_reduce_add(v, 4);
        *out++ = (long)sub_group_clustered_reduce_max(v, 2);
        *out++ = (long)sub_group_clustered_reduce_min(v, 8);
        *out++ = (long)sub_group_clustered_reduce_add(v, 1);
        *out++ = (long)sub_group_clustered_reduce_mul((T)(id % 8 ? 1 : 2), 8);
        *out++ = BIT_OPERATION((long)sub_group_clustered_reduce_xor((T)n, 4));
        *out++ = sub_group_clustered_reduce_logical_or(n > 6, 4) != 0;
        *out++ = (long)sub_group_shuffle(v, n);
        *out++ = (long)sub_group_shuffle_xor(v, 5);
        *out++ = (long)sub_group_shuffle_up(v, 3);
        *out++ = (long)sub_group_shuffle_down(v, 2);
        *out++ = (long)sub_group_shuffle_xor(v, n);
        *out++ = (long)sub_group_rotate(v, 3);
        *out++ = (long)sub_group_clustered_rotate(v, 5, 4);
        *out++ = (long)sub_group_clustered_rotate(v, -1, 8);
    }
    ATTRIBUTE kernel void all(global const int *in, global long *out) {
        size_t g = get_global_linear_id();
        uint id = get_sub_group_local_id();
        int n = in[g];
        T v = (T)(n - OFFSET);
        out += g * RESULTS;
        together(v, n, id, out);
        out += TOGETHER;
        if (n & 1)
            together(v, n, id, out);
        else
            together((T)(v + 1), n + 1, id, out);
        out += TOGETHER;
        // Who is there for round i is who goes on so long.
        long sum = 0, rounds = 0;
        for (int i = 0; i < n; i++) {
            sum += (long)sub_group_non_uniform_reduce_add(v);
            rounds = rounds * 3 + popcount(sub_group_ballot(n > i + 1).x);
        }
        out[0] = sum;
        out[1] = rounds;
        out[2] = get_sub_group_eq_mask().x + get_sub_group_le_mask().x * 3 + get_sub_group_lt_mask().x * 5
                 + get_sub_group_ge_mask().x * 7 + get_sub_group_gt_mask().x * 11;
        if (n == 7)
            return;
        // The others are left alone.
        out[3] = (long)sub_group_non_uniform_reduce_add(v);
        switch (n) {
        case 2: out[4] = (long)sub_group_non_uniform_scan_inclusive_add(v); break;
        case 3: case 5: out[4] = (long)sub_group_non_uniform_reduce_max(v); break;
        default: out[4] = (long)sub_group_broadcast_first(v); break;
        }
    }";

const TOGETHER: usize = 51;
const RESULTS: usize = 2 * TOGETHER + 5;

/// A work-item of a sub-group: its lane, the number it has, and its value.
#[derive(Clone, Copy)]
struct Item {
    lane: usize,
    n: i64,
    v: i64,
}

/// What `together` gives each of the work-items that come there, in the order of their lanes; nothing where the answer may
/// be anything.
fn together(there: &[Item], bits: bool, most: usize) -> Vec<Vec<Option<i64>>> {
    let first = there[0];
    let last = there[there.len() - 1];
    let mask = |which: &dyn Fn(&Item) -> bool| -> i64 {
        there.iter().filter(|item| which(item)).map(|item| 1_i64 << item.lane).sum()
    };
    let of_lane = |lane: usize| there.iter().find(|item| item.lane == lane).map(|item| item.v);
    let some = mask(&|item| item.n > 4);
    let sum = |of: &[Item]| of.iter().map(|item| item.v).sum::<i64>();
    let least = |of: &[Item]| of.iter().map(|item| item.v).min().unwrap_or(0);
    let greatest = |of: &[Item]| of.iter().map(|item| item.v).max().unwrap_or(0);
    let product = |of: &[Item]| of.iter().map(|item| if item.lane % 8 == 0 { 2 } else { 1 }).product::<i64>();
    let xor = |of: &[Item]| of.iter().fold(0, |bits, item| bits ^ item.n);
    let or = |of: &[Item]| of.iter().fold(0, |bits, item| bits | item.n);
    let odd = |of: &[Item]| i64::from(of.iter().filter(|item| item.n > 4).count() % 2 == 1);
    let of_bits = |value: i64| if bits { value } else { 0 };
    let each = |(at, own): (usize, &Item)| {
        let (before, with) = (&there[..at], &there[..=at]);
        let cluster = |size: usize| -> Vec<Item> {
            there.iter().copied().filter(|item| item.lane / size == own.lane / size).collect()
        };
        let flag = |holds: bool| Some(i64::from(holds));
        vec![
            Some(mask(&|_| true)),
            flag(at == 0),
            flag(there.iter().all(|item| item.n > 1)),
            flag(there.iter().any(|item| item.n > 7)),
            flag(there.iter().all(|item| item.v == first.v)),
            Some(some),
            flag(own.n > 4),
            Some(some >> own.n & 1),
            Some(some.count_ones().into()),
            Some((some & ((2 << own.lane) - 1)).count_ones().into()),
            Some((some & ((1 << own.lane) - 1)).count_ones().into()),
            Some(first.lane as i64),
            Some(last.lane as i64),
            Some(first.v),
            Some(last.v),
            Some(sum(there)),
            Some(least(there)),
            Some(greatest(there)),
            Some(product(there)),
            Some(of_bits(there.iter().fold(15, |bits, item| bits & item.n))),
            Some(of_bits(or(there))),
            Some(of_bits(xor(there))),
            flag(there.iter().all(|item| item.n != 0)),
            flag(there.iter().any(|item| item.n > 8)),
            Some(odd(there)),
            Some(sum(with)),
            Some(least(with)),
            Some(greatest(with)),
            Some(sum(before)),
            Some(least(before)),
            Some(greatest(before)),
            Some(product(before)),
            Some(of_bits(xor(with))),
            Some(of_bits(or(before))),
            flag(before.iter().all(|item| item.n > 1)),
            Some(odd(with)),
            Some(sum(&cluster(4))),
            Some(greatest(&cluster(2))),
            Some(least(&cluster(8))),
            Some(own.v),
            Some(product(&cluster(8))),
            Some(of_bits(xor(&cluster(4)))),
            flag(cluster(4).iter().any(|item| item.n > 6)),
            of_lane(own.n as usize),
            of_lane(own.lane ^ 5),
            own.lane.checked_sub(3).and_then(of_lane),
            of_lane(own.lane + 2),
            of_lane(own.lane ^ own.n as usize),
            of_lane((own.lane + 3) % most),
            of_lane(own.lane / 4 * 4 + (own.lane + 5) % 4),
            of_lane(own.lane / 8 * 8 + (own.lane + 7) % 8),
        ]
    };
    there.iter().enumerate().map(each).collect()
}

/// All results of a sub-group's work-items.
fn expected(items: &[Item], bits: bool, most: usize) -> Vec<Vec<Option<i64>>> {
    let mut results: Vec<Vec<Option<i64>>> = together(items, bits, most);
    let mut branches: Vec<Vec<Option<i64>>> = vec![Vec::new(); items.len()];
    for odd in [true, false] {
        let part: Vec<Item> = items.iter().copied().filter(|item| (item.n % 2 == 1) == odd).collect();
        let more = i64::from(!odd);
        let part: Vec<Item> = part.iter().map(|item| Item { n: item.n + more, v: item.v + more, ..*item }).collect();
        if part.is_empty() {
            continue;
        }
        for (item, found) in part.iter().zip(together(&part, bits, most)) {
            let at = items.iter().position(|other| other.lane == item.lane).expect("it is one of them");
            branches[at] = found;
        }
    }
    let sum = |of: &dyn Fn(&&Item) -> bool| items.iter().filter(of).map(|item| item.v).sum::<i64>();
    let stays = |item: &&Item| item.n != 7;
    for (at, own) in items.iter().enumerate() {
        let (mut all, mut rounds) = (0, 0);
        for i in 0..own.n {
            all += sum(&|item| item.n > i);
            rounds = rounds * 3 + items.iter().filter(|item| item.n > i + 1).count() as i64;
        }
        let everyone = (1_i64 << most) - 1;
        let bit = 1_i64 << own.lane;
        let masks = bit + (2 * bit - 1) * 3 + (bit - 1) * 5 + (everyone & -bit) * 7 + (everyone & -(2 * bit)) * 11;
        // The kernel adds them as uints.
        let masks = masks & i64::from(u32::MAX);
        let same = |item: &&Item| match own.n {
            2 => item.n == 2,
            3 | 5 => item.n == 3 || item.n == 5,
            _ => stays(item) && ![2, 3, 5].contains(&item.n),
        };
        let mut alike = items.iter().filter(same);
        let chosen = match own.n {
            2 => items[..=at].iter().filter(same).map(|item| item.v).sum(),
            3 | 5 => alike.map(|item| item.v).max().unwrap_or(0),
            _ => alike.next().map_or(0, |item| item.v),
        };
        let left = [Some(sum(&stays)), Some(chosen)].map(|value| value.filter(|_| own.n != 7).or(Some(0)));
        results[at].append(&mut branches[at]);
        results[at].extend([Some(all), Some(rounds), Some(masks), left[0], left[1]]);
    }
    results
}

fn check(ty: &str, bits: bool, offset: i64) {
    if !EXTENSIONS.iter().all(|name| has_extension(name)) {
        assert!(!is_lockstep(), "the extensions are there");
        return;
    }
    check_size(ty, bits, offset, None);
    for size in [8, 16, 32].into_iter().filter(|_| has_extension("cl_intel_required_subgroup_size")) {
        check_size(ty, bits, offset, Some(size));
    }
}

/// The same in sub-groups of the size that the kernel asks for, if it asks for one.
fn check_size(ty: &str, bits: bool, offset: i64, asked: Option<usize>) {
    let setup = Setup::new();
    let attribute = asked.map(|size| format!("__attribute__((intel_reqd_sub_group_size({size})))"));
    let options = format!(
        "-cl-std=CL3.0 -DT={ty} -DBITS={} -DOFFSET={offset} -DTOGETHER={TOGETHER} -DRESULTS={RESULTS} -DATTRIBUTE={}",
        i32::from(bits),
        attribute.unwrap_or_default()
    );
    let kernel = setup.context.build(SOURCE, &options).kernel("all");
    let mut random = Random::new(23);
    let most = asked.unwrap_or(SUB_GROUP);
    for &local in if asked.is_some() { LOCALS_OF_SIZES } else { LOCALS } {
        let uneven: Vec<usize> = local.iter().map(|n| n * 2 + n.div_ceil(3)).collect();
        let even = local.iter().map(|n| n * 2).collect();
        for global in [even, uneven] {
            let three = |sizes: &[usize]| -> [usize; 3] { std::array::from_fn(|d| sizes.get(d).copied().unwrap_or(1)) };
            let (range, size) = (three(&global), three(local));
            let count: usize = range.iter().product();
            let input: Vec<i32> = random.ints(count, 10);
            let (data, to) = (setup.context.with_values(&input), setup.context.zeros::<i64>(count * RESULTS));
            kernel.set(0, &data);
            kernel.set(1, &to);
            run(&setup.queue, &kernel, &global, local);
            let got: Vec<i64> = read(&setup.queue, &to);
            let what = format!("{ty}, {global:?} by {local:?}, sub-groups of {asked:?}");
            for sub_group in sub_groups(range, size, most) {
                let items: Vec<Item> = sub_group
                    .iter()
                    .enumerate()
                    .map(|(lane, &at)| Item { lane, n: input[at].into(), v: i64::from(input[at]) - offset })
                    .collect();
                for (&at, wanted) in sub_group.iter().zip(expected(&items, bits, most)) {
                    let own = &got[at * RESULTS..][..RESULTS];
                    for (result, (&own, wanted)) in own.iter().zip(wanted).enumerate() {
                        assert!(
                            wanted.is_none_or(|wanted| own == wanted),
                            "{what}: item {at}, result {result}: {own}, not {wanted:?}"
                        );
                    }
                }
            }
        }
    }
}

/// The work-items of lockstep's sub-groups in kernels that ask for no size.
const SUB_GROUP: usize = 16;

/// The work-items of each sub-group by their global linear ids: consecutive ones of a group by their local linear ids.
fn sub_groups(range: [usize; 3], size: [usize; 3], most: usize) -> Vec<Vec<usize>> {
    let groups: [usize; 3] = std::array::from_fn(|d| range[d].div_ceil(size[d]));
    let mut found = Vec::new();
    for group in 0..groups.iter().product() {
        let id = [group % groups[0], group / groups[0] % groups[1], group / groups[0] / groups[1]];
        let first: [usize; 3] = std::array::from_fn(|d| id[d] * size[d]);
        let end: [usize; 3] = std::array::from_fn(|d| (first[d] + size[d]).min(range[d]));
        let mut items = Vec::new();
        for z in first[2]..end[2] {
            for y in first[1]..end[1] {
                items.extend((first[0]..end[0]).map(|x| (z * range[1] + y) * range[0] + x));
            }
        }
        found.extend(items.chunks(most).map(<[usize]>::to_vec));
    }
    found
}

macro_rules! types {
    ($($test:ident: $ty:expr, $bits:expr, $offset:expr;)*) => {
        $(#[test]
        fn $test() {
            check($ty, $bits, $offset);
        })*
    };
}

types! {
    of_char: "char", true, 3;
    of_uchar: "uchar", true, 0;
    of_short: "short", true, 4;
    of_ushort: "ushort", true, 0;
    of_int: "int", true, 5;
    of_uint: "uint", true, 0;
    of_long: "long", true, 5;
    of_ulong: "ulong", true, 0;
    of_half: "half", false, 2;
    of_float: "float", false, 2;
    of_double: "double", false, 5;
}
