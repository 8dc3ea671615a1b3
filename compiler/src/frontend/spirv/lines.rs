//! Source lines: what `OpLine` and debug information ([`debug_info`](super::debug_info)) say becomes the locations of LLVM's debug information, where somebody asked for them.
//!
//! A function has locations if one of its instructions has a line; then all of its instructions do, as LLVM wants of calls. Those that the
//! module says nothing of are of line 0.

use std::collections::HashMap;

use super::ids::IdMap;
use super::source_line::SourceLine;

/// The lines of a module, and where in the module its translation is.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Whether the text has locations.
    pub are_wanted: bool,
    /// The line of the instruction that is translated.
    pub current: Option<SourceLine>,
    /// The node of the function, if it has locations.
    pub scope: Option<usize>,
    /// The node of the unit that all functions belong to.
    pub unit: Option<usize>,
    pub files: IdMap<usize>,
    locations: HashMap<(usize, SourceLine), usize>,
}

impl Lines {
    /// What stands after an instruction: its location, if it has one.
    pub fn spell_location(&mut self, metadata: &mut Vec<String>) -> String {
        let Some(scope) = self.scope else { return String::new() };
        let line = self.current.unwrap_or_default();
        let node = *self.locations.entry((scope, line)).or_insert_with(|| {
            let SourceLine { line, column, .. } = line;
            metadata.push(format!("!DILocation(line: {line}, column: {column}, scope: !{scope})"));
            metadata.len() - 1
        });
        format!(", !dbg !{node}")
    }

    /// Ends the function: what follows has no locations.
    pub fn end_scope(&mut self) {
        self.scope = None;
    }

    /// The module's lists of nodes that LLVM looks for.
    pub fn spell_lists(&self, metadata: &mut Vec<String>) -> String {
        let Some(unit) = self.unit else { return String::new() };
        metadata.push("!{i32 2, !\"Debug Info Version\", i32 3}".to_owned());
        format!("!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{}}}\n", metadata.len() - 1)
    }
}
