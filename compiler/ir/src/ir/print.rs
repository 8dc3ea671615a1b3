//! The text form of the IR (`.pir`), written.
//!
//! Entities keep their numbers, so that a message about `v12` and a dump agree. Constants have no
//! number in text: they stand as literals where they are used, with a type suffix (`5:i32`) wherever
//! the instruction's own types do not say what the type must be ([`operand_type`]).
//!
//! ```text
//! kernel "scale" {
//!   args 12
//!   param "x" pointer.global "float*" size 8 align 8 offset 0 restrict
//!   param "n" value "int" size 4 align 4 offset 8
//!   input value(0, 0): ptr.global
//!   input value(1, 0): i32
//!   region r0 {
//!   b0(v0: ptr.global, v1: i32):
//!     v2: i64 = query.global_id 0
//!     v3: i32 = trunc v2
//!     v4: i1 = icmp.slt v3, v1
//!     br v4, b1, b2
//!   b1:
//!     v5: i64 = shl v2, 2
//!     v6: ptr.global = ptradd.inbounds v0, v5
//!     v7: f32 = load v6 align 4
//!     v8: f32 = fmul v7, 0.5
//!     store v8 to v6 align 4 @3:5
//!     jump b2
//!   b2:
//!     return
//!   }
//! }
//! ```

use super::*;
use half::f16;
use lockstep_protocol::parameters::{Input, Param, ParamKind};
use lockstep_protocol::types::Type;
use std::fmt::{self, Display, Formatter, Write};

/// The type an operand must have by what else the text says of the instruction (its operation and its
/// result types); `None` where a literal needs a suffix. Operands count as `InstData::map_args` walks.
pub(super) fn operand_type(inst_data: &InstData, results: &[Type], index: usize) -> Option<Type> {
    let result = results.first().copied();
    match inst_data {
        InstData::Unary { opcode, .. } => match opcode {
            UnaryOp::Trunc
            | UnaryOp::Zext
            | UnaryOp::Sext
            | UnaryOp::FpTrunc
            | UnaryOp::FpExt
            | UnaryOp::FpToSi
            | UnaryOp::FpToUi
            | UnaryOp::FpToSiSat
            | UnaryOp::FpToUiSat
            | UnaryOp::SiToFp
            | UnaryOp::UiToFp
            | UnaryOp::Bitcast
            | UnaryOp::PtrToInt
            | UnaryOp::IntToPtr
            | UnaryOp::SpaceCast
            | UnaryOp::SpaceOf => None,
            _ => result,
        },
        InstData::Binary { .. } | InstData::Collective { .. } | InstData::Across { .. } => result,
        InstData::Any { .. } | InstData::Ballot { .. } => Some(Type::BOOL),
        InstData::LaneOf { .. } | InstData::Shuffle { .. } | InstData::Put { .. } => match index {
            1 => Some(Type::I64),
            _ => result,
        },
        InstData::Ternary { opcode: TernaryOp::Select, .. } if index == 0 => Some(Type::BOOL),
        InstData::Ternary { .. } => result,
        InstData::PtrAdd { .. } => [result, Some(Type::I64)][index.min(1)],
        InstData::MemCopy { .. } if index == 2 => Some(Type::I64),
        InstData::MemSet { .. } if index == 1 => Some(Type::I8),
        InstData::MemSet { .. } if index == 2 => Some(Type::I64),
        InstData::AtomicRmw { .. } | InstData::AtomicCas { .. } if index > 0 => result,
        _ => None,
    }
}

/// A literal of this type with these bits.
pub(super) fn literal_text(value_type: Type, bits: u128) -> String {
    match value_type {
        Type::Int(1) => (if bits == 0 { "false" } else { "true" }).to_string(),
        Type::Int(bit_width) => {
            let unused_bits = 128 - u32::from(bit_width);
            format!("{}", ((bits << unused_bits) as i128) >> unused_bits)
        }
        Type::Ptr(_) if bits == 0 => "null".to_string(),
        Type::Ptr(_) => format!("{bits:#x}"),
        Type::F16 => {
            float_text(f64::from(f16::from_bits(bits as u16)), || format!("{:?}", f16::from_bits(bits as u16).to_f32()))
                .unwrap_or_else(|| format!("{bits:#06x}"))
        }
        Type::F32 => {
            float_text(f64::from(f32::from_bits(bits as u32)), || format!("{:?}", f32::from_bits(bits as u32)))
                .unwrap_or_else(|| format!("{bits:#010x}"))
        }
        Type::F64 => float_text(f64::from_bits(bits as u64), || format!("{:?}", f64::from_bits(bits as u64)))
            .unwrap_or_else(|| format!("{bits:#018x}")),
    }
}

