//! Types: each becomes one of LLVM's, which is written where it is used.
//!
//! Pointers have no type of what they point to; images, samplers and pipes are what the built-in library works on.

use std::rc::Rc;

use spirv::{AccessQualifier, Dim, Op, StorageClass};

use super::error::{Attempt, refuse};
use super::ids::{Id, IdMap};
use super::mangle::Parameter;
use super::operands::Operands;

/// Most levels of types within types.
const MAX_DEPTH: u32 = 64;
/// Most members of a structure.
const MAX_MEMBERS: usize = 16_383;
/// Most bytes of a type.
const MAX_BYTES: u64 = 1 << 40;

/// A type of the module.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub kind: TypeKind,
    /// The type in LLVM's text.
    pub text: Rc<str>,
    /// Bytes of a value in memory.
    pub size: u64,
    /// What the address of a value is a multiple of.
    pub align: u64,
    /// How many levels of types it has, itself among them.
    depth: u32,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TypeKind {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector {
        element: Id,
        count: u32,
    },
    Array {
        element: Id,
        count: u64,
    },
    Struct {
        members: Rc<[Id]>,
    },
    /// One without a type of what it points to is untyped (`SPV_KHR_untyped_pointers`).
    Pointer {
        space: u32,
        class: StorageClass,
        pointee: Option<Id>,
    },
    Function {
        result: Id,
        parameters: Rc<[Id]>,
    },
    Image(ImageType),
    Sampler,
    SampledImage {
        image: Id,
    },
    Event,
    Pipe {
        is_written: bool,
    },
    ReserveId,
    Opaque,
}

/// An image's type, as OpenCL C has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageType {
    /// Its name without access and `_t`: `image2d_array_depth`.
    pub name: &'static str,
    /// What of it is there.
    pub dim: ImageDim,
    pub is_array: bool,
    /// `ro`, `wo` or `rw`.
    pub access: &'static str,
}

/// How many coordinates an element of an image has, without that of its layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageDim {
    One,
    Two,
    Three,
}

/// The types of a module.
#[derive(Debug, Default)]
pub(super) struct Types {
    types: IdMap<Type>,
    /// Definitions of structures in LLVM's text.
    pub definitions: String,
    /// Pointers declared before what they point to.
    forward: IdMap<StorageClass>,
}

/// What the declaration of a type needs to know of the rest of the module.
pub(super) struct TypeContext<'a> {
    /// The value of a constant that an array's length names.
    pub length_of: &'a dyn Fn(Id) -> Attempt<u64>,
    /// Whether a structure is without gaps (`CPacked`).
    pub is_packed: &'a dyn Fn(Id) -> bool,
}

/// The address space of a storage class; none for classes that are not memory of a kernel. What tells a work-item of itself is copied
/// to private memory where somebody wants its address.
pub(super) fn space_of_class(class: StorageClass) -> Option<u32> {
    Some(match class {
        StorageClass::Function | StorageClass::CodeSectionINTEL | StorageClass::Input => 0,
        StorageClass::CrossWorkgroup => 1,
        StorageClass::UniformConstant => 2,
        StorageClass::Workgroup => 3,
        StorageClass::Generic => 4,
        _ => return None,
    })
}

/// The storage class with this number.
pub(super) fn read_class(number: u32) -> Attempt<StorageClass> {
    match StorageClass::from_u32(number) {
        Some(class) => Ok(class),
        None => refuse!("there is no storage class {number}"),
    }
}

impl Types {
    /// The type of an id.
    pub fn find_type(&self, id: Id) -> Attempt<&Type> {
        match self.types.get(&id) {
            Some(known) => Ok(known),
            None => refuse!("%{id} is not a type that was declared before"),
        }
    }

    /// Whether the id is a type's.
    pub fn contains(&self, id: Id) -> bool {
        self.types.contains_key(&id)
    }

    /// The type in LLVM's text.
    pub fn type_text(&self, id: Id) -> Attempt<Rc<str>> {
        Ok(self.find_type(id)?.text.clone())
    }

