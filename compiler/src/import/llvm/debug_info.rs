//! Questions to ask of debug information: where the user wrote a kernel and its instructions.

use super::{Value, copy_bytes};
use llvm_sys::core::{LLVMGetBasicBlockParent, LLVMGetInstructionParent};
use llvm_sys::debuginfo::{
    LLVMDIFileGetDirectory, LLVMDIFileGetFilename, LLVMDILocationGetColumn, LLVMDILocationGetInlinedAt,
    LLVMDILocationGetLine, LLVMDILocationGetScope, LLVMDIScopeGetFile, LLVMDISubprogramGetLine, LLVMGetSubprogram,
    LLVMInstructionGetDebugLoc,
};
use llvm_sys::prelude::{LLVMMetadataRef, LLVMValueRef};
use lockstep_ir::ir::{Definition, SourceLoc};
use std::ffi::{c_char, c_uint};

impl Value<'_> {
    /// Where an instruction comes from: what was inlined from another file counts as its call. Zeros where that is not known.
    pub fn debug_location(self) -> SourceLoc {
        if !self.is_instruction() {
            return SourceLoc::default();
        }
        // SAFETY: an instruction of a function; locations, scopes and files are asked only where there are some.
        unsafe {
            let innermost = LLVMInstructionGetDebugLoc(self.0);
            if innermost.is_null() {
                return SourceLoc::default();
            }
            let function_file = file_of_function(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.0)));
            let mut location = innermost;
            while LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) != function_file {
                let call_location = LLVMDILocationGetInlinedAt(location);
                if call_location.is_null() {
                    location = innermost;
                    break;
                }
                location = call_location;
            }
            SourceLoc { line: LLVMDILocationGetLine(location), column: LLVMDILocationGetColumn(location) }
        }
    }

    /// Where a function stands in its source.
    pub fn definition(self) -> Option<Definition> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function; file and line are asked only where there are some.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            let file = file_of_function(self.0);
            (!file.is_null()).then(|| Definition {
                file: read_text(file, LLVMDIFileGetFilename),
                folder: read_text(file, LLVMDIFileGetDirectory),
                line: LLVMDISubprogramGetLine(subprogram),
            })
        }
    }

    /// The line where a function is defined; 0 when unknown.
    pub fn function_line(self) -> u32 {
        self.definition().map_or(0, |definition| definition.line)
    }
}

/// The file that a function is from; null where that is not known.
///
/// # Safety
/// It is a function of a module that is alive.
unsafe fn file_of_function(function: LLVMValueRef) -> LLVMMetadataRef {
    // SAFETY: as the caller promises; the file is asked only of a description that there is.
    unsafe {
        let subprogram = LLVMGetSubprogram(function);
        if subprogram.is_null() { subprogram } else { LLVMDIScopeGetFile(subprogram) }
    }
}

/// A text of a file's description.
///
/// # Safety
/// The description is of a module that is alive, and `ask` gives a text of it with its length.
unsafe fn read_text(
    file: LLVMMetadataRef,
    ask: unsafe extern "C" fn(LLVMMetadataRef, *mut c_uint) -> *const c_char,
) -> String {
    let mut length = 0;
    // SAFETY: as the caller promises.
    let start = unsafe { ask(file, &mut length) };
    String::from_utf8_lossy(&copy_bytes(start, length as usize)).into_owned()
}
