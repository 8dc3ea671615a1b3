//! What the compiler and those who use its code both know: a program's parameters and variables, how it is to be compiled,
//! what holds of a launch, and how its code is called. These are types, and what a value of each says; the work is done
//! elsewhere.

#![forbid(unsafe_code)]

pub mod build_failure;
pub mod build_options;
pub mod code_image;
pub mod compile_options;
pub mod configuration;
pub mod debug_object;
pub mod feature_level;
pub mod features;
pub mod file_names;
pub mod image_format;
pub mod item_form;
pub mod job;
pub mod kernel_abi;
pub mod kernel_object;
pub mod launch_facts;
pub mod layout;
pub mod loop_profile;
pub mod option_error;
pub mod parameters;
pub mod pass_switches;
pub mod portable_program;
pub mod program_metadata;
pub mod scalar_replacement;
pub mod spirv_module;
pub mod spirv_support;
pub mod types;
pub mod variables;
