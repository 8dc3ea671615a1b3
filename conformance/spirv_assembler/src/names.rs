//! The numbers of enumerants, by their names.

use std::str::FromStr;

use rspirv::grammar::{ExtInstOp, INSTRUCTION_TABLE};
use spirv::{
    AccessQualifier, AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel,
    FPRoundingMode, FunctionParameterAttribute, GroupOperation, ImageFormat, LinkageType, MemoryModel, Op,
    SamplerAddressingMode, SamplerFilterMode, SourceLanguage, StorageClass,
};

/// The number of an enumerant's name among the operands of an instruction. Bits of a mask have `|` between them.
pub fn find_enumerant(opcode: Op, name: &str) -> Option<u32> {
    match opcode {
        Op::Capability => number_of(name, |value: Capability| value as u32),
        Op::MemoryModel => number_of(name, |value: AddressingModel| value as u32)
            .or_else(|| number_of(name, |value: MemoryModel| value as u32)),
        Op::EntryPoint => number_of(name, |value: ExecutionModel| value as u32),
        Op::ExecutionMode | Op::ExecutionModeId => number_of(name, |value: ExecutionMode| value as u32),
        Op::Source => number_of(name, |value: SourceLanguage| value as u32),
        Op::TypePointer
        | Op::TypeForwardPointer
        | Op::TypeUntypedPointerKHR
        | Op::Variable
        | Op::UntypedVariableKHR
        | Op::GenericCastToPtrExplicit => number_of(name, |value: StorageClass| value as u32),
        Op::TypeImage | Op::TypePipe => find_image_enumerant(name),
        Op::ConstantSampler => number_of(name, |value: SamplerAddressingMode| value as u32)
            .or_else(|| number_of(name, |value: SamplerFilterMode| value as u32)),
        Op::Decorate | Op::DecorateId | Op::MemberDecorate => find_decoration(name),
        Op::ExtInst => find_extended(name),
        Op::SpecConstantOp => {
            INSTRUCTION_TABLE.iter().find(|instruction| instruction.opname == name).map(|found| found.opcode as u32)
        }
        _ => number_of(name, |value: GroupOperation| value as u32).or_else(|| find_mask(name)),
    }
}

fn number_of<T: FromStr>(name: &str, number: impl Fn(T) -> u32) -> Option<u32> {
    name.parse().ok().map(number)
}

fn find_image_enumerant(name: &str) -> Option<u32> {
    number_of(name, |value: Dim| value as u32)
        .or_else(|| number_of(&format!("Dim{name}"), |value: Dim| value as u32))
        .or_else(|| number_of(name, |value: ImageFormat| value as u32))
        .or_else(|| number_of(name, |value: AccessQualifier| value as u32))
}

fn find_decoration(name: &str) -> Option<u32> {
    number_of(name, |value: Decoration| value as u32)
        .or_else(|| number_of(name, |value: BuiltIn| value as u32))
        .or_else(|| number_of(name, |value: LinkageType| value as u32))
        .or_else(|| number_of(name, |value: FunctionParameterAttribute| value as u32))
        .or_else(|| number_of(name, |value: FPRoundingMode| value as u32))
        .or_else(|| find_mask(name))
}

/// An instruction of `OpenCL.std`.
fn find_extended(name: &str) -> Option<u32> {
    let table = &rspirv::grammar::OPENCL_STD_100_INSTRUCTION_TABLE;
    let operation = table.iter().find(|instruction| instruction.opname == name).map(|found| found.opcode);
    match operation {
        Some(ExtInstOp::OpenclStd100(operation)) => Some(operation as u32),
        _ => number_of(name, |value: FPRoundingMode| value as u32),
    }
}

/// Bits by their names, which are different in all masks that tests need, but for those that mean the same.
fn find_mask(names: &str) -> Option<u32> {
    names.split('|').try_fold(0, |bits, name| {
        let bit = match name {
            "None" => 0,
            "Volatile" | "Inline" | "Flatten" | "Unroll" | "NotNaN" => 1,
            "Aligned" | "DontInline" | "DontFlatten" | "DontUnroll" | "Lod" | "NotInf" => 2,
            "Nontemporal" | "Pure" | "NSZ" => 4,
            "Const" | "AllowRecip" => 8,
            "Fast" => 16,
            "PartialCount" => 0x100,
            "SignExtend" => 0x1000,
            "AliasScopeINTELMask" => 0x1_0000,
            "NoAliasINTELMask" => 0x2_0000,
            "ZeroExtend" => 0x2000,
            _ => return None,
        };
        Some(bits | bit)
    })
}
