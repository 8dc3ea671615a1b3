//! The form in which programs leave the process: `CL_PROGRAM_BINARIES`.
//!
//! A header names the format, then comes sealed what the binary holds: objects and libraries in portable form; programs
//! in portable form and, for the machine they were built on or any of a level, their outline and machine code. A program may be there
//! in several editions, for machines of several kinds; the best that suits is taken. Bitcode is read and code
//! run in the application's process, so what is not exactly what this driver wrote is turned away here.

use serde::{Deserialize, Serialize};

use crate::cache::checksummed;
use crate::processor::{judge_machine, processor_identity, rounds_alike};
use lockstep_protocol::compile_options::Tier;
use lockstep_protocol::kernel_object::KernelObject;
use lockstep_protocol::launch_facts::LaunchFacts;
use lockstep_protocol::portable_program::{CompiledObject, LinkedProgram};
use lockstep_protocol::program_metadata::Outline;

const MAGIC: &[u8] = b"LOCKSTEP";
/// Raise when the bytes or the meaning of the bitcode change.
const FORMAT: &[u8; 8] = b"FORMAT15";

/// What a program binary holds.
#[derive(Clone, Debug)]
pub enum Binary {
    /// `CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT` or `CL_PROGRAM_BINARY_TYPE_LIBRARY`.
    Object(CompiledObject),
    /// A linked program (`CL_PROGRAM_BINARY_TYPE_EXECUTABLE`).
    Program(Image),
}

/// A program and what was already made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Image {
    /// The portable form.
    pub linked: LinkedProgram,
    /// What there is to know without reading that; none where another build of the driver made it.
    pub outline: Option<Outline>,
    /// Machine code of some of its kernels.
    pub code: Vec<KernelCode>,
}

/// Machine code of one kernel for some launches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelCode {
    /// The kernel's number.
    pub kernel: u32,
    /// The driver's options that it was made with.
    pub settings: String,
    /// What holds of the launches that may run it.
    pub facts: LaunchFacts,
    /// The tier of the code.
    pub tier: Tier,
    /// The machine code itself.
    pub object: KernelObject,
    /// Whether it is for any processor of a level, and not for those of this one's kind.
    #[serde(skip)]
    pub of_level: bool,
}

#[derive(Serialize, Deserialize)]
struct Contents {
    /// The versions that must be the same to understand the rest.
    producer: String,
    what: What,
}

#[derive(Serialize, Deserialize)]
enum What {
    Object(CompiledObject),
    /// The same program for several machines. Its portable form differs, as the built-in library does.
    Program(Vec<Edition>),
}

/// A program for machines of one kind.
#[derive(Serialize, Deserialize)]
struct Edition {
    /// The machine that it is for, or the level.
    machine: String,
    /// The build of the driver that made outline and code.
    build: String,
    image: Image,
}

impl Binary {
    /// The program binary, as this `build_id` of the driver makes it.
    pub fn to_bytes(self, build_id: &str) -> Vec<u8> {
        write_binary(self, build_id, processor_identity())
    }

    /// Reads a program binary. What only the build of the driver that made it understands is left out.
    ///
    /// # Errors
    /// In words: what is wrong with it.
    pub fn from_bytes(bytes: &[u8], build_id: &str) -> Result<Self, &'static str> {
        read_binary(bytes, build_id)
    }
}

/// Whether bytes begin as a program binary of some version of this driver does.
pub fn is_program_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Who understands the bitcode in a binary: this version, with the LLVM that it is built for.
const PRODUCER: &str = concat!(env!("CARGO_PKG_VERSION"), " LLVM 22.1");

fn write_binary(binary: Binary, build_id: &str, machine: String) -> Vec<u8> {
    let content_kind = match binary {
        Binary::Object(object) => What::Object(object),
        Binary::Program(mut image) => {
            // What is written is for this processor's kind.
            image.code.retain(|code| !code.of_level);
            What::Program(vec![Edition { machine, build: build_id.to_owned(), image }])
        }
    };
    seal_contents(content_kind)
}

fn seal_contents(what: What) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(checksummed::seal(FORMAT, &Contents { producer: PRODUCER.to_owned(), what }));
    bytes
}

/// One binary of several, with all of their editions.
///
/// # Errors
/// In words: which of them is no program.
pub fn join_binaries(binaries: &[Vec<u8>]) -> Result<Vec<u8>, &'static str> {
    let mut all_editions = Vec::new();
    for bytes in binaries {
        match open_contents(bytes)? {
            What::Program(editions) => all_editions.extend(editions),
            What::Object(_) => return Err("a compiled object or a library is for all machines"),
        }
    }
    Ok(seal_contents(What::Program(all_editions)))
}

