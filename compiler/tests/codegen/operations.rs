//! Every operation on every type it takes, over edge values: machine code and interpreter agree bit for
//! bit, any NaN being as good as another.

use crate::machine;
use lockstep_ir::interp::{Arg, Memory, NdRange, run_kernel};
use lockstep_ir::ir::*;
use lockstep_ir::testing::operations::unary_operations_of;
use lockstep_protocol::compile_options::{CompileOptions, Vectorize};
use lockstep_protocol::configuration::Gangs;
use lockstep_protocol::parameters::{Input, KernelAttrs, Param, ParamKind};
use lockstep_protocol::types::{Space, Type};

const INTS: [u16; 9] = [1, 8, 13, 16, 24, 32, 48, 64, 128];
const FLOATS: [Type; 3] = [Type::F16, Type::F32, Type::F64];

fn ints() -> impl Iterator<Item = Type> {
    INTS.into_iter().map(Type::Int)
}

/// Values at which operations on a type change their behaviour.
fn edges(ty: Type) -> Vec<u128> {
    let mut bits: Vec<u128> = match ty {
        Type::Int(width) => {
            let top = 1u128 << (width - 1);
            let some = 0x1234_5678_9abc_def0_0fed_cba9_8765_4321;
            vec![0, 1, 2, 3, 7, top - 1, top, top + 1, u128::MAX, u128::MAX - 1, some, !some, u128::from(width) / 2]
        }
        Type::F16 => {
            vec![0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x4100, 0x0001, 0x83ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00]
                .into_iter()
                .chain([0x7e00, 0x3555, 0x3c01, 0x6400, 0x5bff, 0x4248, 0xb3ff])
                .collect()
        }
        Type::F32 => {
            [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.499_999_97, 3.7, 8_388_609.0, -1e10, 1e38, -1e38]
                .into_iter()
                .chain([
                    f32::MIN_POSITIVE,
                    1e-45,
                    -1e-40,
                    f32::MAX,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    f32::NAN,
                    65520.0,
                ])
                .map(|x: f32| x.to_bits().into())
                .collect()
        }
        Type::F64 => [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.499_999_999_999_999_94, 3.7, -1e10, 1e308]
            .into_iter()
            .chain([f64::MIN_POSITIVE, 5e-324, -1e-310, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN])
            // Between two numbers of the narrower formats, and just beside.
            .chain([1.0 + 3.0 / 2048.0, 1.0 + 1.0 / 2048.0 + 1e-12, 1.000_000_059_604_644_8, 65520.0, 65519.999, 1e-8])
            .map(|x: f64| x.to_bits().into())
            .collect(),
        Type::Ptr(_) => vec![0, 1, 0x1000, u64::MAX.into()],
    };
    bits.iter_mut().for_each(|b| *b &= ty.value_mask());
    bits
}

fn bytes(ty: Type, bits: u128) -> Vec<u8> {
    bits.to_le_bytes()[..ty.bytes() as usize].to_vec()
}

fn is_nan(ty: Type, bits: u128) -> bool {
    match ty {
        Type::F16 => bits & 0x7fff > 0x7c00,
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits as u64).is_nan(),
        _ => false,
    }
}

fn is_zero(ty: Type, bits: u128) -> bool {
    ty.is_float() && bits & (ty.value_mask() >> 1) == 0
}

