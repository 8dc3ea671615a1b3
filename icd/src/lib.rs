//! `liblockstep.so`: the OpenCL host API in C terms.
//!
//! `dispatch` is the table of entry points the ICD loader calls through; `api` holds the entry points, one file per
//! object; `handle`, `error` and `info` are what they are made of; `fork` says what is left of it
//! in a forked child. The meaning of everything is in `lockstep_runtime`.

mod api;
mod dispatch;
mod error;
mod exports;
mod float_environment;
mod fork;
mod handle;
mod info;
mod property_list;
mod unsupported;
mod user;
