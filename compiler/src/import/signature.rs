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
pub(super) fn read_signature<'m>(llvm_module: Module<'m>, function: Value<'m>) -> Attempt<Signature> {
    let strings = |metadata_kind: &str| -> Vec<String> {
        let operands = llvm_module.function_metadata(function, metadata_kind).unwrap_or_default();
        let texts = operands.into_iter().map(|node_value| node_value.metadata_string());
        texts.map(Option::unwrap_or_default).collect()
    };
    let argument_names = strings("kernel_arg_name");
    let type_names = strings("kernel_arg_type");
    let base_types = strings("kernel_arg_base_type");
    let access_qualifiers = strings("kernel_arg_access_qual");
    let qualifiers = strings("kernel_arg_type_qual");
    let text_of = |text_list: &[String], position: usize| text_list.get(position).cloned().unwrap_or_default();

    let mut parameters = Vec::new();
    let (mut block_end, mut block_align) = (0u64, 8u32);
    for (position, llvm_value) in function.params().into_iter().enumerate() {
        let index = position as u32;
        let qualifiers = text_of(&qualifiers, position);
        let opaque_kind = opaque_kind(&text_of(&base_types, position), &qualifiers)?;
        let byval_type = function.byval_type(index);
        let argument_type = byval_type.unwrap_or(llvm_value.ty());
        let parameter_kind = match (byval_type, argument_type.kind()) {
            (None, TypeKind::Ptr(number)) if opaque_kind == Some(ParamKind::Image) => {
                // The front end has made constant addresses of images; other ones are those of older SPIR.
                match Space::from_number(number) {
                    Some(Space::Constant) => ParamKind::Image,
                    _ => refuse!("argument {position} is an image in the form of SPIR 1.2"),
                }
            }
            (None, TypeKind::Int(32)) if opaque_kind == Some(ParamKind::Sampler) => ParamKind::Sampler,
            _ if opaque_kind.is_some() => refuse!("argument {position} is an image or a sampler of another form"),
            (None, TypeKind::Ptr(number)) => match Space::from_number(number) {
                Some(Space::Local) => ParamKind::Local,
                Some(address_space @ (Space::Global | Space::Constant)) => ParamKind::Pointer(address_space),
                _ => refuse!("argument {position} is a pointer that is not global, constant or local"),
            },
            (None, TypeKind::TargetExt) => refuse!("argument {position}: {}", unsupported_reason(argument_type)),
            (None, TypeKind::Int(width)) if !width.is_power_of_two() || width < 8 => {
                refuse!("argument {position} is an integer of {width} bits")
            }
            _ => ParamKind::Value,
        };
        let byte_size =
            if parameter_kind == ParamKind::Image { IMAGE_BYTES as u64 } else { size_of(llvm_module, argument_type)? };
        let natural = match llvm_module.align_of(argument_type) {
            Some(alignment) if byval_type.is_some() => alignment.max(function.param_align(index)),
            Some(alignment) => alignment,
            None => 1,
        };
        let offset = block_end.next_multiple_of(u64::from(natural.max(1)));
        block_end = offset.saturating_add(byte_size);
        if block_end > MAX_ARGS_BYTES {
            refuse!("the arguments take more than {MAX_ARGS_BYTES} bytes");
        }
        block_align = block_align.max(natural);
        let is_pointer = matches!(parameter_kind, ParamKind::Pointer(_) | ParamKind::Local);
        let has_qualifier = |name| is_pointer && function.has_param_attribute(index, name);
        parameters.push(Param {
            name: match text_of(&argument_names, position) {
                name if name.is_empty() => llvm_value.name(),
                name => name,
            },
            type_name: text_of(&type_names, position),
            kind: parameter_kind,
            size: byte_size as u32,
            align: if parameter_kind == ParamKind::Local { LOCAL_ALIGN } else { natural },
            offset: offset as u32,
            access: match text_of(&access_qualifiers, position) {
                access if access.is_empty() => "none".into(),
                access => access,
            },
            readonly: is_pointer
                && (has_qualifier("readonly") || has_qualifier("readnone") || memory::is_only_read(llvm_value)),
            restrict: has_qualifier("noalias"),
            qualifiers,
        });
    }
    let attributes = read_attributes(llvm_module, function);
    if attributes.reqd_work_group_size.is_some_and(|sizes| sizes.contains(&0)) {
        refuse!("{} asks for empty work-groups", attributes.text);
    }
    if attributes.reqd_sub_group_size.is_some_and(|size| !SUB_GROUP_SIZES.contains(&size)) {
        let [small, middle, large] = SUB_GROUP_SIZES;
        refuse!("{} asks for sub-groups that are not of {small}, {middle} or {large} work-items", attributes.text);
    }
    Ok(Signature {
        params: parameters,
        args_size: block_end.next_multiple_of(u64::from(block_align)) as u32,
        attrs: attributes,
    })
}

