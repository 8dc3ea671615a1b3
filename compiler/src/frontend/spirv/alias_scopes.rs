//! Alias scopes (`SPV_INTEL_memory_access_aliasing`): which accesses share no memory. They are LLVM's own, whose model the extension
//! took over: scopes are of a domain, and accesses name lists of scopes.

use spirv::{Decoration, Op};

use super::error::{Attempt, refuse};
use super::ids::Id;
use super::translator::Translator;

/// `OpAliasDomainDeclINTEL`, `OpAliasScopeDeclINTEL` and `OpAliasScopeListDeclINTEL`: a node for each. Names are left out.
pub(super) fn declare_scopes(translator: &mut Translator<'_>, opcode: Op, words: &[u32]) -> Attempt<()> {
    let mut operands = translator.operands(words);
    let id = operands.take_id()?;
    let node = translator.metadata.len();
    let text = match opcode {
        Op::AliasDomainDeclINTEL => format!("distinct !{{!{node}}}"),
        Op::AliasScopeDeclINTEL => {
            let domain = find_node(translator, operands.take_id()?, Op::AliasDomainDeclINTEL)?;
            format!("distinct !{{!{node}, !{domain}}}")
        }
        _ => {
            let mut scopes = Vec::new();
            for scope in operands.take_ids()? {
                scopes.push(format!("!{}", find_node(translator, scope, Op::AliasScopeDeclINTEL)?));
            }
            format!("!{{{}}}", scopes.join(", "))
        }
    };
    translator.metadata.push(text);
    if translator.alias_scopes.insert(id, (opcode, node)).is_some() {
        refuse!("%{id} is defined twice");
    }
    Ok(())
}

/// The node of a list of scopes.
pub(super) fn find_scope_list(translator: &Translator<'_>, id: Id) -> Attempt<usize> {
    find_node(translator, id, Op::AliasScopeListDeclINTEL)
}

/// What stands behind a call or an atomic operation whose result is decorated with lists of scopes.
pub(super) fn spell_decorated_scopes(translator: &Translator<'_>, result: Id) -> Attempt<String> {
    let mut text = String::new();
    // Most modules have none.
    if translator.alias_scopes.is_empty() {
        return Ok(text);
    }
    for (decoration, kind) in [(Decoration::AliasScopeINTEL, "alias.scope"), (Decoration::NoAliasINTEL, "noalias")] {
        if let Some(list) = translator.declarations.decoration_number(result, decoration) {
            text.push_str(&format!(", !{kind} !{}", find_scope_list(translator, list)?));
        }
    }
    Ok(text)
}

/// The node that an instruction of this kind declared.
fn find_node(translator: &Translator<'_>, id: Id, declared_by: Op) -> Attempt<usize> {
    match translator.alias_scopes.get(&id) {
        Some(&(opcode, node)) if opcode == declared_by => Ok(node),
        _ => refuse!("%{id} was not declared before by Op{declared_by:?}"),
    }
}
