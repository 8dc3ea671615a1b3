//! Ways to access memory, and what each does to it.

/// What an access leaves in one element.
pub struct Move {
    pub to: usize,
    /// The elements whose sum it is.
    pub from: Vec<usize>,
    /// A number that is added.
    pub plus: i64,
    /// Whether it is added to what is there.
    pub adds: bool,
}

/// What the access with a number does: that number, how many there are, and the table `s`.
type Moves = Box<dyn Fn(usize, usize, &[usize]) -> Vec<Move> + Sync + Send>;

/// A way to access memory.
pub struct Class {
    pub name: String,
    /// Pieces of the kernel, with barriers between them. Elements are of type `$T`.
    pub pieces: Vec<String>,
    /// What stands before the pieces.
    pub before: &'static str,
    pub moves: Moves,
    /// Elements of `a` that one access reads; none: those of the moves.
    pub reads: usize,
    /// Buffers have a multiple of so many elements.
    pub granule: usize,
    /// The types of elements; none: all.
    pub types: &'static [&'static str],
    /// Whether the last access counts.
    pub races: bool,
}

impl Class {
    fn new(name: impl Into<String>, piece: impl Into<String>, moves: Moves) -> Class {
        let pieces = vec![piece.into()];
        Class { name: name.into(), pieces, before: "", moves, reads: 0, granule: 1, types: &[], races: false }
    }
}

fn sum(to: usize, from: &[usize]) -> Move {
    Move { to, from: from.to_vec(), plus: 1, adds: false }
}

fn copies(to: impl Iterator<Item = (usize, usize)>) -> Vec<Move> {
    to.map(|(to, from)| Move { to, from: vec![from], plus: 0, adds: false }).collect()
}

/// All of them.
pub fn classes() -> Vec<Class> {
    let mut all = plain();
    all.extend(strided());
    all.extend(groups());
    all.extend(wrapping());
    all.extend(vectors());
    all.extend(private_and_kept());
    all.extend(atomic());
    all
}

fn plain() -> Vec<Class> {
    let volatile = "*(volatile global $T *)(b + x) = *(volatile global $T *)(a + x) + ($T)1;";
    vec![
        Class::new("uniform_load", "b[x] = a[0] + ($T)1;", Box::new(|x, _, _| vec![sum(x, &[0])])),
        Class {
            races: true,
            ..Class::new("uniform_store", "b[0] = a[x] + ($T)1;", Box::new(|x, _, _| vec![sum(0, &[x])]))
        },
        Class::new("contiguous", "b[x] = a[x] + ($T)1;", Box::new(|x, _, _| vec![sum(x, &[x])])),
        Class::new("reversed_load", "b[x] = a[n - 1 - x] + ($T)1;", Box::new(|x, n, _| vec![sum(x, &[n - 1 - x])])),
        Class::new("reversed_store", "b[n - 1 - x] = a[x] + ($T)1;", Box::new(|x, n, _| vec![sum(n - 1 - x, &[x])])),
        Class::new("gather", "b[x] = a[s[x]] + ($T)1;", Box::new(|x, _, s| vec![sum(x, &[s[x]])])),
        Class::new("scatter", "b[s[x]] = a[x] + ($T)1;", Box::new(|x, _, s| vec![sum(s[x], &[x])])),
        Class::new("pairs", "b[x] = a[x] + a[n - 1] + ($T)1;", Box::new(|x, n, _| vec![sum(x, &[x, n - 1])])),
        Class::new("volatile", volatile, Box::new(|x, _, _| vec![sum(x, &[x])])),
        Class {
            types: &["half"],
            ..Class::new(
                "as_float",
                "vstore_half(vload_half(x, a) + 1.0f, x, b);",
                Box::new(|x, _, _| vec![sum(x, &[x])]),
            )
        },
    ]
}

fn strided() -> Vec<Class> {
    let mut all = Vec::new();
    for stride in [2, 3, 4, 5, 8] {
        for first in [0, stride - 1] {
            all.push(Class::new(
                format!("load_{first}_of_{stride}"),
                format!("b[x] = a[{stride} * x + {first}] + ($T)1;"),
                Box::new(move |x, _, _| vec![sum(x, &[stride * x + first])]),
            ));
            all.push(Class::new(
                format!("store_{first}_of_{stride}"),
                format!("b[{stride} * x + {first}] = a[x] + ($T)1;"),
                Box::new(move |x, _, _| vec![sum(stride * x + first, &[x])]),
            ));
        }
        all.push(Class::new(
            format!("load_every_{stride}_backwards"),
            format!("b[x] = a[{stride} * (n - 1 - x)] + ($T)1;"),
            Box::new(move |x, n, _| vec![sum(x, &[stride * (n - 1 - x)])]),
        ));
        all.push(Class::new(
            format!("load_two_of_{stride}"),
            format!("b[x] = a[{stride} * x] + a[{stride} * x + 1] + ($T)1;"),
            Box::new(move |x, _, _| vec![sum(x, &[stride * x, stride * x + 1])]),
        ));
        all.push(Class::new(
            format!("store_two_of_{stride}"),
            format!("b[{stride} * x] = a[x] + ($T)1; b[{stride} * x + 1] = a[n - 1 - x] + ($T)1;"),
            Box::new(move |x, n, _| vec![sum(stride * x, &[x]), sum(stride * x + 1, &[n - 1 - x])]),
        ));
    }
    all
}

