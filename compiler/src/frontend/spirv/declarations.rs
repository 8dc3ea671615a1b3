//! What a module says of its ids before it comes to types and code: names, decorations, entry points and their modes.
//!
//! All of it is read before anything is written, and with it the parameters of each function, as calls may come before the
//! function that is called.

use std::collections::{HashMap, HashSet};

use lockstep_protocol::spirv_support::{INSTRUCTION_SETS, MEANINGLESS_SETS, OPENCL_INSTRUCTIONS};
use spirv::{Decoration, ExecutionMode, ExecutionModel, FunctionParameterAttribute, LinkageType, Op};

use super::capabilities::{check_capability, check_extension};
use super::debug_info::{DebugInfo, DebugSet, LineChange, find_debug_set};
use super::error::{Attempt, refuse};
use super::ids::{Id, IdMap, IdSet};
use super::operands::Operands;
use super::source_line::SourceLine;

/// A decoration and its operands.
type Decorated = (Decoration, Vec<u32>);

/// A set of instructions that a module imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstructionSet {
    /// `OpenCL.std`: the built-in functions of OpenCL C.
    OpenCl,
    /// One of debug information, of which lines are read.
    Debug(DebugSet),
    /// Another one that says nothing of what a program does.
    WithoutMeaning,
}

/// A kernel under the name that the host knows it by.
#[derive(Clone, Debug)]
pub(super) struct EntryPoint {
    pub function: Id,
    pub name: String,
}

/// A function's declaration.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Its function control.
    pub control: u32,
    pub function_type: Id,
    pub parameters: Vec<Id>,
    pub has_body: bool,
}

/// How another module knows a function or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linkage {
    pub name: String,
    pub kind: LinkageType,
}

/// An execution mode and its operands; ids where it is one of `…Id`.
#[derive(Clone, Debug)]
pub(super) struct Mode {
    pub mode: ExecutionMode,
    pub operands: Vec<u32>,
}

/// All that a module says of its ids.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    pub names: IdMap<String>,
    pub strings: IdMap<String>,
    pub sets: IdMap<InstructionSet>,
    pub entry_points: Vec<EntryPoint>,
    /// The names of the entry points of each function.
    kernels_of: IdMap<Vec<String>>,
    /// The names of the entry points.
    pub kernel_names: HashSet<String>,
    pub modes: IdMap<Vec<Mode>>,
    /// Whether an entry point wants products and sums apart (`ContractionOff`).
    keeps_products: bool,
    /// The types of kernels' arguments as their source has them, by the kernel's name. LLVM's back end tells them by a text.
    pub argument_types: HashMap<String, String>,
    pub signatures: IdMap<Signature>,
    decorations: IdMap<Vec<Decorated>>,
    linkage: IdMap<Linkage>,
    /// The first line that the instructions of each function have.
    first_lines: IdMap<SourceLine>,
    debug_info: DebugInfo,
    /// Whether the module imports a set of debug information.
    has_debug_info: bool,
    /// Functions that the module calls or takes the address of.
    called_functions: IdSet,
    /// The function whose parameters are being read.
    current_function: Option<Id>,
}