/// Whether a parameter's type, as written, is an image or a sampler.
fn opaque_kind(base_type: &str, qualifiers: &str) -> Attempt<Option<ParamKind>> {
    // A pipe is a pointer to what the built-in library works on; the type as written is that of its packets.
    if qualifiers.split(' ').any(|qualifier| qualifier == "pipe") {
        return Ok(None);
    }
    match base_type {
        "sampler_t" => Ok(Some(ParamKind::Sampler)),
        "queue_t" => refuse!("device-side enqueue is not supported"),
        image if image.starts_with("image") && image.ends_with("_t") => Ok(Some(ParamKind::Image)),
        _ => Ok(None),
    }
}

fn read_attributes<'m>(llvm_module: Module<'m>, function: Value<'m>) -> KernelAttrs {
    let operands = |metadata_kind: &str| llvm_module.function_metadata(function, metadata_kind);
    let read_sizes = |metadata_kind: &str| -> Option<[u32; 3]> {
        let node_list = operands(metadata_kind)?;
        let mut sizes =
            node_list.into_iter().map(|llvm_value| llvm_value.int_bits().and_then(|size| u32::try_from(size).ok()));
        Some([sizes.next()??, sizes.next()??, sizes.next()??])
    };
    let reqd_work_group_size = read_sizes("reqd_work_group_size");
    let work_group_size_hint = read_sizes("work_group_size_hint");
    let vec_type_hint = operands("vec_type_hint").and_then(|node_list| vector_type_name(&node_list));
    let sub_group_size = operands("intel_reqd_sub_group_size")
        .and_then(|node_list| node_list.first().and_then(|llvm_value| llvm_value.int_bits()));
    let reqd_sub_group_size = sub_group_size.and_then(|size| u32::try_from(size).ok());

    let mut texts = Vec::new();
    let mut add_sizes = |name: &str, sizes: Option<[u32; 3]>| {
        texts.extend(sizes.map(|[size_x, size_y, size_z]| format!("{name}({size_x},{size_y},{size_z})")));
    };
    add_sizes("reqd_work_group_size", reqd_work_group_size);
    add_sizes("work_group_size_hint", work_group_size_hint);
    texts.extend(vec_type_hint.as_ref().map(|attribute_text| format!("vec_type_hint({attribute_text})")));
    texts.extend(reqd_sub_group_size.map(|group_size| format!("intel_reqd_sub_group_size({group_size})")));
    let text = texts.join(" ");
    KernelAttrs { reqd_work_group_size, work_group_size_hint, vec_type_hint, reqd_sub_group_size, text }
}

/// OpenCL's name of the type that `vec_type_hint` holds: a value of the type, and whether it is signed.
fn vector_type_name(operands: &[Value<'_>]) -> Option<String> {
    let hint_type = operands.first()?.ty();
    let is_signed = operands.get(1).and_then(|llvm_value| llvm_value.int_bits()).unwrap_or(1) != 0;
    let (count, element) = match hint_type.kind() {
        TypeKind::Vector(n, element) => (Some(n), element),
        _ => (None, hint_type),
    };
    let name = match (scalar_type(element)?, is_signed) {
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