fn float_text(value: f64, shortest: impl Fn() -> String) -> Option<String> {
    if value.is_nan() { None } else { Some(shortest()) }
}

/// A quoted string; bytes that are not printable become `\xHH`.
fn quote_bytes(bytes: &[u8]) -> String {
    let mut output = String::from("\"");
    for &b in bytes {
        match b {
            b'"' => output.push_str("\\\""),
            b'\\' => output.push_str("\\\\"),
            b'\n' => output.push_str("\\n"),
            0x20..=0x7e => output.push(char::from(b)),
            _ => {
                let _ = write!(output, "\\x{b:02x}");
            }
        }
    }
    output.push('"');
    output
}

fn quote_text(text: &str) -> String {
    let mut output = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            character if character.is_ascii_control() => {
                let _ = write!(output, "\\x{:02x}", character as u32);
            }
            character => output.push(character),
        }
    }
    output.push('"');
    output
}

/// A value as an operand whose type the context gives as `expected`.
fn operand_text(function: &Function, value: Value, expected: Option<Type>) -> String {
    match function.values.get(value) {
        Some(&ValueData { ty, definition: ValueDef::Const(bits) }) => {
            let text = literal_text(ty, bits);
            if expected == Some(ty) { text } else { format!("{text}:{ty}") }
        }
        _ => value.to_string(),
    }
}

fn call_text(function: &Function, target: &BlockCall) -> String {
    if target.arguments.is_empty() {
        return target.block.to_string();
    }
    let parameters: &[Value] = function.blocks.get(target.block).map_or(&[], |block_data| &block_data.params);
    let type_of = |parameter: Value| function.values.get(parameter).map(|value_data| value_data.ty);
    let expected = parameters.iter().map(|&parameter| type_of(parameter)).chain(std::iter::repeat(None));
    let arguments = target.arguments.iter().zip(expected);
    let arguments: Vec<String> =
        arguments.map(|(&argument, expected)| operand_text(function, argument, expected)).collect();
    format!("{}({})", target.block, arguments.join(", "))
}

/// A value with its type, as in `v3: i32`.
fn typed_value(function: &Function, value: Value) -> String {
    match function.values.get(value) {
        Some(value_data) => format!("{value}: {}", value_data.ty),
        None => format!("{value}: ?"),
    }
}

fn place_text(pointer: &str, offset: i64) -> String {
    match offset {
        0 => pointer.to_string(),
        ..0 => format!("{pointer} - {}", offset.unsigned_abs()),
        1.. => format!("{pointer} + {offset}"),
    }
}

fn access_flags(access: &Access) -> String {
    let volatile = if access.volatile { ".volatile" } else { "" };
    match access.atomic {
        Some(order) => format!("{volatile}.{}", order.name()),
        None => volatile.to_string(),
    }
}

impl Display for FastMath {
    /// The flags as text: `.nnan.ninf`.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (bit, name) in FastMath::NAMES.iter().enumerate() {
            if self.0 >> bit & 1 != 0 {
                write!(formatter, ".{name}")?;
            }
        }
        Ok(())
    }
}