impl Declarations {
    /// Reads one instruction, if it declares something. All instructions of a module are read in their order.
    pub fn read_declaration(&mut self, opcode: Op, mut operands: Operands<'_>) -> Attempt<()> {
        match opcode {
            Op::Capability => check_capability(operands.take_literal()?)?,
            Op::Extension => check_extension(&operands.take_string()?)?,
            Op::ExtInstImport => self.import_set(operands)?,
            Op::MemoryModel => check_memory_model(operands)?,
            Op::EntryPoint => self.add_entry_point(operands)?,
            Op::ExecutionMode | Op::ExecutionModeId => self.add_mode(operands)?,
            Op::String => self.add_string(operands.take_id()?, operands.take_string()?),
            Op::Name => _ = self.names.insert(operands.take_id()?, operands.take_string()?),
            Op::Decorate | Op::DecorateId => {
                let target = operands.take_id()?;
                self.add_decoration(target, operands)?;
            }
            Op::Line => {
                let [file, line, column] = [operands.take_id()?, operands.take_literal()?, operands.take_literal()?];
                self.note_line(SourceLine { file, line, column });
            }
            Op::Constant if self.has_debug_info => {
                operands.take_id()?;
                if let (id, &[number]) = (operands.take_id()?, operands.take_literals()) {
                    self.debug_info.add_number(id, number);
                }
            }
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => self.read_debug_info(operands)?,
            Op::FunctionCall | Op::ConstantFunctionPointerINTEL => {
                operands.take_result()?;
                self.called_functions.insert(operands.take_id()?);
            }
            Op::FunctionEnd => self.current_function = None,
            Op::GroupDecorate => self.decorate_group(operands)?,
            Op::Function => self.begin_function(operands)?,
            Op::FunctionParameter => self.add_parameter(operands)?,
            Op::Label => {
                let current = self.current_function.and_then(|function| self.signatures.get_mut(&function));
                if let Some(signature) = current {
                    signature.has_body = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_string(&mut self, id: Id, text: String) {
        let written = text.strip_prefix("kernel_arg_type.").and_then(|rest| rest.rsplit_once('.'));
        if let Some((kernel, types)) = written {
            self.argument_types.insert(kernel.to_owned(), types.to_owned());
        }
        self.strings.insert(id, text);
    }

    fn import_set(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let (id, name) = (operands.take_id()?, operands.take_string()?);
        let set = match name.as_str() {
            OPENCL_INSTRUCTIONS => InstructionSet::OpenCl,
            known if let Some(set) = find_debug_set(known) => {
                self.has_debug_info = true;
                InstructionSet::Debug(set)
            }
            known if INSTRUCTION_SETS.contains(&known) => InstructionSet::WithoutMeaning,
            _ if name.starts_with(MEANINGLESS_SETS) => InstructionSet::WithoutMeaning,
            _ => refuse!("the instructions of {name} are not supported"),
        };
        self.sets.insert(id, set);
        Ok(())
    }

    /// Reads what an instruction of a set tells of lines.
    fn read_debug_info(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let (_, id) = operands.take_result()?;
        let (set, number) = (operands.take_id()?, operands.take_literal()?);
        let Some(&InstructionSet::Debug(set)) = self.sets.get(&set) else { return Ok(()) };
        let words = operands.take_literals();
        self.debug_info.add_description(set, id, number, words, self.current_function);
        if let Some(LineChange::Line(line)) = self.debug_info.find_change(set, number, words) {
            self.note_line(line);
        }
        Ok(())
    }

    fn note_line(&mut self, line: SourceLine) {
        if let Some(function) = self.current_function {
            self.first_lines.entry(function).or_insert(line);
        }
    }

    /// What an instruction of a function says of the lines of those that follow it. Words are those of `OpExtInst` behind its first.
    pub fn find_line_change(&self, words: &[u32], function: Option<Id>) -> Option<LineChange> {
        let &[_, _, set, number, ref operands @ ..] = words else { return None };
        let Some(&InstructionSet::Debug(set)) = self.sets.get(&set) else { return None };
        let change = self.debug_info.find_change(set, number, operands)?;
        // Where instructions have lines, their scopes say less.
        let has_lines = function.is_some_and(|function| self.first_lines.contains_key(&function));
        (!has_lines || !matches!(change, LineChange::Scope(_))).then_some(change)
    }

    /// Where a function begins in its source, if its instructions have no lines.
    pub fn find_scope_line(&self, function: Id) -> Option<SourceLine> {
        if self.first_lines.contains_key(&function) { None } else { self.debug_info.line_of_function(function) }
    }

    /// The first line of a function: that of its instructions, or that where it begins in the source.
    pub fn first_line(&self, function: Id) -> Option<SourceLine> {
        self.first_lines.get(&function).copied().or_else(|| self.debug_info.line_of_function(function))
    }

    fn add_entry_point(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let model = operands.take_literal()?;
        if ExecutionModel::from_u32(model) != Some(ExecutionModel::Kernel) {
            refuse!("an entry point of execution model {model}; OpenCL has kernels only");
        }
        let (function, name) = (operands.take_id()?, operands.take_string()?);
        if name.is_empty() || !self.kernel_names.insert(name.clone()) {
            refuse!("there is another kernel of the name '{name}', or it has none");
        }
        self.kernels_of.entry(function).or_default().push(name.clone());
        self.entry_points.push(EntryPoint { function, name });
        Ok(())
    }

    fn add_mode(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let (function, number) = (operands.take_id()?, operands.take_literal()?);
        let Some(mode) = ExecutionMode::from_u32(number) else { refuse!("there is no execution mode {number}") };
        match mode {
            ExecutionMode::LocalSize
            | ExecutionMode::LocalSizeId
            | ExecutionMode::LocalSizeHint
            | ExecutionMode::LocalSizeHintId
            | ExecutionMode::VecTypeHint
            | ExecutionMode::SubgroupSize
            | ExecutionMode::ContractionOff
            | ExecutionMode::DenormPreserve
            | ExecutionMode::SignedZeroInfNanPreserve
            | ExecutionMode::RoundingModeRTE => {}
            _ if is_hint(mode, operands)? => return Ok(()),
            _ => refuse!("the execution mode {mode:?} is not supported"),
        }
        self.keeps_products |= mode == ExecutionMode::ContractionOff;
        let operands = operands.take_literals().to_vec();
        self.modes.entry(function).or_default().push(Mode { mode, operands });
        Ok(())
    }

    fn add_decoration(&mut self, target: Id, mut operands: Operands<'_>) -> Attempt<()> {
        let number = operands.take_literal()?;
        // A decoration that is not known says how fast or in which order something is done; what it means for results would be a
        // capability.
        let Some(decoration) = Decoration::from_u32(number) else { return Ok(()) };
        if decoration == Decoration::LinkageAttributes {
            let name = operands.take_string()?;
            let kind = operands.take_literal()?;
            let Some(kind) = LinkageType::from_u32(kind) else { refuse!("there is no linkage {kind}") };
            check_linkage(&name, kind)?;
            self.linkage.insert(target, Linkage { name, kind });
            return Ok(());
        }
        self.decorations.entry(target).or_default().push((decoration, operands.take_literals().to_vec()));
        Ok(())
    }

    /// Gives each id of a list what a group was decorated with.
    fn decorate_group(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let group = operands.take_id()?;
        let decorations = self.decorations.get(&group).cloned().unwrap_or_default();
        // Each instruction repeats the group's decorations as often as it has words, which stays linear only for small groups.
        if decorations.len() > 64 {
            refuse!("a group of {} decorations; 64 are allowed", decorations.len());
        }
        for target in operands.take_ids()? {
            self.decorations.entry(target).or_default().extend(decorations.iter().cloned());
        }
        Ok(())
    }

    fn begin_function(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let (_, function) = operands.take_result()?;
        let (control, function_type) = (operands.take_literal()?, operands.take_id()?);
        let signature = Signature { control, function_type, ..Signature::default() };
        if self.signatures.insert(function, signature).is_some() {
            refuse!("%{function} is declared twice");
        }
        self.current_function = Some(function);
        Ok(())
    }

    fn add_parameter(&mut self, mut operands: Operands<'_>) -> Attempt<()> {
        let (_, parameter) = operands.take_result()?;
        let current = self.current_function.and_then(|function| self.signatures.get_mut(&function));
        let Some(signature) = current.filter(|signature| !signature.has_body) else {
            refuse!("a parameter outside of a function's beginning");
        };
        signature.parameters.push(parameter);
        Ok(())
    }

    /// The operands of a decoration of an id, if it has that.
    pub fn decoration(&self, id: Id, wanted: Decoration) -> Option<&[u32]> {
        let decorations = self.decorations.get(&id)?;
        decorations.iter().find(|(decoration, _)| *decoration == wanted).map(|(_, operands)| operands.as_slice())
    }

    /// Whether an id has a decoration.
    pub fn is_decorated(&self, id: Id, wanted: Decoration) -> bool {
        self.decoration(id, wanted).is_some()
    }

    /// The first operand of a decoration of an id, if it has that.
    pub fn decoration_number(&self, id: Id, wanted: Decoration) -> Option<u32> {
        self.decoration(id, wanted)?.first().copied()
    }

    /// Whether a function's parameter has an attribute.
    pub fn has_attribute(&self, parameter: Id, attribute: FunctionParameterAttribute) -> bool {
        let decorations = self.decorations.get(&parameter).map(Vec::as_slice).unwrap_or_default();
        let is_attribute = |(decoration, operands): &Decorated| {
            *decoration == Decoration::FuncParamAttr && operands.first() == Some(&(attribute as u32))
        };
        decorations.iter().any(is_attribute)
    }

    /// How other modules know an id, if they do.
    pub fn find_linkage(&self, id: Id) -> Option<&Linkage> {
        self.linkage.get(&id)
    }

    /// The kernel that a function is, if it is that and nothing else: one entry point's, and nobody calls it.
    pub fn find_sole_kernel(&self, function: Id) -> Option<&str> {
        if self.called_functions.contains(&function) || self.linkage.contains_key(&function) {
            return None;
        }
        match self.kernels_of.get(&function)?.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }

    /// Whether products and sums of one expression may become one operation.
    pub fn may_contract(&self) -> bool {
        !self.keeps_products
    }
}

/// Whether an execution mode only says what the application will not do or what the kernel is likely to want, with its numbers
/// (`SPV_INTEL_kernel_attributes`): nothing here depends on it.
fn is_hint(mode: ExecutionMode, mut operands: Operands<'_>) -> Attempt<bool> {
    let count = match mode {
        ExecutionMode::MaxWorkgroupSizeINTEL => 3,
        ExecutionMode::NoGlobalOffsetINTEL => 0,
        ExecutionMode::MaxWorkDimINTEL
        | ExecutionMode::NumSIMDWorkitemsINTEL
        | ExecutionMode::SchedulerTargetFmaxMhzINTEL
        | ExecutionMode::StreamingInterfaceINTEL => 1,
        _ => return Ok(false),
    };
    let given = operands.take_literals().len();
    if given != count {
        refuse!("the execution mode {mode:?} has {given} numbers, where {count} are needed");
    }
    Ok(true)
}

fn check_memory_model(mut operands: Operands<'_>) -> Attempt<()> {
    use spirv::{AddressingModel, MemoryModel};
    let (addressing, memory) = (operands.take_literal()?, operands.take_literal()?);
    match AddressingModel::from_u32(addressing) {
        Some(AddressingModel::Physical64) => {}
        Some(AddressingModel::Physical32) => {
            refuse!("the module has addresses of 32 bits (Physical32); this device's have 64")
        }
        _ => refuse!("addressing model {addressing} is not one of OpenCL's"),
    }
    if MemoryModel::from_u32(memory) != Some(MemoryModel::OpenCL) {
        refuse!("memory model {memory} is not OpenCL's");
    }
    Ok(())
}

/// Names that belong to the compiler are not for programs to define.
fn check_linkage(name: &str, kind: LinkageType) -> Attempt<()> {
    let is_own = name.starts_with("__lockstep_");
    if is_own || (kind != LinkageType::Import && name.starts_with("llvm.")) {
        refuse!("the name {name} is the compiler's own");
    }
    if name.is_empty() {
        refuse!("a name for other modules that is empty");
    }
    Ok(())
}