/// Several accesses of neighbouring elements.
fn groups() -> Vec<Class> {
    let mut all = Vec::new();
    for (count, step) in [(2, 1), (3, 2), (4, 3), (8, 3)] {
        // In an order that is not that of memory.
        let order: Vec<usize> = (0..count).map(|index| (index * step + 1) % count).collect();
        let loads: String = order.iter().map(|k| format!("$T v{k} = a[{count} * x + {k}]; ")).collect();
        let stores: String = order.iter().map(|k| format!("b[{count} * x + {k}] = v{k} + ($T)1; ")).collect();
        all.push(Class::new(
            format!("all_of_{count}"),
            format!("{loads}{stores}"),
            Box::new(move |x, _, _| (0..count).map(|k| sum(count * x + k, &[count * x + k])).collect()),
        ));
        let adds: String = order.iter().map(|k| format!("b[{count} * x + {k}] += a[x]; ")).collect();
        all.push(Class::new(
            format!("in_place_{count}"),
            adds,
            Box::new(move |x, _, _| {
                (0..count).map(|k| Move { to: count * x + k, from: vec![x], plus: 0, adds: true }).collect()
            }),
        ));
    }
    all.extend([
        Class::new(
            "ends_of_4",
            "$T v = a[4 * x + 3]; v += a[4 * x]; b[4 * x + 1] = v; b[4 * x + 2] = v + ($T)1;",
            Box::new(|x, _, _| {
                let from = vec![4 * x, 4 * x + 3];
                [(1, 0), (2, 1)].map(|(k, plus)| Move { to: 4 * x + k, from: from.clone(), plus, adds: false }).into()
            }),
        ),
        Class::new(
            "backwards_2",
            "I xr = n - 1 - x; $T v = a[2 * xr + 1]; $T w = a[2 * xr]; b[2 * xr] = v; b[2 * xr + 1] = w;",
            Box::new(|x, n, _| {
                let y = n - 1 - x;
                copies([(2 * y, 2 * y + 1), (2 * y + 1, 2 * y)].into_iter())
            }),
        ),
        Class::new(
            "overwritten_2",
            "b[2 * x] = ($T)9; b[2 * x + 1] = a[x]; b[2 * x] = a[x] + ($T)1; b[2 * x + 1] += ($T)1;",
            Box::new(|x, _, _| vec![sum(2 * x, &[x]), sum(2 * x + 1, &[x])]),
        ),
        Class::new(
            "read_after_write_3",
            "b[3 * x] = a[x]; $T v = b[3 * x]; b[3 * x + 1] = v + ($T)1; $T w = b[3 * x + 1]; b[3 * x + 2] = w;",
            Box::new(|x, _, _| {
                let first = Move { plus: 0, ..sum(3 * x, &[x]) };
                vec![first, sum(3 * x + 1, &[x]), sum(3 * x + 2, &[x])]
            }),
        ),
        Class {
            types: &["int", "float"],
            ..Class::new(
                "two_types",
                "int v = ((global int *)a)[2 * x]; float w = ((global float *)a)[2 * x + 1]; \
                 ((global float *)b)[2 * x] = w; ((global int *)b)[2 * x + 1] = v;",
                Box::new(|x, _, _| copies([(2 * x, 2 * x + 1), (2 * x + 1, 2 * x)].into_iter())),
            )
        },
    ]);
    all
}

/// Numbers of elements that may wrap: within a gang they do in some of the launches, or nearly.
fn wrapping() -> Vec<Class> {
    vec![
        Class::new(
            "unsigned",
            "uint i = (uint)x; b[i + 3u] = a[i + (uint)n] + ($T)1;",
            Box::new(|x, n, _| vec![sum(x + 3, &[x + n])]),
        ),
        Class::new(
            "unsigned_backwards",
            "b[x] = a[(uint)n - 1u - (uint)x] + ($T)1;",
            Box::new(|x, n, _| vec![sum(x, &[n - 1 - x])]),
        ),
        Class::new(
            "unsigned_pairs",
            "uint i = 2u * (uint)x + (uint)n; b[i - (uint)n] = a[i]; b[i + 1u - (uint)n] = a[i + 1u];",
            Box::new(|x, n, _| copies((0..2).map(|k| (2 * x + k, 2 * x + k + n)))),
        ),
        Class::new(
            "byte_numbers",
            "b[x] = a[(uchar)(x + n)] + ($T)1;",
            Box::new(|x, n, _| vec![sum(x, &[(x + n) % 256])]),
        ),
        Class::new(
            "signed_byte_numbers",
            "b[x] = (a + 128)[(char)(x + n)] + ($T)1;",
            Box::new(|x, n, _| vec![sum(x, &[(x + n + 128) % 256])]),
        ),
        Class::new(
            "stored_to_byte_numbers",
            "b[(uchar)(x + 256 - n / 2)] = a[x] + ($T)1;",
            Box::new(|x, n, _| vec![sum((x + 256 - n / 2) % 256, &[x])]),
        ),
    ]
}