/// One instruction as a line of text, without indentation.
pub fn inst_text(function: &Function, instruction: Inst) -> String {
    let inst_node = &function.insts[instruction];
    let mut output = String::new();
    if !inst_node.results.is_empty() {
        let results: Vec<String> = inst_node.results.iter().map(|&value| typed_value(function, value)).collect();
        output = format!("{} = ", results.join(", "));
    }
    let types: Vec<Type> = inst_node
        .results
        .iter()
        .filter_map(|&value| function.values.get(value).map(|value_data| value_data.ty))
        .collect();
    let mut arguments = Vec::new();
    inst_node.data.for_each_arg(|value| {
        let expected = operand_type(&inst_node.data, &types, arguments.len());
        arguments.push(operand_text(function, value, expected));
    });
    let list = arguments.join(", ");
    output += &match &inst_node.data {
        InstData::Unary { opcode, fast_math, .. } => format!("{}{fast_math} {list}", opcode.name()),
        InstData::Binary { opcode, flags, fast_math, .. } => format!(
            "{}{}{}{fast_math} {list}",
            opcode.name(),
            if flags.nsw { ".nsw" } else { "" },
            if flags.nuw { ".nuw" } else { "" }
        ),
        InstData::Ternary { opcode, fast_math, .. } => format!("{}{fast_math} {list}", opcode.name()),
        InstData::Icmp { comparison, .. } => format!("icmp.{} {list}", comparison.name()),
        InstData::Fcmp { comparison, fast_math, .. } => format!("fcmp.{}{fast_math} {list}", comparison.name()),
        InstData::PtrAdd { inbounds, .. } => {
            let inbounds = if *inbounds { ".inbounds" } else { "" };
            format!("ptradd{inbounds} {list}")
        }
        InstData::Load { offset, access, .. } => {
            format!("load{} {} align {}", access_flags(access), place_text(&arguments[0], *offset), access.align)
        }
        InstData::Store { offset, access, .. } => format!(
            "store{} {} to {} align {}",
            access_flags(access),
            arguments[1..].join(", "),
            place_text(&arguments[0], *offset),
            access.align
        ),
        InstData::MemCopy { overlap, volatile, .. } => format!(
            "{}{} {list}",
            if *overlap { "memmove" } else { "memcpy" },
            if *volatile { ".volatile" } else { "" }
        ),
        InstData::MemSet { volatile, .. } => {
            format!("memset{} {list}", if *volatile { ".volatile" } else { "" })
        }
        InstData::AtomicRmw { opcode, order, align, .. } => {
            format!("atomic_rmw.{}.{} {list} align {align}", opcode.name(), order.name())
        }
        InstData::AtomicCas { success, failure, align, .. } => {
            format!("atomic_cas.{}.{} {list} align {align}", success.name(), failure.name())
        }
        InstData::Fence { order } => format!("fence.{}", order.name()),
        InstData::Query { query, dimension } => format!("query.{} {dimension}", query.name()),
        InstData::SlotAddr { slot } => format!("slot_addr {slot}"),
        InstData::LocalAddr { local } => format!("local_addr {local}"),
        InstData::GlobalAddr { global } => format!("global_addr {global}"),
        InstData::Barrier => "barrier".to_string(),
        InstData::Collective { collective, opcode, .. } => {
            format!("collective.{}.{} {list}", collective.name(), opcode.name())
        }
        InstData::Combined => "combined".to_string(),
        InstData::LiveLoad { live_slot } => format!("live_load {live_slot}"),
        InstData::LiveStore { live_slot, .. } => format!("live_store {live_slot}, {list}"),
        InstData::Any { .. } => format!("any {list}"),
        InstData::Ballot { .. } => format!("ballot {list}"),
        InstData::Across { collective, opcode, cluster, .. } => {
            let cluster_suffix = cluster.partial_lanes().map_or_else(String::new, |lanes| format!(".of{lanes}"));
            format!("across.{}.{}{cluster_suffix} {list}", collective.name(), opcode.name())
        }
        InstData::Shuffle { .. } => format!("shuffle {list}"),
        InstData::GangBarrier => "gang_barrier".to_string(),
        InstData::Clock => "clock".to_string(),
        InstData::Yield => "yield".to_string(),
        InstData::CountIterations { loop_number, .. } => format!("count_iterations {loop_number}, {list}"),
        InstData::LaneOf { .. } => format!("lane_of {list}"),
        InstData::Put { .. } => format!("put {list}"),
        InstData::CallHost { name, .. } => format!("call_host {}({list})", quote_text(name)),
        InstData::Call { callee, .. } => format!("call {callee}({list})"),
        InstData::SetResults { .. } => format!("set_results {list}"),
        InstData::Printf { format, .. } => format!("printf {format}({list})"),
    };
    if inst_node.location.line != 0 {
        let _ = write!(output, " @{}:{}", inst_node.location.line, inst_node.location.column);
    }
    output
}

