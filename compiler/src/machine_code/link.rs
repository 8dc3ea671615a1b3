//! Makes an image of an object file: code and constants at fixed distances from each other, calls out through slots.
//!
//! Requires: a relocatable ELF object for x86-64, position independent, of the small code model, without variables.
//! Ensures: a [`CodeImage`] that runs at any address, and where the object's sections are in it; what cannot be one is refused: what
//! the object writes to, absolute addresses, names that nobody has.
//! Phases: the sections that belong in memory get their places, code first; each name outside of the object gets a stub and a
//! slot; relative addresses are filled in.
//! Source: the x86-64 psABI, section 4.4 (relocation types).

use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;

use lockstep_protocol::code_image::{CodeImage, IMAGE_ALIGN, IMPORTED_FUNCTIONS, ImportSlot, SLOT_BYTES};
use lockstep_protocol::debug_object::SectionAddress;
use object::elf::{R_X86_64_PC32, R_X86_64_PLT32, SHF_ALLOC, SHF_WRITE, SectionHeader64};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionFlags, SectionIndex, SectionKind,
    SymbolIndex,
};

use super::error::MachineCodeError;

type File<'a> = object::read::elf::ElfFile64<'a, object::Endianness>;
type Section<'a, 'f> = object::read::elf::ElfSection64<'a, 'f, object::Endianness>;

/// The bytes of a stub, `jmp *slot(%rip)`, and what fills it up to where processors like to jump to.
const STUB_BYTES: usize = 16;
/// The bytes of its instruction, of which the last four are the slot's distance from the next one.
const JUMP_BYTES: usize = 6;
const JUMP_THROUGH_SLOT: [u8; 2] = [0xff, 0x25];
/// `int3`: nothing comes here.
const PADDING: u8 = 0xcc;

/// Makes an image of an object whose function `entry_name` is the kernel's.
///
/// # Errors
/// When the object is none, cannot run at any address, or has no such function.
pub fn link_image(object_bytes: &[u8], entry_name: &str) -> Result<LinkedImage, MachineCodeError> {
    Linker::new(object_bytes).and_then(|linker| linker.link(entry_name)).map_err(MachineCodeError::Link)
}

/// An image, and what debuggers have to know to find the sections of its object in it.
#[derive(Debug)]
pub struct LinkedImage {
    /// The code, ready to be mapped.
    pub image: CodeImage,
    /// Where the object has the address of each section that the image holds.
    pub section_addresses: Vec<SectionAddress>,
    /// How many of the image's bytes, from its start, are code.
    pub code_bytes: u32,
}

/// Why there is no image, in words.
type Attempt<T> = Result<T, String>;

struct Linker<'a> {
    file: File<'a>,
    bytes: Vec<u8>,
    /// Where the sections of the object that belong in memory begin in the image.
    sections: HashMap<SectionIndex, usize>,
    /// By the index of each symbol outside of the object, where its stub begins and which function it is.
    stubs: BTreeMap<usize, (usize, u32)>,
}

