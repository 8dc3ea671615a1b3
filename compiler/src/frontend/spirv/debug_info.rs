//! Debug information of sets of instructions, `NonSemantic.Shader.DebugInfo.100` and `OpenCL.DebugInfo.100`: of all that they tell, the lines of the
//! source.
//!
//! `DebugLine` says as `OpLine` does where what follows is from. Functions whose instructions have neither are from the line of the scope
//! that they are in: a function or a block of the source.

use super::ids::{Id, IdMap};
use super::source_line::SourceLine;
/// Which of the sets an instruction is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DebugSet {
    /// Numbers are ids of constants.
    NonSemantic,
    /// Numbers are words, and lines of instructions are those of `OpLine`.
    OpenCl,
}

const DEBUG_FUNCTION: u32 = 20;
const DEBUG_LEXICAL_BLOCK: u32 = 21;
const DEBUG_SCOPE: u32 = 23;
const DEBUG_NO_SCOPE: u32 = 24;
const DEBUG_SOURCE: u32 = 35;
const DEBUG_FUNCTION_DEFINITION: u32 = 101;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// What an instruction says of those that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineChange {
    /// They are from this line.
    Line(SourceLine),
    /// Their line is not known.
    NoLine,
    /// They are within what begins at this line, if that is known.
    Scope(Option<SourceLine>),
}

/// What a module's debug information tells of lines.
#[derive(Debug, Default)]
pub(super) struct DebugInfo {
    /// Constants of one word.
    numbers: IdMap<u32>,
    /// The ids of files' names, by `DebugSource`.
    sources: IdMap<Id>,
    /// Where functions and blocks of the source begin, by what describes them.
    scopes: IdMap<SourceLine>,
    /// Where the functions of the module begin, by these.
    functions: IdMap<SourceLine>,
}

/// The set of this name, if it is one of debug information.
pub(super) fn find_debug_set(name: &str) -> Option<DebugSet> {
    if name == "OpenCL.DebugInfo.100" {
        return Some(DebugSet::OpenCl);
    }
    let families = ["NonSemantic.Shader.DebugInfo", "NonSemantic.Kernel.DebugInfo"];
    families.iter().any(|family| name.starts_with(family)).then_some(DebugSet::NonSemantic)
}

impl DebugInfo {
    /// Notes a constant of one word.
    pub fn add_number(&mut self, id: Id, number: u32) {
        self.numbers.insert(id, number);
    }

    /// Reads an instruction that describes something, under its id.
    pub fn add_description(&mut self, set: DebugSet, id: Id, number: u32, operands: &[u32], current: Option<Id>) {
        match (number, operands) {
            (DEBUG_SOURCE, &[file, ..]) => _ = self.sources.insert(id, file),
            (DEBUG_FUNCTION, &[_name, _type, source, line, column, ref rest @ ..]) => {
                let Some(begin) = self.find_line(set, source, line, column) else { return };
                self.scopes.insert(id, begin);
                // The parent, the linkage's name, flags, the body's line, and then the function.
                if let (DebugSet::OpenCl, &[_, _, _, _, function, ..]) = (set, rest) {
                    self.functions.insert(function, begin);
                }
            }
            (DEBUG_LEXICAL_BLOCK, &[source, line, column, ..]) => {
                if let Some(begin) = self.find_line(set, source, line, column) {
                    self.scopes.insert(id, begin);
                }
            }
            (DEBUG_FUNCTION_DEFINITION, &[described, function, ..]) if current == Some(function) => {
                if let Some(&begin) = self.scopes.get(&described) {
                    self.functions.insert(function, begin);
                }
            }
            _ => {}
        }
    }

    /// What an instruction says of those that follow it, if it does.
    pub fn find_change(&self, set: DebugSet, number: u32, operands: &[u32]) -> Option<LineChange> {
        match (number, operands) {
            (DEBUG_LINE, &[source, line, _last_line, column, ..]) if set == DebugSet::NonSemantic => {
                self.find_line(set, source, line, column).map(LineChange::Line)
            }
            (DEBUG_NO_LINE, _) if set == DebugSet::NonSemantic => Some(LineChange::NoLine),
            (DEBUG_SCOPE, &[scope, ..]) => self.scopes.get(&scope).map(|&begin| LineChange::Scope(Some(begin))),
            (DEBUG_NO_SCOPE, _) => Some(LineChange::Scope(None)),
            _ => None,
        }
    }

    /// Where a function of the module begins in its source.
    pub fn line_of_function(&self, function: Id) -> Option<SourceLine> {
        self.functions.get(&function).copied()
    }

    fn find_line(&self, set: DebugSet, source: Id, line: u32, column: u32) -> Option<SourceLine> {
        let number = |word: u32| match set {
            DebugSet::NonSemantic => self.numbers.get(&word).copied(),
            DebugSet::OpenCl => Some(word),
        };
        Some(SourceLine { file: *self.sources.get(&source)?, line: number(line)?, column: number(column)? })
    }
}

