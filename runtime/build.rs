//! Names the build.

#[path = "../compiler/protocol/build_identity.rs"]
mod build_identity;

fn main() -> std::io::Result<()> {
    build_identity::name_build("..".as_ref())
}