impl<'a> Linker<'a> {
    fn new(object_bytes: &'a [u8]) -> Attempt<Linker<'a>> {
        let file = File::parse(object_bytes).map_err(|error| error.to_string())?;
        if file.architecture() != object::Architecture::X86_64 || file.kind() != object::ObjectKind::Relocatable {
            return Err("it is no relocatable object for x86-64".to_owned());
        }
        Ok(Linker { file, bytes: Vec::new(), sections: HashMap::new(), stubs: BTreeMap::new() })
    }

    fn link(mut self, entry_name: &str) -> Attempt<LinkedImage> {
        self.place_sections(true)?;
        self.place_stubs()?;
        let code_bytes = self.bytes.len() as u32;
        self.place_sections(false)?;
        let imports = self.place_slots()?;
        self.fill_addresses()?;
        let entry = self.find_entry(entry_name)?;
        let section_addresses = self.list_addresses();
        let image = CodeImage { entry, bytes: self.bytes, imports };
        image.check_bounds().map_err(|fault| fault.to_string())?;
        Ok(LinkedImage { image, section_addresses, code_bytes })
    }

    /// Copies the sections of code, or the others, to the end of the image.
    fn place_sections(&mut self, code: bool) -> Attempt<()> {
        for section in self.file.sections() {
            if !is_in_memory(&section)? || (section.kind() == SectionKind::Text) != code {
                continue;
            }
            let data = section.data().map_err(|error| error.to_string())?;
            let align = section.align().max(1);
            if align > IMAGE_ALIGN || !align.is_power_of_two() {
                return Err(format!("a section aligned to {align} bytes"));
            }
            let start = extend_to(&mut self.bytes, align as usize);
            self.bytes.extend_from_slice(data);
            self.sections.insert(section.index(), start);
        }
        Ok(())
    }

    /// Gives each function outside of the object a stub.
    fn place_stubs(&mut self) -> Attempt<()> {
        let mut unknown = Vec::new();
        for symbol in self.file.symbols().filter(|symbol| symbol.is_undefined() && symbol.index() != SymbolIndex(0)) {
            let name = symbol.name().map_err(|error| error.to_string())?;
            match IMPORTED_FUNCTIONS.iter().position(|function| *function == name) {
                Some(index) => {
                    let start = extend_to(&mut self.bytes, STUB_BYTES);
                    self.bytes.resize(start + STUB_BYTES, PADDING);
                    self.stubs.insert(symbol.index().0, (start, index as u32));
                }
                None => unknown.push(name),
            }
        }
        if unknown.is_empty() { Ok(()) } else { Err(format!("there is no function {}", unknown.join(", "))) }
    }

    /// Gives each stub its slot.
    fn place_slots(&mut self) -> Attempt<Vec<ImportSlot>> {
        let mut imports = Vec::new();
        for &(stub, function) in self.stubs.values() {
            let slot = extend_to(&mut self.bytes, SLOT_BYTES);
            self.bytes.resize(slot + SLOT_BYTES, 0);
            imports.push(ImportSlot { offset: slot as u32, function });
            let distance = distance_between(stub + JUMP_BYTES, slot as i64)?;
            self.bytes[stub..stub + 2].copy_from_slice(&JUMP_THROUGH_SLOT);
            self.bytes[stub + 2..stub + JUMP_BYTES].copy_from_slice(&distance.to_le_bytes());
        }
        Ok(imports)
    }

    /// Fills in the distances that code and constants hold.
    fn fill_addresses(&mut self) -> Attempt<()> {
        let Linker { file, bytes, sections, stubs, .. } = self;
        for section in file.sections() {
            let Some(&start) = sections.get(&section.index()) else { continue };
            for (offset, relocation) in section.relocations() {
                let RelocationFlags::Elf { r_type: R_X86_64_PC32 | R_X86_64_PLT32 } = relocation.flags() else {
                    return Err(format!("the address at {offset} of {} is not relative", describe(&section)));
                };
                let RelocationTarget::Symbol(symbol_index) = relocation.target() else {
                    return Err(format!("the address at {offset} of {} is of nothing", describe(&section)));
                };
                let target = match stubs.get(&symbol_index.0) {
                    Some(&(stub, _)) => stub as i64,
                    None => address_of(file, sections, symbol_index)?,
                };
                let position = start + offset as usize;
                let distance = distance_between(position, target + relocation.addend())?;
                let field = bytes.get_mut(position..position + 4).ok_or("an address outside of its section")?;
                field.copy_from_slice(&distance.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Where the object has the addresses of the sections that have places, in the order of the image.
    fn list_addresses(&self) -> Vec<SectionAddress> {
        let table_start = self.file.elf_header().e_shoff.get(self.file.endian()) as usize;
        let header_bytes = size_of::<SectionHeader64<object::Endianness>>();
        let address_of_section = |(index, &start): (&SectionIndex, &usize)| SectionAddress {
            position: (table_start + index.0 * header_bytes + offset_of!(SectionHeader64<object::Endianness>, sh_addr))
                as u32,
            image_offset: start as u32,
        };
        let mut addresses: Vec<SectionAddress> = self.sections.iter().map(address_of_section).collect();
        addresses.sort_by_key(|address| address.image_offset);
        addresses
    }

    fn find_entry(&self, entry_name: &str) -> Attempt<u32> {
        let has_name = |symbol: &object::read::elf::ElfSymbol64<'_, '_, object::Endianness>| {
            symbol.is_definition() && symbol.name() == Ok(entry_name)
        };
        let symbol = self.file.symbols().find(has_name).ok_or_else(|| format!("there is no function {entry_name}"))?;
        let address = address_of(&self.file, &self.sections, symbol.index())?;
        u32::try_from(address).map_err(|error| error.to_string())
    }
}

/// Fills an image up to a multiple of an alignment; where it then ends.
fn extend_to(bytes: &mut Vec<u8>, align: usize) -> usize {
    let end = bytes.len().next_multiple_of(align);
    bytes.resize(end, PADDING);
    end
}

/// Whether a section belongs in memory.
fn is_in_memory(section: &Section<'_, '_>) -> Attempt<bool> {
    let SectionFlags::Elf { sh_flags } = section.flags() else { return Ok(false) };
    // Nobody unwinds through code.
    let is_loaded = sh_flags & u64::from(SHF_ALLOC) != 0 && section.size() != 0 && section.name() != Ok(".eh_frame");
    if is_loaded && sh_flags & u64::from(SHF_WRITE) != 0 {
        return Err(format!("{} would be written to", describe(section)));
    }
    Ok(is_loaded)
}

fn describe(section: &Section<'_, '_>) -> String {
    format!("section {}", section.name().unwrap_or("without a name"))
}

/// Where a symbol of the object is in the image.
fn address_of(file: &File<'_>, sections: &HashMap<SectionIndex, usize>, symbol_index: SymbolIndex) -> Attempt<i64> {
    let symbol = file.symbol_by_index(symbol_index).map_err(|error| error.to_string())?;
    let section = symbol.section_index().and_then(|index| sections.get(&index));
    let &start = section.ok_or_else(|| format!("{} lies in no section", symbol.name().unwrap_or("a symbol")))?;
    i64::try_from(symbol.address())
        .ok()
        .and_then(|address| address.checked_add(start as i64))
        .ok_or_else(|| "an address too far away".to_owned())
}

fn distance_between(position: usize, target: i64) -> Attempt<i32> {
    i32::try_from(target - position as i64).map_err(|_| "the code is too large".to_owned())
}