/// A block's terminator as a line of text, without indentation.
pub fn term_text(function: &Function, block: Block) -> String {
    match &function.blocks[block].terminator {
        Terminator::Jump(target) => format!("jump {}", call_text(function, target)),
        Terminator::Branch { condition, then_to, else_to } => {
            format!(
                "br {}, {}, {}",
                operand_text(function, *condition, Some(Type::BOOL)),
                call_text(function, then_to),
                call_text(function, else_to)
            )
        }
        Terminator::Switch { value, cases, default } => {
            let selector_type = function.values.get(*value).map_or(Type::I64, |value_data| value_data.ty);
            let key_text = |bits: u128| match bits == bits & selector_type.value_mask() {
                true => literal_text(selector_type, bits),
                false => format!("{bits:#x}"),
            };
            let case_text =
                |(bits, target): &(u128, _)| format!("{}: {}", key_text(*bits), call_text(function, target));
            let cases: Vec<String> = cases.iter().map(case_text).collect();
            format!(
                "switch {} [{}] default {}",
                operand_text(function, *value, None),
                cases.join(", "),
                call_text(function, default)
            )
        }
        Terminator::Return => "return".to_string(),
        Terminator::Exit(region) => format!("exit {region}"),
        Terminator::Unreachable => "unreachable".to_string(),
    }
}

/// A block's head: its name, parameters and mask.
pub fn block_text(function: &Function, block: Block) -> String {
    let params: Vec<String> = function.blocks[block].params.iter().map(|&value| typed_value(function, value)).collect();
    let mask = function.masks[block]
        .expand()
        .map(|value| format!(" mask {}", operand_text(function, value, Some(Type::BOOL))));
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    format!("{block}{params}{}:", mask.unwrap_or_default())
}

impl Display for Function {
    fn fmt(&self, output: &mut Formatter<'_>) -> fmt::Result {
        for &block in &self.layout {
            writeln!(output, "  {}", block_text(self, block))?;
            for &instruction in &self.blocks[block].insts {
                writeln!(output, "    {}", inst_text(self, instruction))?;
            }
            writeln!(output, "    {}", term_text(self, block))?;
        }
        Ok(())
    }
}

/// What an argument is.
fn kind_text(kind: ParamKind) -> String {
    match kind {
        ParamKind::Value => "value".to_owned(),
        ParamKind::Pointer(address_space) => format!("pointer.{}", address_space.name()),
        ParamKind::Local => "local".to_owned(),
        ParamKind::Image => "image".to_owned(),
        ParamKind::Sampler => "sampler".to_owned(),
    }
}

/// A parameter's line.
pub fn param_text(parameter: &Param) -> String {
    let mut text = format!(
        "param {} {} {} size {} align {} offset {}",
        quote_text(&parameter.name),
        kind_text(parameter.kind),
        quote_text(&parameter.type_name),
        parameter.size,
        parameter.align,
        parameter.offset
    );
    // Writing to a string does not fail.
    if !parameter.access.is_empty() {
        let _ = write!(text, " access {}", quote_text(&parameter.access));
    }
    if !parameter.qualifiers.is_empty() {
        let _ = write!(text, " qualifiers {}", quote_text(&parameter.qualifiers));
    }
    if parameter.readonly {
        text.push_str(" readonly");
    }
    if parameter.restrict {
        text.push_str(" restrict");
    }
    text
}

impl Display for SlotData {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "size {} align {}", self.size, self.align)?;
        match self.layout {
            SlotLayout::Apart => Ok(()),
            SlotLayout::Shared => formatter.write_str(" shared"),
            SlotLayout::Interleaved { element, lanes } => write!(formatter, " interleaved {element} lanes {lanes}"),
        }
    }
}

impl Display for LiveData {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.ty, if self.shared { " shared" } else { "" })
    }
}

impl Display for Kernel {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "kernel ")?;
        self.write_definition(formatter)
    }
}