fn read_binary(bytes: &[u8], build_id: &str) -> Result<Binary, &'static str> {
    let editions = match open_contents(bytes)? {
        What::Object(object) => return Ok(Binary::Object(object)),
        What::Program(editions) => editions,
    };
    let judged = editions.into_iter().filter_map(|edition| Some((judge_machine(&edition.machine)?, edition)));
    let best = judged.max_by_key(|(suitability, _)| *suitability);
    match best {
        None => Err("the program binary is for another machine"),
        Some((_, Edition { build, image, .. })) if build != build_id => {
            Ok(Binary::Program(Image { outline: None, code: Vec::new(), ..image }))
        }
        Some((_, Edition { machine, mut image, .. })) => {
            let of_level = machine != processor_identity();
            if !rounds_alike(&machine) {
                // All launches run code that is made here, so that none has other bits than an earlier one.
                image.code.clear();
            }
            image.code.iter_mut().for_each(|code| code.of_level = of_level);
            Ok(Binary::Program(image))
        }
    }
}

/// What a binary holds, if this version of the driver understands it.
fn open_contents(bytes: &[u8]) -> Result<What, &'static str> {
    const OTHER_VERSION: &str = "the program binary was made by another version of the driver";
    let sealed_contents = bytes.strip_prefix(MAGIC).ok_or("not a program binary of this driver")?;
    if !sealed_contents.starts_with(FORMAT) {
        return Err(OTHER_VERSION);
    }
    let contents: Contents = checksummed::open(FORMAT, sealed_contents).ok_or("the program binary is damaged")?;
    if contents.producer != PRODUCER {
        return Err(OTHER_VERSION);
    }
    Ok(contents.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::has_level;
    use lockstep_protocol::build_options::{BuildOptions, Stage};
    use lockstep_protocol::code_image::{CodeImage, ImportSlot};
    use lockstep_protocol::feature_level::FeatureLevel;
    use lockstep_protocol::item_form::ItemForm;
    use lockstep_protocol::kernel_abi::ScratchNeeds;

    const BUILD: &str = "this one";

    fn object() -> CompiledObject {
        let options = BuildOptions::parse("-DX=1 -cl-std=CL2.0", Stage::Compile).unwrap();
        CompiledObject { bitcode: b"BC\xc0\xde and so on".to_vec(), options, is_library: false, log: String::new() }
    }

    fn code_image() -> CodeImage {
        CodeImage { bytes: vec![7; 32], entry: 3, imports: vec![ImportSlot { offset: 24, function: 5 }] }
    }

    fn image() -> Image {
        let mut options = BuildOptions::parse("", Stage::Link).unwrap();
        // As linking leaves them.
        options.version = Some(options.language_version());
        options.math.denorms_are_zero = true;
        options.opt_disable = true;
        let needs = ScratchNeeds { row: 8, ..ScratchNeeds::default() };
        let object = KernelObject {
            image: code_image(),
            needs,
            stack_bytes: 70_000,
            form: ItemForm::OneByOne,
            alternatives: None,
            debug_object: None,
        };
        let facts = LaunchFacts { multiples: 3, ..LaunchFacts::default() };
        Image {
            linked: LinkedProgram { bitcode: vec![1, 2], options, log: String::new(), times: Vec::new() },
            outline: Some(Outline { globals: Vec::new(), formats: Vec::new(), kernels: Vec::new() }),
            code: vec![KernelCode {
                kernel: 2,
                settings: "wide".into(),
                facts,
                tier: Tier::Baseline,
                object,
                of_level: false,
            }],
        }
    }

    fn program(bytes: &[u8], build: &str) -> Image {
        match Binary::from_bytes(bytes, build) {
            Ok(Binary::Program(image)) => image,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn objects_come_back_as_they_were() {
        for is_library in [false, true] {
            let bytes = Binary::Object(CompiledObject { is_library, ..object() }).to_bytes(BUILD);
            let Binary::Object(back) = Binary::from_bytes(&bytes, "any build").unwrap() else {
                panic!("not an object")
            };
            assert_eq!(back.bitcode, object().bitcode);
            assert_eq!(back.options, object().options);
            assert_eq!(back.is_library, is_library);
        }
    }

    #[test]
    fn programs_come_back_with_what_was_made_of_them() {
        let back = program(&Binary::Program(image()).to_bytes(BUILD), BUILD);
        assert_eq!(back.linked.bitcode, [1, 2]);
        assert_eq!(back.linked.options, image().linked.options, "what counts at run time though no string says it");
        assert_eq!(back.outline, image().outline);
        let [code] = &back.code[..] else { panic!("{:?}", back.code) };
        assert_eq!((code.kernel, &*code.settings, code.facts.multiples), (2, "wide", 3));
        assert_eq!((&code.object.image, code.object.needs.row), (&code_image(), 8));
    }

    #[test]
    fn another_build_of_the_driver_takes_the_portable_form_only() {
        let back = program(&Binary::Program(image()).to_bytes("one before"), BUILD);
        assert_eq!(back.linked.bitcode, [1, 2]);
        assert!(back.outline.is_none() && back.code.is_empty());
    }

    #[test]
    fn programs_are_for_one_machine() {
        let bytes = write_binary(Binary::Program(image()), BUILD, "LLVM 22.1.0 of another processor".into());
        let error = Binary::from_bytes(&bytes, BUILD).unwrap_err();
        assert!(error.contains("another machine"), "{error}");
        let bytes = write_binary(Binary::Object(object()), BUILD, "LLVM 22.1.0 of another processor".into());
        assert!(Binary::from_bytes(&bytes, BUILD).is_ok(), "objects hold no machine code");
    }

    /// A binary of a program whose portable form is this byte.
    fn edition(machine: &str, mark: u8) -> Vec<u8> {
        let mut image = image();
        image.linked.bitcode = vec![mark];
        write_binary(Binary::Program(image), BUILD, machine.to_owned())
    }

    /// The mark of the edition that is taken of those for these machines, which have the marks from 0 on.
    fn chosen_edition(machines: &[&str]) -> u8 {
        let binaries: Vec<Vec<u8>> = machines.iter().zip(0..).map(|(machine, mark)| edition(machine, mark)).collect();
        program(&join_binaries(&binaries).unwrap(), BUILD).linked.bitcode[0]
    }

    #[test]
    fn the_edition_that_suits_best_is_taken() {
        let own = processor_identity();
        assert_eq!(chosen_edition(&["another processor", "x86-64", "x86-64-v9"]), 1);
        assert_eq!(chosen_edition(&["x86-64-v4", &own, "x86-64"]), 1, "code for this very processor");
        let best = FeatureLevel::ALL.into_iter().filter(|level| has_level(*level)).max().unwrap();
        let names = FeatureLevel::ALL.map(FeatureLevel::psabi_name);
        assert_eq!(chosen_edition(&names), best as u8, "the best level that it has");
        assert_eq!(names[chosen_edition(&names) as usize], best.psabi_name());
    }

    #[test]
    fn code_of_a_level_is_known_and_not_handed_on_as_this_processors() {
        let is_fit = |level: &FeatureLevel| has_level(*level) && rounds_alike(level.psabi_name());
        let fit = FeatureLevel::ALL.into_iter().find(is_fit).expect("the machine has a level");
        let back = program(&edition(fit.psabi_name(), 0), BUILD);
        assert!(back.code.len() == 1 && back.code[0].of_level);
        assert_eq!(program(&Binary::Program(back).to_bytes(BUILD), BUILD).code.len(), 0);
        let own = program(&edition(&processor_identity(), 0), BUILD);
        assert!(own.code.len() == 1 && !own.code[0].of_level);
    }

    #[test]
    fn code_that_rounds_otherwise_is_made_anew() {
        for level in FeatureLevel::ALL.into_iter().filter(|level| has_level(*level)) {
            let is_alike = level.fuses_multiply_add() == has_level(FeatureLevel::V3)
                && level.has_close_estimates() == has_level(FeatureLevel::V4);
            let back = program(&edition(level.psabi_name(), 0), BUILD);
            assert_eq!(back.code.len(), usize::from(is_alike), "{level:?}");
            assert!(back.outline.is_some());
        }
    }

    #[test]
    fn binaries_that_suit_nobody_or_hold_no_program_are_refused() {
        let others = join_binaries(&[edition("another", 0), edition("a third", 1)]).unwrap();
        assert!(Binary::from_bytes(&others, BUILD).unwrap_err().contains("another machine"));
        let objects = [Binary::Object(object()).to_bytes(BUILD)];
        assert!(join_binaries(&objects).unwrap_err().contains("for all machines"));
        assert!(join_binaries(&[b"text".to_vec()]).unwrap_err().contains("not a program binary"));
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_found() {
        for binary in [Binary::Object(object()), Binary::Program(image())] {
            let bytes = binary.to_bytes(BUILD);
            for index in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[index] ^= 0x10;
                assert!(Binary::from_bytes(&damaged, BUILD).is_err(), "byte {index}");
                assert!(Binary::from_bytes(&bytes[..index], BUILD).is_err(), "cut at {index}");
            }
            assert!(Binary::from_bytes(&[&bytes[..], &[0]].concat(), BUILD).is_err());
        }
    }
}
