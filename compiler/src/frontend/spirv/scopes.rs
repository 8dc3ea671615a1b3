//! The functions of a module as debug information has them.

use super::ids::Id;
use super::translator::{Translator, quote_name};

/// Begins a function of this name, whose lines are those of a function of the module. Gives what stands in its head.
pub(super) fn begin_scope(translator: &mut Translator<'_>, function: Id, name: &str) -> String {
    let first = translator.declarations.first_line(function);
    let Some(first) = first.filter(|_| translator.lines.are_wanted) else { return String::new() };
    let file = find_file(translator, first.file);
    let unit = match translator.lines.unit {
        Some(unit) => unit,
        None => {
            let words = "language: DW_LANG_OpenCL, isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly";
            let unit = add_node(translator, format!("distinct !DICompileUnit(file: !{file}, {words})"));
            translator.lines.unit = Some(unit);
            unit
        }
    };
    let types = add_node(translator, "!{}".to_owned());
    let function_type = add_node(translator, format!("!DISubroutineType(types: !{types})"));
    let (name, line) = (quote_name(name), first.line);
    let words = format!("name: {name}, scope: !{file}, file: !{file}, line: {line}, type: !{function_type}");
    let scope =
        add_node(translator, format!("distinct !DISubprogram({words}, spFlags: DISPFlagDefinition, unit: !{unit})"));
    translator.lines.scope = Some(scope);
    format!(" !dbg !{scope}")
}

fn find_file(translator: &mut Translator<'_>, id: Id) -> usize {
    if let Some(&file) = translator.lines.files.get(&id) {
        return file;
    }
    let name = translator.declarations.strings.get(&id).map_or("?", String::as_str);
    let node = format!("!DIFile(filename: {}, directory: \"\")", quote_name(name));
    let file = add_node(translator, node);
    translator.lines.files.insert(id, file);
    file
}

fn add_node(translator: &mut Translator<'_>, node: String) -> usize {
    translator.metadata.push(node);
    translator.metadata.len() - 1
}

#[cfg(test)]
mod tests {
    use lockstep_spirv_assembler::assemble_module;

    use super::super::{TextOptions, translate_module};

    const MODULE: &str = "OpCapability Addresses\nOpCapability Kernel\nOpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %f \"f\"\n%file = OpString \"sums.cl\"
        %void = OpTypeVoid\n%int = OpTypeInt 32 0\n%one = OpConstant %int 1\n%type = OpTypeFunction %void
        %f = OpFunction %void None %type\n%start = OpLabel\nOpLine %file 12 3\n%sum = OpIAdd %int %one %one
        OpNoLine\nOpReturn\nOpFunctionEnd";

    fn translate(source_lines: bool) -> String {
        let options = TextOptions { source_lines, ..TextOptions::default() };
        translate_module(&assemble_module(MODULE, (1, 0)), &[], options).expect("the module is right")
    }

    /// The node that an instruction refers to.
    fn location_of<'t>(text: &'t str, instruction: &str) -> &'t str {
        let line = text.lines().find(|line| line.contains(instruction)).expect("the instruction");
        let (_, node) = line.rsplit_once("!dbg ").expect("a location");
        text.lines().find_map(|line| line.strip_prefix(&format!("{node} = "))).expect("the node")
    }

    #[test]
    fn instructions_have_the_lines_that_the_module_tells() {
        let text = translate(true);
        assert!(location_of(&text, "= add").starts_with("!DILocation(line: 12, column: 3, scope: !"), "{text}");
        assert!(location_of(&text, "ret void").starts_with("!DILocation(line: 0, column: 0, scope: !"), "{text}");
        assert!(text.contains("filename: \"sums.cl\"") && text.contains("!llvm.dbg.cu"), "{text}");
    }

    #[test]
    fn without_lines_there_is_no_debug_information() {
        assert!(!translate(false).contains("dbg"));
    }
}