    /// The element's type and how many there are; of what is no vector itself, and one.
    pub fn elements_of(&self, id: Id) -> Attempt<(Id, u32)> {
        match self.find_type(id)?.kind {
            TypeKind::Vector { element, count } => Ok((element, count)),
            _ => Ok((id, 1)),
        }
    }

    /// The bits of an integer, or of the elements of a vector of such.
    pub fn int_width(&self, id: Id) -> Attempt<u32> {
        match self.find_type(self.elements_of(id)?.0)?.kind {
            TypeKind::Int(width) => Ok(width),
            _ => refuse!("%{id} is not a type of integers"),
        }
    }

    /// The bits of a floating-point number, or of the elements of a vector of such.
    pub fn float_width(&self, id: Id) -> Attempt<u32> {
        match self.find_type(self.elements_of(id)?.0)?.kind {
            TypeKind::Float(width) => Ok(width),
            _ => refuse!("%{id} is not a type of floating-point numbers"),
        }
    }

    /// Whether it is `bool` or a vector of such.
    pub fn is_bool(&self, id: Id) -> Attempt<bool> {
        Ok(self.find_type(self.elements_of(id)?.0)?.kind == TypeKind::Bool)
    }

    /// Whether it is a number or a vector of such.
    pub fn is_float(&self, id: Id) -> Attempt<bool> {
        Ok(self.float_width(id).is_ok())
    }

    /// The address space and what is there, of a pointer's type.
    pub fn pointer_parts(&self, id: Id) -> Attempt<(u32, Id)> {
        match (self.pointer_space(id)?, self.pointee_of(id)) {
            (space, Some(pointee)) => Ok((space, pointee)),
            (_, None) => refuse!("the pointer %{id} does not say what it points to"),
        }
    }

    /// The address space of a pointer's type.
    pub fn pointer_space(&self, id: Id) -> Attempt<u32> {
        match self.find_type(id)?.kind {
            TypeKind::Pointer { space, .. } => Ok(space),
            _ => refuse!("%{id} is not a type of pointers"),
        }
    }

    /// What a pointer's type points to, where it says so.
    pub fn pointee_of(&self, id: Id) -> Option<Id> {
        match self.types.get(&id)?.kind {
            TypeKind::Pointer { pointee, .. } => pointee,
            _ => None,
        }
    }

    /// Refuses a pointer's type that points to something else. An untyped pointer points to anything.
    pub fn check_pointee(&self, pointer_type: Id, wanted: Id) -> Attempt<()> {
        self.pointer_space(pointer_type)?;
        let Some(pointee) = self.pointee_of(pointer_type) else { return self.memory_type(wanted).map(drop) };
        if pointee == wanted {
            return Ok(());
        }
        let (there, wanted) = (&self.find_type(pointee)?.text, &self.find_type(wanted)?.text);
        if there != wanted {
            refuse!("a value of type {wanted} where one of type {there} is");
        }
        Ok(())
    }

    /// How function names tell a type from others; its integers are signed or not.
    pub fn parameter_of(&self, id: Id, is_signed: bool) -> Attempt<Parameter> {
        let (element, count) = self.elements_of(id)?;
        let letters = match (&self.find_type(element)?.kind, is_signed) {
            (TypeKind::Int(8), true) => "c",
            (TypeKind::Int(8), false) => "h",
            (TypeKind::Int(16), true) => "s",
            (TypeKind::Int(16), false) => "t",
            (TypeKind::Int(32), true) => "i",
            (TypeKind::Int(32), false) => "j",
            (TypeKind::Int(64), true) => "l",
            (TypeKind::Int(64), false) => "m",
            (TypeKind::Float(16), _) => "Dh",
            (TypeKind::Float(32), _) => "f",
            (TypeKind::Float(64), _) => "d",
            _ => refuse!("no built-in function takes a value of type {}", self.type_text(id)?),
        };
        Ok(if count == 1 { Parameter::Scalar(letters) } else { Parameter::Vector(count, letters) })
    }

