//! Build-option strings: what is accepted, what it means, what is refused.

use lockstep_protocol::build_options::{BuildOptions, InputLanguage, LanguageVersion, Macro, Stage, Warnings};
use lockstep_protocol::option_error::OptionError;

fn build(text: &str) -> BuildOptions {
    BuildOptions::parse(text, Stage::Build).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn refused(text: &str, stage: Stage) -> OptionError {
    match BuildOptions::parse(text, stage) {
        Err(error) => error,
        Ok(options) => panic!("{text:?} was taken as {options:?}"),
    }
}

#[test]
fn nothing_means_the_defaults() {
    for text in ["", " ", "\t\n  "] {
        let options = build(text);
        assert_eq!(BuildOptions { text: String::new(), ..options.clone() }, BuildOptions::default());
        assert_eq!(options.language_version(), LanguageVersion::Cl12);
    }
}

#[test]
fn macros_and_directories_keep_their_order_and_their_spaces() {
    let options =
        build(r#"-DA -D B=2 -DC="x y" -D "D=1 + 2" -U A -D'E=a"b' -DF=\"s\" -DG=a\ b -I inc -I"my dir" -I 'x/y z'"#);
    let define = |text: &str| Macro::Define(text.to_owned());
    assert_eq!(
        options.macros,
        [
            define("A"),
            define("B=2"),
            define("C=x y"),
            define("D=1 + 2"),
            Macro::Undefine("A".to_owned()),
            define("E=a\"b"),
            define("F=\"s\""),
            define("G=a b"),
        ]
    );
    assert_eq!(options.include_dirs, ["inc", "my dir", "x/y z"]);
}

#[test]
fn a_backslash_before_an_ordinary_character_stays() {
    assert_eq!(build(r"-I C:\dir\x").include_dirs, [r"C:\dir\x"]);
    assert_eq!(build(r#"-I "a\\b\"c\d""#).include_dirs, [r#"a\b"c\d"#]);
    assert_eq!(build(r"-I end\").include_dirs, [r"end\"]);
}

#[test]
fn every_language_version_is_known() {
    use LanguageVersion::*;
    for (text, version) in [
        ("-cl-std=CL1.0", Cl10),
        ("-cl-std=CL1.1", Cl11),
        ("-cl-std=CL1.2", Cl12),
        ("-cl-std=CL2.0", Cl20),
        ("-cl-std=CL3.0", Cl30),
        ("-cl-std=CL3.1", Cl31),
        ("-cl-std=CLC++", ClCpp10),
        ("-cl-std=CLC++1.0", ClCpp10),
        ("-cl-std=CLC++2021", ClCpp2021),
        ("-cl-std=cl2.0", Cl20),
        ("-cl-std= CL2.0", Cl20),
        ("-cl-std CL2.0", Cl20),
        ("-cl-std=\"CL3.0\"", Cl30),
        ("-cl-std=CL1.1 -cl-std=CL2.0", Cl20),
        ("-x clc++", ClCpp10),
        ("-x clc++ -cl-std=CLC++2021", ClCpp2021),
        ("-cl-std=CLC++2021 -x clc++", ClCpp2021),
    ] {
        assert_eq!(build(text).version, Some(version), "{text}");
    }
    for text in ["-cl-std=", "-cl-std", "-cl-std=CL4.0", "-cl-std=C99", "-cl-std=CL", "-cl-stdCL2.0"] {
        refused(text, Stage::Build);
    }
}

type Look = fn(&BuildOptions) -> bool;

#[test]
fn every_option_of_the_specification_sets_its_field() {
    let table: &[(&str, Look)] = &[
        ("-cl-single-precision-constant", |o| o.math.single_precision_constant),
        ("-cl-denorms-are-zero", |o| o.math.denorms_are_zero),
        ("-cl-fp32-correctly-rounded-divide-sqrt", |o| o.math.correctly_rounded_divide_sqrt),
        ("-cl-opt-disable", |o| o.opt_disable),
        ("-cl-strict-aliasing", |o| o.strict_aliasing),
        ("-cl-uniform-work-group-size", |o| o.uniform_work_group_size),
        ("-cl-no-subgroup-ifp", |o| o.no_subgroup_ifp),
        ("-cl-mad-enable", |o| o.math.mad_enable),
        ("-cl-no-signed-zeros", |o| o.math.no_signed_zeros),
        ("-cl-unsafe-math-optimizations", |o| o.math.unsafe_optimizations),
        ("-cl-finite-math-only", |o| o.math.finite_only),
        ("-cl-fast-relaxed-math", |o| o.math.fast_relaxed),
        ("-w", |o| o.warnings == Warnings::Hide),
        ("-w -Werror", |o| o.warnings == Warnings::Hide),
        ("-Werror", |o| o.warnings == Warnings::AsErrors),
        ("-cl-kernel-arg-info", |o| o.kernel_arg_info),
        ("-g", |o| o.debug),
        ("-x spir", |o| o.input == InputLanguage::Spir),
        ("-x spir -spir-std=1.2", |o| o.input == InputLanguage::Spir),
        ("-O0", |o| o.opt_disable),
        ("-Wall", |o| o.warning_flags == ["-Wall"]),
    ];
    let nothing = BuildOptions::default();
    for (text, is_set) in table {
        assert!(!is_set(&nothing), "{text} is set by default");
        for stage in [Stage::Build, Stage::Compile] {
            let options = BuildOptions::parse(text, stage).unwrap_or_else(|error| panic!("{error}"));
            assert!(is_set(&options), "{text}");
        }
    }
}

#[test]
fn habits_of_applications_change_nothing() {
    for text in [
        "-O3",
        "-Os",
        "-fno-bin-source -fno-bin-llvmir -fno-bin-amdil -fbin-exe",
        "-fno-strict-aliasing",
        "-save-temps",
        "-save-temps=out/x",
        "-cl-nv-verbose -cl-nv-maxrregcount=32",
        "-cl-intel-greater-than-4GB-buffer-required",
    ] {
        let options = build(text);
        assert_eq!(BuildOptions { text: String::new(), ..options }, BuildOptions::default(), "{text}");
    }
}

#[test]
fn linker_options_belong_to_the_linker() {
    let library = BuildOptions::parse("-create-library -enable-link-options", Stage::Link).unwrap();
    assert!(library.create_library && library.enable_link_options);
    assert!(BuildOptions::parse("-cl-fast-relaxed-math -cl-no-subgroup-ifp", Stage::Link).unwrap().math.fast_relaxed);
    refused("-enable-link-options", Stage::Link);
    for text in ["-create-library", "-create-library -enable-link-options"] {
        refused(text, Stage::Build);
        refused(text, Stage::Compile);
    }
    for text in ["-DX=1", "-I inc", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-x spir", "-Wall"] {
        refused(text, Stage::Link);
    }
}

#[test]
fn what_is_no_option_is_refused_by_name() {
    for (text, option) in [
        ("-cl-invalid-option", "-cl-invalid-option"),
        ("-DX -nonsense -DY", "-nonsense"),
        ("file.cl", "file.cl"),
        ("-D", "-D"),
        ("-I", "-I"),
        ("-D \"\"", "-D"),
        ("-x java", "-x java"),
        ("-spir-std=9", "-spir-std=9"),
        ("-cl-fast-relaxed-mathX", "-cl-fast-relaxed-mathX"),
        ("\"\"", ""),
    ] {
        for stage in [Stage::Build, Stage::Compile] {
            let error = refused(text, stage);
            assert_eq!((error.option.as_str(), error.stage), (option, stage), "{text}");
            assert!(error.to_string().contains(option), "{error}");
        }
    }
}

/// Nothing but macros, directories, warnings and flags we know can reach clang's command line.
#[test]
fn options_for_other_programs_do_not_get_through() {
    for text in [
        "-o /tmp/x",
        "-include /etc/passwd",
        "-Xclang -load",
        "-Wl,-rpath,/",
        "-Wa,x",
        "-Wp,-MD,/tmp/x",
        "-fplugin=/tmp/x.so",
        "-load /tmp/x.so",
        "-target x86_64",
        "-isystem /",
        "@/tmp/arguments",
        "-mllvm -debug",
        "-cc1",
        "-S",
        "-emit-llvm",
        "-D \"X\0Y\"",
        "-DX\0",
    ] {
        refused(text, Stage::Build);
    }
}

#[test]
fn open_quotes_are_refused() {
    for text in ["\"", "-DX=\"1", "-D'X", "-DX='a\" b"] {
        assert!(refused(text, Stage::Build).to_string().contains("quote"), "{text}");
    }
}

#[test]
fn long_strings_are_no_trouble() {
    let many: String = (0..20_000).map(|i| format!("-DX{i}={i} ")).collect();
    assert_eq!(build(&many).macros.len(), 20_000);
    let long = format!("-DX={}", "é".repeat(100_000));
    assert_eq!(build(&long).macros.len(), 1);
}