fn vectors() -> Vec<Class> {
    let mut all = Vec::new();
    for count in [2, 3, 4, 8, 16] {
        all.push(Class::new(
            format!("vload{count}"),
            format!("vstore{count}(vload{count}(x, a) + ($T)1, x, b);"),
            Box::new(move |x, _, _| (0..count).map(|k| sum(count * x + k, &[count * x + k])).collect()),
        ));
        // A vector of three lies where one of four does.
        let size = if count == 3 { 4 } else { count };
        all.push(Class {
            granule: size,
            ..Class::new(
                format!("vector{count}"),
                format!("((global $T{count} *)b)[x] = ((global $T{count} *)a)[x] + ($T)1;"),
                Box::new(move |x, _, _| (0..count).map(|k| sum(size * x + k, &[size * x + k])).collect()),
            )
        });
        all.push(Class {
            reads: count,
            ..Class::new(
                format!("one_of_vload{count}"),
                format!("b[x] = vload{count}(x, a).s1 + ($T)1;"),
                Box::new(move |x, _, _| vec![sum(x, &[count * x + 1])]),
            )
        });
    }
    for count in [2, 5, 24] {
        all.push(Class::new(
            format!("struct_of_{count}"),
            format!("typedef struct {{ $T v[{count}]; }} S; ((global S *)b)[x] = ((global S *)a)[x];"),
            Box::new(move |x, _, _| copies((0..count).map(|k| (count * x + k, count * x + k)))),
        ));
    }
    all.push(Class::new(
        "filled",
        "for (int k = 0; k < 32; k++) b[32 * x + k] = ($T)3;",
        Box::new(|x, _, _| (0..32).map(|k| Move { to: 32 * x + k, from: Vec::new(), plus: 3, adds: false }).collect()),
    ));
    all
}

fn private_and_kept() -> Vec<Class> {
    let kept = |name: &str, before: &'static str, pieces: [&str; 2], moves: Moves| Class {
        before,
        pieces: pieces.map(str::to_string).to_vec(),
        ..Class::new(name, "", moves)
    };
    vec![
        Class {
            reads: 8,
            ..Class::new(
                "private_array",
                "$T p[8]; for (int k = 0; k < 8; k++) p[k] = a[8 * x + k]; b[x] = p[s[x] & 7] + ($T)1;",
                Box::new(|x, _, s| vec![sum(x, &[8 * x + s[x] % 8])]),
            )
        },
        Class::new(
            "large_private_array",
            "$T p[300]; for (int k = 0; k < 300; k++) p[k] = a[x]; p[s[x]] += ($T)1; b[x] = p[s[x]];",
            Box::new(|x, _, _| vec![sum(x, &[x])]),
        ),
        kept("kept", "$T v = 0;", ["v = a[x];", "b[x] = v + ($T)1;"], Box::new(|x, _, _| vec![sum(x, &[x])])),
        Class {
            reads: 4,
            ..kept(
                "kept_array",
                "$T p[4];",
                ["for (int k = 0; k < 4; k++) p[k] = a[4 * x + k];", "b[x] = p[s[x] & 3] + ($T)1;"],
                Box::new(|x, _, s| vec![sum(x, &[4 * x + s[x] % 4])]),
            )
        },
        kept(
            "local",
            "local $T l[200];",
            ["l[get_local_id(0)] = a[x];", "b[x] = l[get_local_id(0)] + ($T)1;"],
            Box::new(|x, _, _| vec![sum(x, &[x])]),
        ),
    ]
}

fn atomic() -> Vec<Class> {
    let add = |x: usize, to: usize| vec![Move { to, from: vec![x], plus: 0, adds: true }];
    vec![
        Class {
            types: &["int"],
            ..Class::new("atomic_add", "atomic_add(b + x, a[x]);", Box::new(move |x, _, _| add(x, x)))
        },
        Class {
            types: &["int"],
            ..Class::new("atomic_sum", "atomic_add(b, a[x]);", Box::new(move |x, _, _| add(x, 0)))
        },
        Class {
            types: &["long"],
            ..Class::new("atom_add", "atom_add(b + s[x], a[x]);", Box::new(move |x, _, s| add(x, s[x])))
        },
        Class {
            types: &["int", "float"],
            ..Class::new(
                "atomic_xchg",
                "b[n + x] = atomic_xchg(b + x, a[x]);",
                Box::new(|x, n, _| {
                    let previous = Move { to: n + x, from: Vec::new(), plus: super::accesses::FILL, adds: false };
                    vec![Move { to: x, from: vec![x], plus: 0, adds: false }, previous]
                }),
            )
        },
        Class {
            types: &["int"],
            ..Class::new(
                "atomic_cmpxchg",
                "atomic_cmpxchg(b + x, 7, a[x] + 1);",
                Box::new(|x, _, _| vec![sum(x, &[x])]),
            )
        },
    ]
}
