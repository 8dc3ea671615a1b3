//! The objects that the driver has in its list for debuggers, read as a debugger does.

use gimli::{EndianSlice, LittleEndian, Relocate, RelocateReader};
use libloading::os::unix::{Library, RTLD_LAZY};
use lockstep_conformance::loader;
use object::read::RelocationMap;
use object::{Object, ObjectSection, ObjectSymbol};

/// `struct jit_code_entry` of GDB's JIT interface.
#[repr(C)]
struct Entry {
    next: *const Entry,
    previous: *const Entry,
    object: *const u8,
    object_bytes: u64,
}

/// `struct jit_descriptor` of GDB's JIT interface.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *const Entry,
    first: *const Entry,
}

/// The objects in the list, the one that was registered last first.
pub fn read_list() -> Vec<Vec<u8>> {
    // SAFETY: the driver is loaded already; opening it once more runs nothing.
    let driver = unsafe { Library::open(Some(loader::driver_library()), RTLD_LAZY) }.expect("the driver is there");
    // SAFETY: the interface says what the symbol is. Nobody changes the list: all commands have ended, and objects are released here.
    unsafe {
        let function = driver.get::<unsafe extern "C" fn()>(b"__jit_debug_register_code\0");
        assert!(function.is_ok(), "debuggers have where to stop");
        let descriptor = &**driver.get::<*const Descriptor>(b"__jit_debug_descriptor\0").expect("the list is exported");
        assert_eq!((descriptor.version, descriptor.action), (1, 0));
        let mut objects = Vec::new();
        let (mut next, mut previous) = (descriptor.first, std::ptr::null());
        while let Some(entry) = next.as_ref() {
            assert_eq!(entry.previous, previous, "the list leads back");
            objects.push(std::slice::from_raw_parts(entry.object, entry.object_bytes as usize).to_vec());
            (next, previous) = (entry.next, next);
        }
        objects
    }
}

/// What an object says of a kernel's code.
#[derive(Debug)]
pub struct DescribedCode {
    /// The functions in its table of symbols, with the addresses where they begin.
    pub functions: Vec<(String, u64)>,
    /// The functions in its debug information.
    pub debug_names: Vec<String>,
    /// The rows of its line table: address, file and line.
    pub lines: Vec<(u64, String, u64)>,
}

/// The relocations of a section, for a reader of debug information.
#[derive(Clone, Copy, Debug)]
struct Relocations<'a>(&'a RelocationMap);

impl Relocate for Relocations<'_> {
    fn relocate_address(&self, offset: usize, value: u64) -> gimli::Result<u64> {
        Ok(self.0.relocate(offset as u64, value))
    }

    fn relocate_offset(&self, offset: usize, value: usize) -> gimli::Result<usize> {
        Ok(self.0.relocate(offset as u64, value as u64) as usize)
    }
}

type DebugReader<'a> = RelocateReader<EndianSlice<'a, LittleEndian>, Relocations<'a>>;

impl DescribedCode {
    /// Reads an object whose sections have their addresses.
    pub fn read_object(bytes: &[u8]) -> DescribedCode {
        let file = object::File::parse(bytes).expect("it is an object");
        let text_address = file.section_by_name(".text").expect("it has code").address();
        let functions = file
            .symbols()
            .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.is_definition())
            .map(|symbol| (symbol.name().expect("a name").to_owned(), text_address + symbol.address()))
            .collect();
        let sections: Vec<(&str, &[u8], RelocationMap)> = file
            .sections()
            .filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug_")))
            .map(|section| {
                let relocations = section.relocation_map().expect("relocations that debuggers know");
                (section.name().expect("a name"), section.data().expect("its bytes"), relocations)
            })
            .collect();
        let no_relocations = RelocationMap::default();
        let dwarf = gimli::Dwarf::load(|id| -> gimli::Result<DebugReader<'_>> {
            let section = sections.iter().find(|(name, ..)| *name == id.name());
            let (data, relocations) = section.map_or((&[][..], &no_relocations), |(_, data, map)| (data, map));
            Ok(RelocateReader::new(EndianSlice::new(data, LittleEndian), Relocations(relocations)))
        });
        let mut code = DescribedCode { functions, debug_names: Vec::new(), lines: Vec::new() };
        code.read_debug_information(&dwarf.expect("sections"), text_address).expect("debug information");
        code
    }

    fn read_debug_information(
        &mut self,
        dwarf: &gimli::Dwarf<DebugReader<'_>>,
        text_address: u64,
    ) -> gimli::Result<()> {
        let to_text = |text: DebugReader<'_>| String::from_utf8_lossy(text.inner().slice()).into_owned();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            let mut entries = unit.entries();
            while let Some(entry) = entries.next_dfs()? {
                if entry.tag() == gimli::DW_TAG_subprogram
                    && let Some(name) = entry.attr_value(gimli::DW_AT_name)
                {
                    self.debug_names.push(to_text(dwarf.attr_string(&unit, name)?));
                }
            }
            let Some(program) = unit.line_program.clone() else { continue };
            let mut rows = program.rows();
            while let Some((header, row)) = rows.next_row()? {
                let (Some(file), Some(line)) = (row.file(header), row.line()) else { continue };
                let file_name = to_text(dwarf.attr_string(&unit, file.path_name())?);
                self.lines.push((text_address + row.address(), file_name, line.get()));
            }
        }
        Ok(())
    }
}
