//! The OpenCL C built-in library as LLVM bitcode (target `spir64`), compiled from `cl/` by the build script.
//!
//! The library is cut into chapters, each a bitcode module that needs no other chapter. A program that calls built-ins
//! opens only the chapters [`chapter_of`] names for its undefined functions and links them; all definitions are
//! `linkonce_odr`, so a link takes over only what is called. What a chapter itself leaves undefined are LLVM intrinsics
//! and the `__lockstep_*` primitives of `cl/lockstep.h`, which the compiler turns into instructions.

#[path = "../build/opaque.rs"]
mod opaque;
pub use opaque::without_opaque_types;

/// One bitcode module of the library.
#[derive(Debug)]
pub struct Chapter {
    /// The chapter's name, as in `cl/<name>.cl`.
    pub name: &'static str,
    /// The module, for `LLVMGetBitcodeModuleInContext2`.
    pub bitcode: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// What programs see of functions of the library that clang does not declare by itself, as OpenCL C. It goes by the macros of
/// extensions and stands after clang's base header.
pub const PROGRAM_DECLARATIONS: &str = include_str!("../cl/program_declarations.h");

/// What the names of chapters end with that are for kernels which ask for the size of their sub-groups.
const SIZED: &str = "_sized";

/// What the names of chapters end with that are for machines whose registers hold tables.
const TABLES: &str = "_tables";

impl Chapter {
    /// The chapter that defines the same functions for programs with kernels that ask for the size of their sub-groups. It
    /// may call `__lockstep_sub_group_size`.
    pub fn for_any_sub_group_size(&'static self) -> &'static Chapter {
        self.form(SIZED)
    }

    /// The chapter that defines the same functions for machines whose registers hold tables. It may call
    /// `__lockstep_powered`.
    pub fn for_tables(&'static self) -> &'static Chapter {
        self.form(TABLES)
    }

    /// The form whose name has an ending, or the only one.
    fn form(&'static self, ending: &str) -> &'static Chapter {
        let is_form = |chapter: &&Chapter| chapter.name.strip_suffix(ending) == Some(self.name);
        CHAPTERS.iter().find(is_form).unwrap_or(self)
    }
}

/// Every chapter of the library.
pub fn chapters() -> &'static [Chapter] {
    CHAPTERS
}

/// The chapter that defines the function with this mangled name.
pub fn chapter_of(symbol: &str) -> Option<&'static Chapter> {
    let (mut low, mut high) = (0, CHAPTER_OF.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match name(middle).cmp(symbol) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => {
                return Some(&CHAPTERS[usize::from(CHAPTER_OF[middle])]);
            }
        }
    }
    None
}

/// The mangled names of all built-ins, sorted.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    (0..CHAPTER_OF.len()).map(name)
}

fn name(index: usize) -> &'static str {
    &NAMES[STARTS[index] as usize..STARTS[index + 1] as usize]
}
