//! The project's commands: `cargo xtask setup | demo | test | install | tidy`.
fn main() {}