/// One operation of the kernel under test: its name, its result's type, and how to build it.
type Operation = (String, Type, Box<dyn Fn(&mut Builder<'_>, &[Value]) -> Value>);

/// Builds one kernel that does all operations on each row of operands, runs it both ways and compares.
fn compare(what: &str, types: &[Type], rows: &[Vec<u128>], operations: &[Operation]) {
    let mut kernel = Kernel {
        name: "operations".to_string(),
        params: Vec::new(),
        args_size: 0,
        inputs: Vec::new(),
        slots: Default::default(),
        locals: Default::default(),
        live: Default::default(),
        regions: Default::default(),
        combines: Default::default(),
        results: Vec::new(),
        attrs: KernelAttrs::default(),
        definition: None,
    };
    kernel.slots.push(SlotData::new(16, 16));
    let all: Vec<Type> = types.iter().copied().chain(operations.iter().map(|&(_, ty, _)| ty)).collect();
    let pointers = vec![Type::Ptr(Space::Global); all.len()];
    let mut body = Function::new();
    let (mut builder, params) = Builder::with_entry(&mut body, &pointers);
    let id = builder.query(Query::GlobalId, 0);
    let places: Vec<Value> = all
        .iter()
        .zip(params)
        .map(|(ty, base)| {
            let size = builder.int(Type::I64, ty.bytes().into());
            let offset = builder.binary(BinaryOp::Mul, id, size);
            builder.ptr_add(base, offset)
        })
        .collect();
    let (sources, targets) = places.split_at(types.len());
    let operands: Vec<Value> = types.iter().zip(sources).map(|(&ty, &pointer)| builder.load(ty, pointer)).collect();
    for ((_, _, build), &pointer) in operations.iter().zip(targets) {
        let value = build(&mut builder, &operands);
        builder.store(pointer, value);
    }
    builder.ret();
    for (index, _) in all.iter().enumerate() {
        kernel.params.push(Param {
            name: format!("p{index}"),
            type_name: String::new(),
            kind: ParamKind::Pointer(Space::Global),
            size: 8,
            align: 8,
            offset: 8 * index as u32,
            access: "none".to_string(),
            qualifiers: String::new(),
            readonly: false,
            restrict: false,
        });
        kernel.inputs.push((Input::Value { param: index as u32, offset: 0 }, Type::Ptr(Space::Global)));
    }
    kernel.args_size = 8 * all.len() as u32;
    kernel.regions.push(body);
    let module = Module { kernels: vec![kernel], ..Module::default() };

    let column = |index: usize, ty: Type| rows.iter().flat_map(|row| bytes(ty, row[index])).collect::<Vec<u8>>();
    let mut buffers: Vec<Vec<u8>> = types.iter().enumerate().map(|(position, &ty)| column(position, ty)).collect();
    buffers.extend(operations.iter().map(|(_, ty, _)| vec![0; rows.len() * ty.bytes() as usize]));
    let arguments: Vec<Arg> = (0..all.len()).map(Arg::Buffer).collect();
    // Full gangs and, at the end of each group, one that is not.
    let range = NdRange::new(&[rows.len() as u64], &[37]);
    let mut expected = Memory::new(buffers.clone());
    run_kernel(&module, "operations", &range, &arguments, &mut expected)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    for vectorize in [Vectorize::Scalar, Vectorize::Gangs(Gangs::of_width(4)), Vectorize::Gangs(Gangs::of_width(16))] {
        let options = CompileOptions { vectorize, ..CompileOptions::default() };
        let mut found = Memory::new(buffers.clone());
        let ran = machine::run_with(options, &module, "operations", &range, &arguments, &mut found);
        let (_, reason) = ran.unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(reason, None, "{what}");
        check(&format!("{what}, {vectorize:?}"), types, rows, operations, &expected, &found);
    }
}

/// Compares what two runs of `compare`'s kernel left in memory.
fn check(what: &str, types: &[Type], rows: &[Vec<u128>], operations: &[Operation], expected: &Memory, found: &Memory) {
    let mut wrong = Vec::new();
    for (index, (name, ty, _)) in operations.iter().enumerate() {
        let size = ty.bytes() as usize;
        let value = |memory: &Memory, row: usize| {
            let mut wide = [0; 16];
            wide[..size].copy_from_slice(&memory.buffers[types.len() + index][row * size..][..size]);
            u128::from_le_bytes(wide)
        };
        for (row, operands) in rows.iter().enumerate() {
            let (e, f) = (value(expected, row), value(found, row));
            let either_zero = matches!(name.as_str(), "fmin" | "fmax") && is_zero(*ty, e) && is_zero(*ty, f);
            if e != f && !(is_nan(*ty, e) && is_nan(*ty, f)) && !either_zero {
                wrong.push(format!("{name} {ty} of {operands:x?}: {f:#x} instead of {e:#x}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{what}: {} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

/// Every combination of the types' edge values.
fn rows(types: &[Type]) -> Vec<Vec<u128>> {
    types.iter().fold(vec![Vec::new()], |rows, &ty| {
        let extend =
            |row: &Vec<u128>| edges(ty).into_iter().map(|e| [row.clone(), vec![e]].concat()).collect::<Vec<_>>();
        rows.iter().flat_map(extend).collect()
    })
}

fn unary(opcode: UnaryOp, to_type: Type) -> Operation {
    (opcode.name().to_string(), to_type, Box::new(move |builder, v| builder.unary(opcode, to_type, v[0])))
}

fn binary(opcode: BinaryOp, ty: Type) -> Operation {
    (opcode.name().to_string(), ty, Box::new(move |builder, v| builder.binary(opcode, v[0], v[1])))
}

#[test]
fn integer_operations() {
    use BinaryOp::*;
    for ty in ints() {
        let Type::Int(width) = ty else { continue };
        let mut operations: Vec<Operation> =
            [Add, Sub, Mul, And, Or, Xor, Smin, Smax, Umin, Umax, SaddSat, UaddSat, SsubSat, UsubSat]
                .map(|opcode| binary(opcode, ty))
                .into();
        operations.extend(unary_operations_of(ty).into_iter().map(|opcode| unary(opcode, ty)));
        for &comparison in IntCc::ALL {
            operations.push((
                comparison.name().to_string(),
                Type::BOOL,
                Box::new(move |builder, v| builder.icmp(comparison, v[0], v[1])),
            ));
        }
        compare(&format!("{ty}"), &[ty, ty], &rows(&[ty, ty]), &operations);

        let signed = |bits: u128| (bits << (128 - width)) as i128 >> (128 - width);
        let lowest = 1u128 << (width - 1);
        let divisible = |row: &Vec<u128>| row[1] != 0 && !(row[0] == lowest && signed(row[1]) == -1);
        let divisions: Vec<Vec<u128>> = rows(&[ty, ty]).into_iter().filter(divisible).collect();
        compare(
            &format!("{ty} division"),
            &[ty, ty],
            &divisions,
            &[Udiv, Sdiv, Urem, Srem].map(|opcode| binary(opcode, ty)),
        );

        let shifts: Vec<Vec<u128>> = rows(&[ty, ty]).into_iter().filter(|row| row[1] < width.into()).collect();
        compare(&format!("{ty} shifts"), &[ty, ty], &shifts, &[Shl, Lshr, Ashr].map(|opcode| binary(opcode, ty)));
    }
}

#[test]
fn operations_of_three_integers() {
    for ty in ints().filter(|ty| ty.bits() >= 8) {
        let mut operations: Vec<Operation> = Vec::new();
        for opcode in [TernaryOp::Fshl, TernaryOp::Fshr] {
            operations.push((
                opcode.name().to_string(),
                ty,
                Box::new(move |builder, v| builder.ternary(opcode, v[0], v[1], v[2])),
            ));
        }
        compare(&format!("{ty}"), &[ty, ty, ty], &rows(&[ty, ty, ty]), &operations);
    }
}

/// Quotients that OpenCL leaves open must not raise an exception.
#[test]
fn division_never_traps() {
    for width in [8, 16, 32, 64] {
        let ty = Type::Int(width);
        let lowest = 1u128 << (width - 1);
        let rows =
            [vec![7, 0], vec![0, 0], vec![lowest, ty.value_mask()], vec![lowest, 0], vec![ty.value_mask() - 6, 3]];
        let last = divide(ty, &rows);
        // -7 / 3: the unsigned and the signed answers, combined.
        let unsigned = ((ty.value_mask() - 6) / 3) ^ ((ty.value_mask() - 6) % 3);
        let signed = (-2i128 as u128 ^ -1i128 as u128) & ty.value_mask();
        let expected = unsigned ^ signed;
        assert_eq!(last, bytes(ty, expected), "{ty}");
    }
}

/// Runs all four divisions on each row; the exclusive or of the last row's answers.
fn divide(ty: Type, rows: &[Vec<u128>]) -> Vec<u8> {
    let mut text = "kernel \"divide\" {\n args 16\n".to_string();
    for p in 0..2 {
        text += &format!(" param \"p{p}\" pointer.global \"t*\" size 8 align 8 offset {}\n", 8 * p);
    }
    text += " input value(0, 0): ptr.global\n input value(1, 0): ptr.global\n region r0 {\n";
    text += " b0(v0: ptr.global, v1: ptr.global):\n v2: i64 = query.global_id 0\n";
    let size = ty.bytes();
    text += &format!(" v3: i64 = mul v2, {size}\n v4: ptr.global = ptradd v0, v3\n v5: ptr.global = ptradd v1, v3\n");
    text += &format!(" v6: {ty} = load v4 align {size}\n v7: {ty} = load v5 align {size}\n");
    for (index, op) in ["udiv", "sdiv", "urem", "srem"].into_iter().enumerate() {
        text += &format!(" v{}: {ty} = {op} v6, v7\n", 8 + index);
    }
    text += &format!(" v12: {ty} = xor v8, v9\n v13: {ty} = xor v10, v11\n v14: {ty} = xor v12, v13\n");
    text += &format!(" store v14 to v4 align {size}\n return\n }}\n}}\n");
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let column = |index: usize| rows.iter().flat_map(|row| bytes(ty, row[index])).collect::<Vec<u8>>();
    let mut memory = Memory::new(vec![column(0), column(1)]);
    let range = NdRange::new(&[rows.len() as u64], &[1]);
    machine::run(&module, "divide", &range, &[Arg::Buffer(0), Arg::Buffer(1)], &mut memory, false).unwrap();
    memory.buffers[0][(rows.len() - 1) * size as usize..].to_vec()
}

#[test]
fn float_operations() {
    for ty in FLOATS {
        use BinaryOp::*;
        let mut operations: Vec<Operation> =
            [Fadd, Fsub, Fmul, Fdiv, Frem, Fmin, Fmax, Copysign].map(|opcode| binary(opcode, ty)).into();
        for &comparison in FloatCc::ALL {
            operations.push((
                comparison.name().to_string(),
                Type::BOOL,
                Box::new(move |builder, v| builder.fcmp(comparison, v[0], v[1])),
            ));
        }
        use UnaryOp::*;
        operations.extend(
            [Fneg, Fabs, Sqrt, Floor, Ceil, Ftrunc, Rint, Round, Canonicalize, ArithmeticFence]
                .map(|opcode| unary(opcode, ty)),
        );
        operations.push(unary(Bitcast, Type::Int(ty.bits() as u16)));
        compare(&format!("{ty}"), &[ty, ty], &rows(&[ty, ty]), &operations);
    }
}

#[test]
fn fused_multiply_add() {
    for ty in FLOATS {
        let fma = |opcode: TernaryOp| -> Operation {
            (opcode.name().to_string(), ty, Box::new(move |builder, v| builder.ternary(opcode, v[0], v[1], v[2])))
        };
        compare(&format!("{ty}"), &[ty; 3], &rows(&[ty; 3]), &[fma(TernaryOp::Fma)]);
        // Rounded once or twice: the same where the product is exact, as those with 0 and 1 are.
        let exact = |row: &Vec<u128>| edges(ty)[..4].contains(&row[0]);
        let few: Vec<Vec<u128>> = rows(&[ty; 3]).into_iter().filter(exact).collect();
        compare(&format!("{ty}"), &[ty; 3], &few, &[fma(TernaryOp::FmulAdd)]);
    }
}

#[test]
fn selection() {
    for ty in ints().chain(FLOATS) {
        let select: Operation =
            ("select".to_string(), ty, Box::new(|builder, v| builder.ternary(TernaryOp::Select, v[0], v[1], v[2])));
        compare(&format!("{ty}"), &[Type::BOOL, ty, ty], &rows(&[Type::BOOL, ty, ty]), &[select]);
    }
}

#[test]
fn integer_casts() {
    for from_type in ints() {
        let mut operations = Vec::new();
        for to_type in ints() {
            match to_type.bits().cmp(&from_type.bits()) {
                std::cmp::Ordering::Less => operations.push(unary(UnaryOp::Trunc, to_type)),
                std::cmp::Ordering::Greater => {
                    operations.push(unary(UnaryOp::Zext, to_type));
                    operations.push(unary(UnaryOp::Sext, to_type));
                }
                std::cmp::Ordering::Equal => {}
            }
        }
        for to_type in FLOATS {
            operations.push(unary(UnaryOp::SiToFp, to_type));
            operations.push(unary(UnaryOp::UiToFp, to_type));
            if to_type.bits() == from_type.bits() {
                operations.push(unary(UnaryOp::Bitcast, to_type));
            }
        }
        if from_type == Type::I64 {
            // There and back again.
            let round = |builder: &mut Builder<'_>, v: &[Value]| {
                let pointer = builder.unary(UnaryOp::IntToPtr, Type::Ptr(Space::Generic), v[0]);
                let pointer = builder.unary(UnaryOp::SpaceCast, Type::Ptr(Space::Global), pointer);
                builder.unary(UnaryOp::PtrToInt, Type::I64, pointer)
            };
            operations.push(("ptrtoint".to_string(), Type::I64, Box::new(round)));
        }
        compare(&format!("{from_type}"), &[from_type], &rows(&[from_type]), &operations);
    }
}

#[test]
fn float_casts() {
    for from_type in FLOATS {
        let mut operations = Vec::new();
        for to_type in FLOATS {
            match to_type.bits().cmp(&from_type.bits()) {
                std::cmp::Ordering::Less => operations.push(unary(UnaryOp::FpTrunc, to_type)),
                std::cmp::Ordering::Greater => operations.push(unary(UnaryOp::FpExt, to_type)),
                std::cmp::Ordering::Equal => {}
            }
        }
        for to_type in ints() {
            operations.push(unary(UnaryOp::FpToSiSat, to_type));
            operations.push(unary(UnaryOp::FpToUiSat, to_type));
        }
        compare(&format!("{from_type}"), &[from_type], &rows(&[from_type]), &operations);

        // Plain conversions are defined where the truncated number fits.
        for width in [8, 16, 32, 64] {
            let to_type = Type::Int(width);
            let number = |bits: u128| match from_type {
                Type::F16 => half::f16::from_bits(bits as u16).to_f64(),
                Type::F32 => f32::from_bits(bits as u32).into(),
                _ => f64::from_bits(bits as u64),
            };
            let two = 2f64;
            let fits = |low: f64, high: f64| {
                let inside = move |row: &Vec<u128>| number(row[0]).trunc() >= low && number(row[0]).trunc() < high;
                rows(&[from_type]).into_iter().filter(inside).collect::<Vec<_>>()
            };
            let half = two.powi(i32::from(width) - 1);
            compare(
                &format!("{from_type} to {to_type}"),
                &[from_type],
                &fits(-half, half),
                &[unary(UnaryOp::FpToSi, to_type)],
            );
            compare(
                &format!("{from_type} to {to_type}"),
                &[from_type],
                &fits(0.0, 2.0 * half),
                &[unary(UnaryOp::FpToUi, to_type)],
            );
        }
    }
}

#[test]
fn host_functions() {
    let call = |name: &'static str, ty: Type, count: usize| -> Operation {
        (name.to_string(), ty, Box::new(move |builder, v| builder.call_host(name, ty, &v[..count])))
    };
    // Functions that every C library rounds correctly.
    let double = [call("sqrt", Type::F64, 1), call("fmod", Type::F64, 2), call("floor", Type::F64, 1)];
    compare("double", &[Type::F64; 2], &rows(&[Type::F64; 2]), &double);
    let single = [call("sqrtf", Type::F32, 1), call("fmodf", Type::F32, 2), call("copysignf", Type::F32, 2)];
    compare("float", &[Type::F32; 2], &rows(&[Type::F32; 2]), &single);
    let scale: Operation =
        ("ldexp".to_string(), Type::F64, Box::new(|builder, v| builder.call_host("ldexp", Type::F64, &[v[0], v[1]])));
    compare("ldexp", &[Type::F64, Type::I32], &rows(&[Type::F64, Type::I32]), &[scale]);
}

/// The operations' kernel has one slot, which holds the first operand when this is done.
fn cell(builder: &mut Builder<'_>, value: Value) -> Value {
    let cell = builder.slot_addr(Slot::from_u32(0));
    builder.store(cell, value);
    cell
}

#[test]
fn atomic_operations() {
    use AtomicOp::*;
    let floats = [Xchg, Fadd, Fsub, Fmax, Fmin];
    let integers = [Xchg, Add, Sub, And, Or, Xor, Smax, Smin, Umax, Umin];
    let types = [8, 16, 32, 64].map(Type::Int).into_iter().chain([Type::F32, Type::F64]);
    for ty in types {
        let mut operations: Vec<Operation> = Vec::new();
        let ops: &[AtomicOp] = if ty.is_float() { &floats } else { &integers };
        for (index, &opcode) in ops.iter().enumerate() {
            let order = Ordering::ALL[index % Ordering::ALL.len()];
            let rmw = move |builder: &mut Builder<'_>, pointer, argument| {
                let inst_data = InstData::AtomicRmw { opcode, order, align: ty.bytes(), pointer, argument };
                let inst = builder.inst(inst_data, &[ty]);
                builder.function.single_result(inst)
            };
            let previous = move |builder: &mut Builder<'_>, v: &[Value]| {
                let pointer = cell(builder, v[0]);
                rmw(builder, pointer, v[1])
            };
            let new = move |builder: &mut Builder<'_>, v: &[Value]| {
                let pointer = cell(builder, v[0]);
                rmw(builder, pointer, v[1]);
                builder.load(ty, pointer)
            };
            operations.push((opcode.name().to_string(), ty, Box::new(previous)));
            operations.push((opcode.name().to_string(), ty, Box::new(new)));
        }
        if !ty.is_float() {
            let cas = move |builder: &mut Builder<'_>, v: &[Value]| {
                let pointer = cell(builder, v[0]);
                let new_value = builder.int(ty, 77);
                let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                let inst_data = InstData::AtomicCas {
                    success,
                    failure,
                    align: ty.bytes(),
                    pointer,
                    expected: v[1],
                    new: new_value,
                };
                let inst = builder.inst(inst_data, &[ty, Type::BOOL]);
                (pointer, builder.function.insts[inst].results.clone())
            };
            operations.push(("cas old".to_string(), ty, Box::new(move |builder, v| cas(builder, v).1[0])));
            operations.push(("cas stored".to_string(), Type::BOOL, Box::new(move |builder, v| cas(builder, v).1[1])));
            let new = move |builder: &mut Builder<'_>, v: &[Value]| {
                let (pointer, _) = cas(builder, v);
                builder.load(ty, pointer)
            };
            operations.push(("cas new".to_string(), ty, Box::new(new)));
        }
        compare(&format!("atomic {ty}"), &[ty, ty], &rows(&[ty, ty]), &operations);
    }
}

#[test]
fn atomic_loads_and_stores() {
    for ty in [8, 16, 32, 64].map(Type::Int).into_iter().chain([Type::F32, Type::F64]) {
        let through = |order: Ordering, volatile: bool| -> Operation {
            let access = Access { align: ty.bytes(), volatile, atomic: Some(order) };
            let round = move |builder: &mut Builder<'_>, v: &[Value]| {
                let pointer = builder.slot_addr(Slot::from_u32(0));
                builder.inst(InstData::Store { pointer, offset: 0, access, arguments: vec![v[0]] }, &[]);
                builder.inst(InstData::Fence { order: Ordering::SeqCst }, &[]);
                let inst = builder.inst(InstData::Load { pointer, offset: 0, access }, &[ty]);
                builder.function.single_result(inst)
            };
            (order.name().to_string(), ty, Box::new(round))
        };
        let operations = [through(Ordering::Relaxed, false), through(Ordering::SeqCst, true)];
        compare(&format!("{ty}"), &[ty], &rows(&[ty]), &operations);
    }
}
