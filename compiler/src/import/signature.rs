//! A kernel's parameters, their places in the argument block, and the kernel's attributes.

use super::error::{Attempt, refuse};
use super::llvm::{Module, TypeKind, Value};
use super::memory;
use super::types::{scalar_type, size_of, unsupported_reason};
use lockstep_protocol::layout::SUB_GROUP_SIZES;
use lockstep_protocol::parameters::{IMAGE_BYTES, KernelAttrs, Param, ParamKind};
use lockstep_protocol::types::{Space, Type};

/// Alignment of the memory that a `__local` argument points to: that of the widest OpenCL type.
const LOCAL_ALIGN: u32 = 128;
/// An argument block of more bytes than this is refused.
const MAX_ARGS_BYTES: u64 = 1 << 16;

/// A kernel's signature.
pub(super) struct Signature {
    /// The parameters in their order.
    pub params: Vec<Param>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// The attributes that the source gives it.
    pub attrs: KernelAttrs,
}

/// Reads a kernel's signature.
pub(super) fn read_signature<'m>(module: Module<'m>, function: Value<'m>) -> Attempt<Signature> {
    let strings = |kind: &str| -> Vec<String> {
        let operands = module.function_metadata(function, kind).unwrap_or_default();
        let texts = operands.into_iter().map(|v| v.metadata_string());
        texts.map(Option::unwrap_or_default).collect()
    };
    let names = strings("kernel_arg_name");
    let type_names = strings("kernel_arg_type");
    let base_types = strings("kernel_arg_base_type");
    let access = strings("kernel_arg_access_qual");
    let qualifiers = strings("kernel_arg_type_qual");
    let of = |list: &[String], position: usize| list.get(position).cloned().unwrap_or_default();

    let mut params = Vec::new();
    let (mut end, mut block_align) = (0u64, 8u32);
    for (position, value) in function.params().into_iter().enumerate() {
        let index = position as u32;
        let qualifiers = of(&qualifiers, position);
        let opaque = opaque_kind(&of(&base_types, position), &qualifiers)?;
        let byval = function.byval_type(index);
        let ty = byval.unwrap_or(value.ty());
        let kind = match (byval, ty.kind()) {
            (None, TypeKind::Ptr(number)) if opaque == Some(ParamKind::Image) => {
                // The front end has made constant addresses of images; other ones are those of older SPIR.
                match Space::from_number(number) {
                    Some(Space::Constant) => ParamKind::Image,
                    _ => refuse!("argument {position} is an image in the form of SPIR 1.2"),
                }
            }
            (None, TypeKind::Int(32)) if opaque == Some(ParamKind::Sampler) => ParamKind::Sampler,
            _ if opaque.is_some() => refuse!("argument {position} is an image or a sampler of another form"),
            (None, TypeKind::Ptr(number)) => match Space::from_number(number) {
                Some(Space::Local) => ParamKind::Local,
                Some(space @ (Space::Global | Space::Constant)) => ParamKind::Pointer(space),
                _ => refuse!("argument {position} is a pointer that is not global, constant or local"),
            },
            (None, TypeKind::TargetExt) => refuse!("argument {position}: {}", unsupported_reason(ty)),
            (None, TypeKind::Int(width)) if !width.is_power_of_two() || width < 8 => {
                refuse!("argument {position} is an integer of {width} bits")
            }
            _ => ParamKind::Value,
        };
        let size = if kind == ParamKind::Image { IMAGE_BYTES as u64 } else { size_of(module, ty)? };
        let natural = match module.align_of(ty) {
            Some(align) if byval.is_some() => align.max(function.param_align(index)),
            Some(align) => align,
            None => 1,
        };
        let offset = end.next_multiple_of(u64::from(natural.max(1)));
        end = offset.saturating_add(size);
        if end > MAX_ARGS_BYTES {
            refuse!("the arguments take more than {MAX_ARGS_BYTES} bytes");
        }
        block_align = block_align.max(natural);
        let is_pointer = matches!(kind, ParamKind::Pointer(_) | ParamKind::Local);
        let has = |name| is_pointer && function.has_param_attribute(index, name);
        params.push(Param {
            name: match of(&names, position) {
                name if name.is_empty() => value.name(),
                name => name,
            },
            type_name: of(&type_names, position),
            kind,
            size: size as u32,
            align: if kind == ParamKind::Local { LOCAL_ALIGN } else { natural },
            offset: offset as u32,
            access: match of(&access, position) {
                access if access.is_empty() => "none".into(),
                access => access,
            },
            readonly: is_pointer && (has("readonly") || has("readnone") || memory::is_only_read(value)),
            restrict: has("noalias"),
            qualifiers,
        });
    }
    let attributes = read_attributes(module, function);
    if attributes.reqd_work_group_size.is_some_and(|sizes| sizes.contains(&0)) {
        refuse!("{} asks for empty work-groups", attributes.text);
    }
    if attributes.reqd_sub_group_size.is_some_and(|size| !SUB_GROUP_SIZES.contains(&size)) {
        let [small, middle, large] = SUB_GROUP_SIZES;
        refuse!("{} asks for sub-groups that are not of {small}, {middle} or {large} work-items", attributes.text);
    }
    Ok(Signature { params, args_size: end.next_multiple_of(u64::from(block_align)) as u32, attrs: attributes })
}