#[cfg(test)]
mod tests {
    use lockstep_spirv_assembler::assemble_module;

    use super::super::{TextOptions, translate_module};

    /// A module of a function with these instructions, and with descriptions of a set before it.
    fn assemble(set: &str, descriptions: &str, body: &str) -> Vec<u8> {
        let text = format!(
            "OpCapability Addresses\nOpCapability Kernel\nOpExtension \"SPV_KHR_non_semantic_info\"
            %debug = OpExtInstImport \"{set}\"\nOpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %f \"f\"
            %file = OpString \"sums.cl\"\n%void = OpTypeVoid\n%int = OpTypeInt 32 0\n%float = OpTypeFloat 32
            %one = OpConstant %int 1\n%twelve = OpConstant %int 12\n%thirty = OpConstant %int 30
            %real = OpConstant %float 1\n%type = OpTypeFunction %void\n%source = OpExtInst %void %debug 35 %file
            {descriptions}\n%f = OpFunction %void None %type\n%start = OpLabel\n{body}\nOpReturn\nOpFunctionEnd"
        );
        assemble_module(&text, (1, 4))
    }

    /// The lines of the instructions of a module, without those that only describe.
    fn lines_of(module: &[u8]) -> Vec<String> {
        let options = TextOptions { source_lines: true, ..TextOptions::default() };
        let text = translate_module(module, &[], options).expect("the module is right");
        let node_of = |line: &str| Some(line.rsplit_once(", !dbg ")?.1.to_owned());
        let nodes = text.lines().filter(|line| line.starts_with("  ")).filter_map(node_of);
        let location = |node: String| {
            let found = text.lines().find_map(|line| line.strip_prefix(&format!("{node} = !DILocation(line: ")));
            found.and_then(|found| found.split(',').next()).expect("the node is there").to_owned()
        };
        nodes.map(location).collect()
    }

    #[test]
    fn lines_are_those_of_instructions_of_the_set() {
        let body = "%a = OpIAdd %int %one %one\n%l = OpExtInst %void %debug 103 %source %twelve %twelve %one %one
            %b = OpIAdd %int %one %one\n%n = OpExtInst %void %debug 104\n%c = OpIAdd %int %one %one";
        let module = assemble("NonSemantic.Shader.DebugInfo.100", "", body);
        assert_eq!(lines_of(&module), ["0", "12", "0", "0"]);
        // Another set has other instructions of these numbers.
        assert_eq!(lines_of(&assemble("NonSemantic.Other", "", body)), [""; 0]);
        assert_eq!(lines_of(&assemble("OpenCL.DebugInfo.100", "", body)), [""; 0]);
    }

    #[test]
    fn functions_without_lines_are_where_their_scopes_are() {
        let block = "%g = OpExtInst %void %debug 21 %source 30 1 %d";
        let described =
            format!("%d = OpExtInst %void %debug 20 %file %void %source 12 3 %source %file 0 12 %f\n{block}");
        let body = "%s = OpExtInst %void %debug 23 %d\n%a = OpIAdd %int %one %one\n%t = OpExtInst %void %debug 23 %g
            %b = OpIAdd %int %one %one";
        assert_eq!(lines_of(&assemble("OpenCL.DebugInfo.100", &described, body)), ["12", "30", "30"]);
        // Without scopes, the function's own line; with lines, these alone.
        let bare = "%a = OpIAdd %int %one %one";
        assert_eq!(lines_of(&assemble("OpenCL.DebugInfo.100", &described, bare)), ["12", "12"]);
        let lined = format!("OpLine %file 7 1\n{body}");
        assert_eq!(lines_of(&assemble("OpenCL.DebugInfo.100", &described, &lined)), ["7", "7", "7"]);
        // Where numbers are ids, the function says itself which description is its own.
        let described = "%d = OpExtInst %void %debug 20 %file %void %source %twelve %one %source %file %one %twelve";
        let body =
            "%o = OpExtInst %void %debug 101 %d %f\n%s = OpExtInst %void %debug 23 %d\n%a = OpIAdd %int %one %one";
        let module = assemble("NonSemantic.Shader.DebugInfo.100", described, body);
        assert_eq!(lines_of(&module), ["12", "12"]);
    }

    #[test]
    fn errors_name_the_line() {
        let body = "%l = OpExtInst %void %debug 103 %source %thirty %thirty %one %one\n%a = OpIAdd %int %one %real";
        let module = assemble("NonSemantic.Shader.DebugInfo.100", "", body);
        let error = translate_module(&module, &[], TextOptions::default()).expect_err("it is wrong").to_string();
        assert!(error.starts_with("sums.cl:30: SPIR-V, word "), "{error}");
    }
}