    /// OpenCL C's name of a type of numbers, its integers signed or not.
    pub fn source_name(&self, id: Id, is_signed: bool) -> Attempt<String> {
        let (element, count) = self.elements_of(id)?;
        let name = match self.parameter_of(element, is_signed)? {
            Parameter::Scalar("c") => "char",
            Parameter::Scalar("h") => "uchar",
            Parameter::Scalar("s") => "short",
            Parameter::Scalar("t") => "ushort",
            Parameter::Scalar("i") => "int",
            Parameter::Scalar("j") => "uint",
            Parameter::Scalar("l") => "long",
            Parameter::Scalar("m") => "ulong",
            Parameter::Scalar("Dh") => "half",
            Parameter::Scalar("f") => "float",
            _ => "double",
        };
        Ok(if count == 1 { name.to_owned() } else { format!("{name}{count}") })
    }

    /// Declares the type that an `OpType…` instruction is.
    pub fn declare_type(&mut self, opcode: Op, mut operands: Operands<'_>, context: &TypeContext<'_>) -> Attempt<()> {
        let id = operands.take_id()?;
        if opcode == Op::TypeForwardPointer {
            self.forward.insert(id, read_class(operands.take_literal()?)?);
            return Ok(());
        }
        if self.types.contains_key(&id) {
            refuse!("%{id} is declared twice");
        }
        let declared = self.read_type(id, opcode, operands, context)?;
        if declared.depth > MAX_DEPTH {
            refuse!("a type of more than {MAX_DEPTH} levels");
        }
        if declared.size > MAX_BYTES {
            refuse!("a type of {} bytes; {MAX_BYTES} are allowed", declared.size);
        }
        self.types.insert(id, declared);
        Ok(())
    }

    fn read_type(&mut self, id: Id, opcode: Op, operands: Operands<'_>, context: &TypeContext<'_>) -> Attempt<Type> {
        match opcode {
            Op::TypeVoid => Ok(leaf(TypeKind::Void, "void", 0)),
            Op::TypeBool => Ok(leaf(TypeKind::Bool, "i1", 1)),
            Op::TypeInt => read_int(operands),
            Op::TypeFloat => read_float(operands),
            Op::TypeVector => self.read_vector(operands),
            Op::TypeArray => self.read_array(operands, context),
            Op::TypeStruct => self.read_struct(id, operands, (context.is_packed)(id)),
            Op::TypePointer | Op::TypeUntypedPointerKHR => self.read_pointer(id, opcode, operands),
            Op::TypeFunction => self.read_function(operands),
            Op::TypeImage => self.read_image(operands),
            Op::TypeSampler => Ok(leaf(TypeKind::Sampler, "i32", 4)),
            Op::TypeSampledImage => self.read_sampled_image(operands),
            Op::TypeEvent => Ok(leaf(TypeKind::Event, "i64", 8)),
            Op::TypePipe => read_pipe(operands),
            Op::TypeReserveId => Ok(leaf(TypeKind::ReserveId, "i64", 8)),
            Op::TypeOpaque => Ok(leaf(TypeKind::Opaque, "{}", 0)),
            _ => refuse!("kernels have no such type here"),
        }
    }

    fn read_vector(&self, mut operands: Operands<'_>) -> Attempt<Type> {
        let (element, count) = (operands.take_id()?, operands.take_literal()?);
        let element_type = self.find_type(element)?;
        if !matches!(element_type.kind, TypeKind::Bool | TypeKind::Int(_) | TypeKind::Float(_)) {
            refuse!("a vector of what is not a number: {}", element_type.text);
        }
        if !matches!(count, 2 | 3 | 4 | 8 | 16) {
            refuse!("a vector of {count} elements; kernels have those of 2, 3, 4, 8 and 16");
        }
        let size = u64::from(count.next_power_of_two()) * element_type.size;
        let text = format!("<{count} x {}>", element_type.text).into();
        Ok(Type { kind: TypeKind::Vector { element, count }, text, size, align: size, depth: 2 })
    }