/// Whether a parameter's type, as written, is an image or a sampler.
fn opaque_kind(base_type: &str, qualifiers: &str) -> Attempt<Option<ParamKind>> {
    // A pipe is a pointer to what the built-in library works on; the type as written is that of its packets.
    if qualifiers.split(' ').any(|q| q == "pipe") {
        return Ok(None);
    }
    match base_type {
        "sampler_t" => Ok(Some(ParamKind::Sampler)),
        "queue_t" => refuse!("device-side enqueue is not supported"),
        image if image.starts_with("image") && image.ends_with("_t") => Ok(Some(ParamKind::Image)),
        _ => Ok(None),
    }
}

fn read_attributes<'m>(module: Module<'m>, function: Value<'m>) -> KernelAttrs {
    let operands = |kind: &str| module.function_metadata(function, kind);
    let sizes = |kind: &str| -> Option<[u32; 3]> {
        let list = operands(kind)?;
        let mut sizes = list.into_iter().map(|value| value.int_bits().and_then(|n| u32::try_from(n).ok()));
        Some([sizes.next()??, sizes.next()??, sizes.next()??])
    };
    let reqd_work_group_size = sizes("reqd_work_group_size");
    let work_group_size_hint = sizes("work_group_size_hint");
    let vec_type_hint = operands("vec_type_hint").and_then(|list| vector_type_name(&list));
    let sub_group_size =
        operands("intel_reqd_sub_group_size").and_then(|list| list.first().and_then(|value| value.int_bits()));
    let reqd_sub_group_size = sub_group_size.and_then(|size| u32::try_from(size).ok());

    let mut texts = Vec::new();
    let mut add_sizes = |name: &str, sizes: Option<[u32; 3]>| {
        texts.extend(sizes.map(|[x, y, z]| format!("{name}({x},{y},{z})")));
    };
    add_sizes("reqd_work_group_size", reqd_work_group_size);
    add_sizes("work_group_size_hint", work_group_size_hint);
    texts.extend(vec_type_hint.as_ref().map(|t| format!("vec_type_hint({t})")));
    texts.extend(reqd_sub_group_size.map(|n| format!("intel_reqd_sub_group_size({n})")));
    let text = texts.join(" ");
    KernelAttrs { reqd_work_group_size, work_group_size_hint, vec_type_hint, reqd_sub_group_size, text }
}

/// OpenCL's name of the type that `vec_type_hint` holds: a value of the type, and whether it is signed.
fn vector_type_name(operands: &[Value<'_>]) -> Option<String> {
    let ty = operands.first()?.ty();
    let signed = operands.get(1).and_then(|value| value.int_bits()).unwrap_or(1) != 0;
    let (count, element) = match ty.kind() {
        TypeKind::Vector(n, element) => (Some(n), element),
        _ => (None, ty),
    };
    let name = match (scalar_type(element)?, signed) {
        (Type::I8, true) => "char",
        (Type::I8, false) => "uchar",
        (Type::I16, true) => "short",
        (Type::I16, false) => "ushort",
        (Type::I32, true) => "int",
        (Type::I32, false) => "uint",
        (Type::I64, true) => "long",
        (Type::I64, false) => "ulong",
        (Type::F16, _) => "half",
        (Type::F32, _) => "float",
        (Type::F64, _) => "double",
        _ => return None,
    };
    Some(match count {
        Some(n) => format!("{name}{n}"),
        None => name.into(),
    })
}
