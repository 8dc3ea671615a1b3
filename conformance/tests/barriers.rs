//! Barriers in every position, each kernel (`kernels/barriers/*.cl`) compared with the function beside its name here.
//!
//! A reference computes one group, phase by phase: where the kernel has a barrier, it goes over all items.

use lockstep_conformance::barriers::{check, check_groups, names};

/// The phase of a group: a new value for each item from its number.
fn each<T>(n: usize, item: impl FnMut(usize) -> T) -> Vec<T> {
    (0..n).map(item).collect()
}

/// The bits that tell which conditions hold in the kernels with many, as these files' first lines have them.
const CONDITIONS: i32 = 11413;

/// What the items of a group have after one step in which each adds what another has to three times its own.
fn exchanged(v: &[i32], k: usize) -> Vec<i32> {
    each(v.len(), |l| (v[l] * 3 + v[(l + k + 1) % v.len()]) & 0xffff)
}

macro_rules! kernels {
    ($($name:ident => $check:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let check: fn(&str) = $check;
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_kernel_file_is_tested() {
            let mut tested = [$(stringify!($name)),*];
            tested.sort();
            assert_eq!(names(), tested);
        }
    };
}

kernels! {
    straight_line => |name| check_groups(name, |_, v| v.iter().rev().map(|v| v * 2).collect());

    two_barriers => |name| check_groups(name, |_, v| {
        let n = v.len();
        let difference = each(n, |l| v[l] - v[(l + 1) % n]);
        each(n, |l| difference[(l + n - 1) % n] + 3 * v[l])
    });

    split_barrier => |name| check_groups(name, |_, v| {
        let n = v.len();
        each(n, |l| v[(l + n - 1) % n] * 3 + v[l])
    });

    counted_loop => |name| check_groups(name, |_, v| {
        let n = v.len();
        (1..=8).fold(v.to_vec(), |v, i| each(n, |l| v[l] + (v[(l + i) % n] & 0xff)))
    });

    loop_bound_from_memory => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..v[0] % 5).fold(v.to_vec(), |v, i| each(n, |l| v[(l + 1) % n] + i))
    });

    loop_two_breaks => |name| check_groups(name, |_, v| {
        let mut v = v.to_vec();
        let mut i = 0;
        while i < 10 {
            let (first, last) = (v[0], v[v.len() - 1]);
            if first > 150 {
                break;
            }
            v.iter_mut().for_each(|v| *v += last % 17);
            if last % 7 == 3 {
                break;
            }
            v.iter_mut().for_each(|v| *v += i);
            i += 1;
        }
        v.iter().map(|v| v * 16 + i).collect()
    });

    loop_continue => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..9).fold(v.to_vec(), |v, i| {
            if v[i % n] & 1 == 1 { each(n, |l| v[l] + 5) } else { each(n, |l| v[n - 1 - l] + 1) }
        })
    });

    loop_return => |name| check_groups(name, |_, v| {
        let mut v = v.to_vec();
        for _ in 0..6 {
            let sum = v[0] + v[v.len() - 1];
            if sum % 5 == 0 {
                return v.iter().map(|v| -v).collect();
            }
            v.iter_mut().for_each(|v| *v += sum % 11);
        }
        v
    });

    nested_loops => |name| check_groups(name, |_, v| {
        let mut v = v.to_vec();
        v.sort();
        v
    });

    triangular_loops => |name| check_groups(name, |_, v| {
        let n = v.len();
        let mut v = v.to_vec();
        for i in 0..4 {
            for j in 0..i {
                v = each(n, |l| v[(l + n * 4 - j) % n] + (i * j) as i32);
            }
            v.iter_mut().for_each(|v| *v ^= i as i32);
        }
        v
    });

    barrier_in_if => |name| check_groups(name, |group, v| {
        let n = v.len();
        each(n, |l| if group & 1 == 1 { v[n - 1 - l] + 1 } else { v[l] + 1 })
    });

    barrier_in_else => |name| check_groups(name, |group, v| {
        let n = v.len();
        each(n, |l| if group % 3 == 0 { v[l] * 3 } else { v[l] + v[(l + 2) % n] })
    });

    barrier_in_both_sides => |name| check_groups(name, |_, v| {
        let n = v.len();
        let w = if v[0] & 1 == 1 {
            each(n, |l| v[l] + v[(l + 1) % n])
        } else {
            each(n, |l| v[l] - v[(n - 1 - l + 1) % n])
        };
        each(n, |l| w[(l + 3) % n])
    });

    many_conditional => |name| check_groups(name, |_, v| {
        let step = |v: Vec<i32>, k: usize| match CONDITIONS >> (k % 16) & 1 {
            1 => exchanged(&v, k),
            _ => v.iter().map(|v| v + k as i32).collect(),
        };
        (0..40).fold(v.to_vec(), step)
    });

    many_conditional_in_loop => |name| check_groups(name, |_, v| {
        let f = CONDITIONS;
        let step = |v: Vec<i32>, k: usize| match (f >> (k % 11) & 1, f >> (k % 5) & 1) {
            (1, 1) => exchanged(&exchanged(&v, k), k + 1),
            (1, _) => exchanged(&v, k),
            _ => v.iter().map(|v| v + k as i32).collect(),
        };
        (0..4).fold(v.to_vec(), |v, i| {
            let v = match f >> i & 3 {
                0 => exchanged(&exchanged(&v, 0), 1),
                1 => exchanged(&v, 1),
                2 => exchanged(&v, 2).iter().map(|v| v - i).collect(),
                _ => v.iter().map(|v| v - i).collect(),
            };
            let v = (0..24).fold(v, step);
            v.iter().map(|&v| if v == -1 { 0 } else { v }).collect()
        })
    });

    conditional_in_loop => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..6).fold(v.to_vec(), |v, i| each(n, |l| if i & 1 == 1 { v[l] + v[(l + i) % n] } else { v[l] - i as i32 }))
    });

    called_function => |name| check_groups(name, |_, v| {
        let n = v.len();
        let a = each(n, |l| v[(l + 1) % n]);
        each(n, |l| {
            let other = (l + 2) % n;
            a[l] * 3 + a[other] - v[other]
        })
    });

    nested_functions => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..3).fold(v.to_vec(), |v, i| {
            let sum = each(n, |l| v[(l + 1) % n] + v[(l + n - 1) % n]);
            each(n, |l| sum[n - 1 - l] - i)
        })
    });

    early_return => |name| check_groups(name, |group, v| {
        let n = v.len();
        each(n, |l| if group == 1 { -1 } else { v[(l * 3 + 1) % n] })
    });

    first_statement => |name| check_groups(name, |_, v| v.iter().map(|v| v + 1).collect());
    last_statement => |name| check_groups(name, |_, v| v.iter().map(|v| v - 1).collect());
    barriers_in_a_row => |name| check_groups(name, |_, v| v.iter().rev().copied().collect());

    live_scalars => |name| check_groups(name, |_, v| {
        let n = v.len();
        each(n, |l| {
            let (own, right) = (v[l], v[(l + 1) % n]);
            let wide = (i64::from(own) << 33) + i64::from(right);
            let narrow = i32::from((own * 3) as i8) + i32::from((own * 5) as u8);
            let short = i32::from((own * 777) as i16) + i32::from((own * 999) as u16);
            narrow + short + (wide >> 32) as i32 + wide as i32 + own + (own & 1) * 1000 + right
        })
    });

    live_vectors => |name| check_groups(name, |_, v| {
        let n = v.len();
        each(n, |l| {
            let (own, right) = (v[l], v[(l + 1) % n]);
            let two = (own + 1) * 3 + own;
            let three = 2 * own + 2 * own + 4;
            let four = own + (2 * own + right) + 3 * own + 4 * own;
            let sixteen = i32::from((own * 7) as i16) + i32::from((own * 15) as i16);
            two + three + four + sixteen
        })
    });

    live_private_array => |name| check_groups(name, |_, v| {
        let n = v.len();
        let mut arrays: Vec<[i32; 8]> = v.iter().map(|v| std::array::from_fn(|i| v + i as i32)).collect();
        for i in 0..5 {
            let shown = each(n, |l| arrays[l][(l + i) & 7]);
            for (l, array) in arrays.iter_mut().enumerate() {
                array[((shown[(l + 1) % n] + i as i32) & 7) as usize] += i as i32 + 1;
            }
        }
        arrays.iter().map(|array| array.iter().zip(1..).map(|(a, factor)| a * factor).sum()).collect()
    });

    live_private_pointer => |name| check_groups(name, |_, v| {
        let n = v.len();
        let mut arrays = vec![[1, 2, 3, 4, 10, 20, 30, 40]; n];
        let place = each(n, |l| if v[l] & 1 == 1 { (v[l] & 3) as usize } else { 4 + (l & 3) });
        let shown = each(n, |l| arrays[l][place[l]]);
        each(n, |l| {
            arrays[l][place[l]] += shown[(l + 1) % n];
            (0..8).map(|i| arrays[l][i] * (i as i32 % 4 + 1)).sum()
        })
    });

    // The item's kind is a part of its global number, which groups do not know: the whole case is needed.
    live_struct => |name| check(name, &[&[16], &[1], &[24]], |case| {
        let mut results = vec![];
        for (first, n) in case.groups(0) {
            let mut v = case.ints()[first..first + n].to_vec();
            let mut history = vec![vec![]; n];
            for _ in 0..3 {
                history.iter_mut().zip(&v).for_each(|(history, v)| history.push(*v));
                v = each(n, |l| v[(l + 1) % n] + ((first + l) & 3) as i32);
            }
            results.extend((0..n).map(|l| v[l] + history[l][0] + 2 * history[l][1] + 3 * history[l][2] + 250));
        }
        results
    });

    switch_cases => |name| check_groups(name, |group, v| {
        let n = v.len();
        let scaled = |v: &[i32]| each(n, |l| v[l] * (1 + (v[(l + 2) % n] & 3)));
        match group % 4 {
            0 => each(n, |l| v[l] + v[(l + 1) % n]),
            1 => scaled(&each(n, |l| v[l] - v[n - 1 - l])),
            2 => scaled(v),
            _ => v.iter().map(|v| -v).collect(),
        }
    });

    do_while => |name| check_groups(name, |_, v| {
        let n = v.len();
        let mut v = v.to_vec();
        for rounds in 1.. {
            let go = v[0] % 6 != 0;
            v = each(n, |l| v[(l + 1) % n] + 1);
            if !(go && rounds < 7) {
                return v.iter().map(|v| v * 8 + rounds).collect();
            }
        }
        unreachable!()
    });

    while_true => |name| check_groups(name, |_, v| {
        let n = v.len();
        let (mut v, mut i) = (v.to_vec(), 0);
        while v[i % n] % 4 != 1 && i != 12 {
            v = each(n, |l| v[l] + (v[n - 1 - l] & 15));
            i += 1;
        }
        v.iter().map(|v| v + ((i as i32) << 16)).collect()
    });

    barrier_in_condition => |name| check_groups(name, |_, v| {
        let (mut v, mut rounds) = (v.to_vec(), 0);
        let most = |v: &[i32]| v.iter().copied().max().expect("a group has items");
        while most(&v) > 10 {
            v.iter_mut().for_each(|v| *v -= if *v > 3 { *v / 3 } else { 0 });
            rounds += 1;
        }
        let both = rounds & 1 == 1 && most(&v) + rounds > 12;
        v.iter().map(|v| v + 100 * rounds + 10000 * i32::from(both)).collect()
    });

    unrolled_sequence => |name| check_groups(name, |_, v| {
        let n = v.len();
        (1..=6).fold(v.to_vec(), |v, k| each(n, |l| v[l] + v[(l + k) % n] * (k as i32 + 1)))
    });

    reduction_tree => |name| check_groups(name, |_, v| vec![v.iter().sum(); v.len()]);

    inclusive_scan => |name| check_groups(name, |_, v| {
        v.iter().scan(0, |sum, v| { *sum += v; Some(*sum) }).collect()
    });

    exclusive_scan => |name| check_groups(name, |_, v| {
        v.iter().scan(0, |sum, v| { *sum += v; Some(*sum - v) }).collect()
    });

    bitonic_sort => |name| check_groups(name, |_, v| {
        let mut v = v.to_vec();
        v.sort();
        v
    });

    // With fewer than 16 items in a group, some results show other items' counts all the same.
    histogram => |name| check_groups(name, |_, v| {
        let count = |bin: i32| v.iter().filter(|v| **v & 15 == bin).count() as i32;
        each(v.len(), |l| count(v[l] & 15) * 100 + count(l as i32 & 15))
    });

    local_atomics => |name| check_groups(name, |_, v| {
        let v: Vec<i32> = v.iter().map(|v| v & 1023).collect();
        let sum: i32 = v.iter().sum();
        let cells = [
            sum,
            -v.iter().map(|v| v & 3).sum::<i32>(),
            -v.iter().max().expect("items"),
            *v.iter().max().expect("items"),
            v.iter().fold(-1, |all, v| all & (v | 0x700)),
            v.iter().fold(0, |all, v| all | v),
            v.iter().fold(0, |all, v| all ^ v),
            v.len() as i32,
            v.iter().fold(0_i32, |x, _| x.wrapping_mul(3).wrapping_add(1)),
            sum * 2 + 1,
        ];
        each(v.len(), |l| cells[l % 10])
    });

    global_fence => |name| check_groups(name, |_, v| {
        let n = v.len();
        each(n, |l| (v[(l + 1) % n] + 7) * 2)
    });

    work_group_barrier_scopes => |name| check_groups(name, |_, v| {
        let n = v.len();
        let w = each(n, |l| v[(l + 5) % n]);
        each(n, |l| w[n - 1 - l] - w[l])
    });

    local_argument_and_static => |name| check_groups(name, |_, v| {
        let n = v.len();
        each(n, |l| v[(l + 1) % n] + v[(l + 2) % n] * 2 + v[(l + 3) % n] * 3 + v[n - 1 - l] * 4)
    });

    local_variable => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..4).fold(v.to_vec(), |v, i| each(n, |l| v[l] + (v[i % n] & 63)))
    });

    ping_pong => |name| check_groups(name, |_, v| {
        let n = v.len();
        let v = (0..5).fold(v.to_vec(), |v, i| each(n, |l| v[l] + v[(l + i) % n]));
        v.into_iter().rev().collect()
    });

    divergent_between => |name| check_groups(name, |_, v| {
        let n = v.len();
        let tmp = each(n, |l| match v[l] {
            v if v & 1 == 1 => v * 3,
            v if v & 2 == 2 => v - 50,
            _ => l as i32,
        });
        let v = each(n, |l| {
            let (u, w) = (tmp[n - 1 - l], tmp[(l + 1) % n]);
            if w <= 60 { v[l] } else if u > w { u - w } else { v[l] + u }
        });
        each(n, |l| v[l - l % 3] + v[l])
    });

    divergent_trip_counts => |name| check_groups(name, |_, v| {
        let n = v.len();
        let steps = each(n, |l| {
            let (mut x, mut steps) = (v[l] as u32 + 1, 0);
            while x != 1 && steps < 100 {
                x = if x & 1 == 1 { 3 * x + 1 } else { x / 2 };
                steps += 1;
            }
            steps
        });
        let sums = each(n, |l| {
            let mut sum = 0;
            for step in &steps[..=l] {
                if *step <= 90 {
                    sum += step;
                    if sum > 500 {
                        break;
                    }
                }
            }
            sum
        });
        each(n, |l| sums[n - 1 - l] + steps[l])
    });

    divergent_inside_uniform_loop => |name| check_groups(name, |_, v| {
        let n = v.len();
        (0..3).fold(v.to_vec(), |v, round| {
            let v = each(n, |l| v[l] + (0..(v[l] + round) % 5).sum::<i32>());
            each(n, |l| (v[(l + 1) % n] + v[l]) & 0xffff)
        })
    });

    goto_loop => |name| check_groups(name, |group, v| {
        let n = v.len();
        (0..4).fold(v.to_vec(), |mut v, i| {
            if i > 0 || group & 1 == 0 {
                v = each(n, |l| v[l] + (v[(l + 1) % n] & 31));
            }
            each(n, |l| v[l] ^ ((v[n - 1 - l] + i) & 7))
        })
    });

    group_votes => |name| check_groups(name, |_, v| {
        let n = v.len();
        let last = v[n - 1];
        let mut w = v.to_vec();
        if v.iter().all(|v| *v < 95) {
            w.reverse();
        }
        if v.contains(&(last - 1)) {
            w = each(n, |l| w[(l + 1) % n] + last);
        }
        w
    });

    transpose => |name| check(name, &[&[8, 16], &[4, 4], &[1, 32]], |case| {
        each(1024, |at| case.ints()[at % 32 * 32 + at / 32])
    });

    matrix_multiply => |name| check(name, &[], |case| {
        each(1024, |at| (0..32).map(|k| case.floats(0)[at / 32 * 32 + k] * case.floats(1)[k * 32 + at % 32]).sum::<f32>())
    });

    collective_kinds => |name| check_groups(name, |_, v| {
        let sum: i32 = v.iter().sum();
        let first = v[v.len() - 1];
        let mut before = 0;
        let (mut top, mut low) = (0, i32::MAX);
        each(v.len(), |l| {
            top = top.max(v[l]);
            let result = sum + 3 * before + 5 * top + if l == 0 { 1 } else { low };
            before += v[l];
            low = low.min(v[l] + first);
            result
        })
    });

    collectives_in_loop => |name| check_groups(name, |_, v| {
        let (mut v, mut i) = (v.to_vec(), 0);
        while v.iter().any(|v| *v > 9) && i < 5 {
            let mut total = 0;
            let mut sums = each(v.len(), |l| { total += v[l] & 7; total });
            if v.contains(&(50 + i)) {
                let other = v[i as usize % v.len()];
                sums.iter_mut().for_each(|sum| *sum -= other);
                if sums.iter().all(|sum| *sum < 200) {
                    i += 2;
                    continue;
                }
            }
            v = each(v.len(), |l| (v[l] + sums[l]) % (60 >> i));
            i += 1;
        }
        v.iter().map(|v| v * 8 + i).collect()
    });

    collectives_3d => |name| check(name, &[&[8, 8, 1], &[2, 3, 4], &[3, 3, 3], &[1, 1, 1]], |case| {
        let mut results = vec![0; 512];
        for (z, nz) in case.groups(2) {
            for (y, ny) in case.groups(1) {
                for (x, nx) in case.groups(0) {
                    let items = (0..nz * ny * nx).map(|i| (i / nx / ny, i / nx % ny, i % nx));
                    let places: Vec<usize> = items.map(|(lz, ly, lx)| ((z + lz) * 8 + y + ly) * 8 + x + lx).collect();
                    let value = |&at: &usize| case.ints()[at];
                    let others = 2 * places.iter().map(value).min().unwrap() + 3 * value(&places[places.len() - 1]);
                    let mut before = 0;
                    for at in places {
                        results[at] = before + others;
                        before += value(&at);
                    }
                }
            }
        }
        results
    });

    group_3d => |name| check(name, &[&[8, 8, 1], &[2, 3, 4], &[3, 3, 3], &[1, 1, 1]], |case| {
        let mut results = vec![0; 512];
        for (z, nz) in case.groups(2) {
            for (y, ny) in case.groups(1) {
                for (x, nx) in case.groups(0) {
                    for (lz, ly, lx) in (0..nz * ny * nx).map(|i| (i / nx / ny, i / nx % ny, i % nx)) {
                        results[((z + lz) * 8 + y + ly) * 8 + x + lx] =
                            case.ints()[((z + nz - 1 - lz) * 8 + y + ny - 1 - ly) * 8 + x + nx - 1 - lx];
                    }
                }
            }
        }
        results
    });

    stencil_2d => |name| check(name, &[&[4, 8], &[7, 5], &[1, 1]], |case| {
        let mut results = vec![0.0_f32; 576];
        for (top, ny) in case.groups(1) {
            for (left, nx) in case.groups(0) {
                let pitch = nx + 2;
                let mut tile = each(pitch * (ny + 2), |i| {
                    let (x, y) = ((left + i % pitch).wrapping_sub(1), (top + i / pitch).wrapping_sub(1));
                    if x < 24 && y < 24 { case.floats(0)[y * 24 + x] } else { 0.0 }
                });
                for _ in 0..case.value(0) {
                    let before = tile.clone();
                    for at in (0..nx * ny).map(|i| (i / nx + 1) * pitch + i % nx + 1) {
                        tile[at] = before[at] + before[at - 1] + before[at + 1] + before[at - pitch] + before[at + pitch];
                    }
                }
                for (ly, lx) in (0..nx * ny).map(|i| (i / nx, i % nx)) {
                    results[(top + ly) * 24 + left + lx] = tile[(ly + 1) * pitch + lx + 1];
                }
            }
        }
        results
    });

    row_sums => |name| check(name, &[&[16, 4], &[5, 3], &[1, 1]], |case| {
        let mut results = vec![0; 512];
        for y in 0..16 {
            for (first, n) in case.groups(0) {
                let row = &case.ints()[y * 32 + first..][..n];
                let sum: i32 = row.iter().sum();
                (0..n).for_each(|l| results[y * 32 + first + l] = sum - row[l]);
            }
        }
        results
    });

    live_floats => |name| check(name, &[&[16], &[1], &[24]], |case| {
        let mut results = vec![];
        for (first, n) in case.groups(0) {
            let mut v = case.floats(0)[first..first + n].to_vec();
            let mut total = vec![0.0; n];
            for power in [1.0, 2.0, 4.0, 8.0] {
                total.iter_mut().zip(&v).for_each(|(total, v)| *total += power * v);
                v = each(n, |l| v[(l + 1) % n] * if l & 1 == 1 { 0.5 } else { 2.0 });
            }
            results.extend((0..n).map(|l| total[l] + v[l]));
        }
        results
    });
}