    fn read_array(&self, mut operands: Operands<'_>, context: &TypeContext<'_>) -> Attempt<Type> {
        let element = operands.take_id()?;
        let count = (context.length_of)(operands.take_id()?)?;
        let element_type = self.memory_type(element)?;
        let size = element_type.size.next_multiple_of(element_type.align).saturating_mul(count);
        let text = format!("[{count} x {}]", element_type.text).into();
        let kind = TypeKind::Array { element, count };
        Ok(Type { kind, text, size, align: element_type.align, depth: element_type.depth + 1 })
    }

    fn read_struct(&mut self, id: Id, mut operands: Operands<'_>, is_packed: bool) -> Attempt<Type> {
        let members = operands.take_ids()?;
        if members.len() > MAX_MEMBERS {
            refuse!("a structure of {} members; {MAX_MEMBERS} are allowed", members.len());
        }
        let (mut size, mut align, mut depth) = (0_u64, 1, 1);
        let mut texts = Vec::with_capacity(members.len());
        for &member in &members {
            let member_type = self.memory_type(member)?;
            let member_align = if is_packed { 1 } else { member_type.align };
            size = size.next_multiple_of(member_align).saturating_add(member_type.size).min(MAX_BYTES + 1);
            align = align.max(member_align);
            depth = depth.max(member_type.depth + 1);
            texts.push(member_type.text.clone());
        }
        let list = texts.join(", ");
        let body = if is_packed { format!("<{{ {list} }}>") } else { format!("{{ {list} }}") };
        self.definitions.push_str(&format!("%s{id} = type {body}\n"));
        let kind = TypeKind::Struct { members: members.into() };
        Ok(Type { kind, text: format!("%s{id}").into(), size: size.next_multiple_of(align), align, depth })
    }

    /// A type of which values lie in memory.
    fn memory_type(&self, id: Id) -> Attempt<&Type> {
        if self.forward.contains_key(&id) && !self.types.contains_key(&id) {
            refuse!("%{id} is a pointer whose type follows only later, within another type");
        }
        let known = self.find_type(id)?;
        match known.kind {
            TypeKind::Void | TypeKind::Function { .. } | TypeKind::SampledImage { .. } | TypeKind::Opaque => {
                refuse!("no memory holds a value of type {}", known.text)
            }
            _ => Ok(known),
        }
    }

    fn read_pointer(&mut self, id: Id, opcode: Op, mut operands: Operands<'_>) -> Attempt<Type> {
        let class = read_class(operands.take_literal()?)?;
        let pointee = if opcode == Op::TypePointer { Some(operands.take_id()?) } else { None };
        if self.forward.remove(&id).is_some_and(|earlier| earlier != class) {
            refuse!("the pointer was declared before with another storage class");
        }
        if let Some(pointee) = pointee {
            self.find_type(pointee)?;
        }
        let Some(space) = space_of_class(class) else { refuse!("kernels have no memory of storage class {class:?}") };
        let text = if space == 0 { "ptr".into() } else { format!("ptr addrspace({space})").into() };
        Ok(Type { kind: TypeKind::Pointer { space, class, pointee }, text, size: 8, align: 8, depth: 1 })
    }

    fn read_function(&self, mut operands: Operands<'_>) -> Attempt<Type> {
        let result = operands.take_id()?;
        let parameters = operands.take_ids()?;
        for &id in parameters.iter().chain([&result]) {
            self.find_type(id)?;
        }
        Ok(leaf(TypeKind::Function { result, parameters: parameters.into() }, "ptr", 8))
    }