impl Kernel {
    /// Writes all that follows the word that says what it is.
    fn write_definition(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} {{", quote_text(&self.name))?;
        if self.args_size != 0 {
            writeln!(formatter, "  args {}", self.args_size)?;
        }
        for parameter in &self.params {
            writeln!(formatter, "  {}", param_text(parameter))?;
        }
        let size_text = |[x, y, z]: [u32; 3]| format!("{x}, {y}, {z}");
        if let Some(sizes) = self.attrs.reqd_work_group_size {
            writeln!(formatter, "  reqd_work_group_size({})", size_text(sizes))?;
        }
        if let Some(sizes) = self.attrs.work_group_size_hint {
            writeln!(formatter, "  work_group_size_hint({})", size_text(sizes))?;
        }
        if let Some(hint) = &self.attrs.vec_type_hint {
            writeln!(formatter, "  vec_type_hint {}", quote_text(hint))?;
        }
        if let Some(size) = self.attrs.reqd_sub_group_size {
            writeln!(formatter, "  reqd_sub_group_size({size})")?;
        }
        if !self.attrs.text.is_empty() {
            writeln!(formatter, "  attributes {}", quote_text(&self.attrs.text))?;
        }
        for (input, value_type) in &self.inputs {
            match input {
                Input::Value { param, offset } => {
                    writeln!(formatter, "  input value({param}, {offset}): {value_type}")?;
                }
                Input::Address { param } => writeln!(formatter, "  input address({param}): {value_type}")?,
                Input::Passed { position } => writeln!(formatter, "  input passed({position}): {value_type}")?,
            }
        }
        for result_type in &self.results {
            writeln!(formatter, "  result {result_type}")?;
        }
        for (slot, slot_data) in &self.slots {
            writeln!(formatter, "  slot {slot} {slot_data}")?;
        }
        for (local_variable, local_data) in &self.locals {
            writeln!(formatter, "  local {local_variable} size {} align {}", local_data.size, local_data.align)?;
        }
        for (live_slot, live_data) in &self.live {
            writeln!(formatter, "  live {live_slot}: {live_data}")?;
        }
        for (region, function) in &self.regions {
            let combine = self.combines[region];
            let text = combine.map_or(String::new(), |Combine { collective, opcode, live_slot }| {
                format!("combines {}.{} {live_slot} ", collective.name(), opcode.name())
            });
            write!(formatter, "  region {region} {text}{{\n{function}  }}\n")?;
        }
        formatter.write_str("}\n")
    }
}

impl Display for Module {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (global, global_data) in &self.globals {
            first = false;
            write!(
                formatter,
                "global {global} {} {} align {}",
                quote_text(&global_data.name),
                global_data.space.name(),
                global_data.align
            )?;
            if global_data.constant {
                formatter.write_str(" constant")?;
            }
            // Zeros at the end need no text, however many they are.
            let length = global_data.init.len();
            let written = global_data.init.iter().rposition(|&byte| byte != 0).map_or(0, |position| position + 1);
            write!(formatter, " size {length}")?;
            if written != 0 {
                formatter.write_str(" init 0x")?;
                for byte in &global_data.init[..written] {
                    write!(formatter, "{byte:02x}")?;
                }
            }
            if !global_data.relocs.is_empty() {
                let relocs: Vec<String> = global_data
                    .relocs
                    .iter()
                    .map(|(offset, target, addend)| format!("{offset}: {}", place_text(&target.to_string(), *addend)))
                    .collect();
                write!(formatter, " relocs [{}]", relocs.join(", "))?;
            }
            formatter.write_char('\n')?;
        }
        for (format, format_data) in &self.formats {
            first = false;
            let arguments: Vec<String> = format_data
                .args
                .iter()
                .map(|(value_type, count)| match count {
                    1 => value_type.to_string(),
                    count => format!("{value_type} x {count}"),
                })
                .collect();
            let failure = if format_data.is_failure { " failure" } else { "" };
            let text = quote_bytes(&format_data.text);
            writeln!(formatter, "format {format} {text} ({}){failure}", arguments.join(", "))?;
        }
        for (callee, function) in &self.functions {
            if !first {
                formatter.write_char('\n')?;
            }
            first = false;
            write!(formatter, "function {callee} ")?;
            function.write_definition(formatter)?;
        }
        for kernel in &self.kernels {
            if !first {
                formatter.write_char('\n')?;
            }
            first = false;
            write!(formatter, "{kernel}")?;
        }
        Ok(())
    }
}
