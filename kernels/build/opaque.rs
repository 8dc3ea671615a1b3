//! Images, samplers, pipes and events in textual LLVM IR: clang's opaque types become what the driver hands over.
//!
//! An image is the address of a record in the argument block, a sampler is a number. With types that LLVM knows nothing
//! of, a sampler that is a constant could not be one in the functions that it is given to. An asynchronous copy is complete when
//! its event exists, so that an event is any number.

/// The text with types of the driver's own. They are the same in programs and in the library, which link then.
pub fn without_opaque_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("target(\"spirv.") {
        out.push_str(&rest[..start]);
        let name = &rest[start + "target(\"spirv.".len()..];
        let replacement = if name.starts_with("Sampler\"") {
            "i32"
        } else if name.starts_with("Image\"") {
            "ptr addrspace(2)"
        } else if name.starts_with("Pipe\"") {
            "ptr addrspace(1)"
        } else if name.starts_with("ReserveId\"") || name.starts_with("Event\"") {
            "i64"
        } else {
            // Of these nothing can be made: to be kept.
            out.push_str(&rest[start..start + "target(".len()]);
            rest = &rest[start + "target(".len()..];
            continue;
        };
        out.push_str(replacement);
        rest = name.find(')').map_or("", |end| &name[end + 1..]);
    }
    out.push_str(rest);
    out
}