    fn read_image(&self, mut operands: Operands<'_>) -> Attempt<Type> {
        let sampled = operands.take_id()?;
        self.find_type(sampled)?;
        let dim = operands.take_literal()?;
        let depth = operands.take_literal()?;
        let (is_array, is_multisampled) = (operands.take_literal()? == 1, operands.take_literal()? == 1);
        let (_sampled, _format) = (operands.take_literal()?, operands.take_literal()?);
        let access = match operands.take_optional_literal().map(AccessQualifier::from_u32) {
            None | Some(Some(AccessQualifier::ReadOnly)) => "ro",
            Some(Some(AccessQualifier::WriteOnly)) => "wo",
            Some(Some(AccessQualifier::ReadWrite)) => "rw",
            Some(None) => refuse!("an image with an access that does not exist"),
        };
        if is_multisampled {
            refuse!("images with several samples an element are not supported");
        }
        let (name, dim) = match (Dim::from_u32(dim), is_array, depth == 1) {
            (Some(Dim::Dim1D), false, false) => ("image1d", ImageDim::One),
            (Some(Dim::Dim1D), true, false) => ("image1d_array", ImageDim::One),
            (Some(Dim::DimBuffer), false, false) => ("image1d_buffer", ImageDim::One),
            (Some(Dim::Dim2D), false, false) => ("image2d", ImageDim::Two),
            (Some(Dim::Dim2D), true, false) => ("image2d_array", ImageDim::Two),
            (Some(Dim::Dim2D), false, true) => ("image2d_depth", ImageDim::Two),
            (Some(Dim::Dim2D), true, true) => ("image2d_array_depth", ImageDim::Two),
            (Some(Dim::Dim3D), false, false) => ("image3d", ImageDim::Three),
            _ => refuse!("kernels have no images of dimension {dim} like this"),
        };
        Ok(leaf(TypeKind::Image(ImageType { name, dim, is_array, access }), "ptr addrspace(2)", 8))
    }

    fn read_sampled_image(&self, mut operands: Operands<'_>) -> Attempt<Type> {
        let image = operands.take_id()?;
        let TypeKind::Image(_) = self.find_type(image)?.kind else { refuse!("%{image} is not a type of images") };
        Ok(leaf(TypeKind::SampledImage { image }, "ptr addrspace(2)", 8))
    }

    /// The image's type that an id is.
    pub fn image_of(&self, id: Id) -> Attempt<ImageType> {
        match self.find_type(id)?.kind {
            TypeKind::Image(image) => Ok(image),
            TypeKind::SampledImage { image } => self.image_of(image),
            _ => refuse!("%{id} is not a type of images"),
        }
    }
}

fn leaf(kind: TypeKind, text: &str, size: u64) -> Type {
    Type { kind, text: text.into(), size, align: size.max(1), depth: 1 }
}

fn read_int(mut operands: Operands<'_>) -> Attempt<Type> {
    let width = operands.take_literal()?;
    match width {
        8 | 16 | 32 | 64 => Ok(leaf(TypeKind::Int(width), &format!("i{width}"), u64::from(width) / 8)),
        _ => refuse!("an integer of {width} bits; kernels have those of 8, 16, 32 and 64"),
    }
}

fn read_float(mut operands: Operands<'_>) -> Attempt<Type> {
    let width = operands.take_literal()?;
    if let Some(encoding) = operands.take_optional_literal() {
        refuse!("a floating-point number in encoding {encoding}; only those of IEEE 754 are supported");
    }
    match width {
        16 => Ok(leaf(TypeKind::Float(16), "half", 2)),
        32 => Ok(leaf(TypeKind::Float(32), "float", 4)),
        64 => Ok(leaf(TypeKind::Float(64), "double", 8)),
        _ => refuse!("a floating-point number of {width} bits; kernels have those of 16, 32 and 64"),
    }
}

fn read_pipe(mut operands: Operands<'_>) -> Attempt<Type> {
    let is_written = match AccessQualifier::from_u32(operands.take_literal()?) {
        Some(AccessQualifier::ReadOnly) => false,
        Some(AccessQualifier::WriteOnly) => true,
        _ => refuse!("a pipe that is neither read nor written"),
    };
    Ok(leaf(TypeKind::Pipe { is_written }, "ptr addrspace(1)", 8))
}
