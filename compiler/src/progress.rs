//! What this process is doing: who started it has to say where it died, if it does.

use std::sync::OnceLock;

/// Takes the words for a stage that begins.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Has each stage told to a listener, from when it begins; to the first one that is given.
pub fn tell_stages_to(listener: impl Fn(&str) + Send + Sync + 'static) {
    let _ = LISTENER.set(Box::new(listener));
}

/// A stage begins: of a kernel, or of a whole program where the name is empty.
pub fn begin_stage(stage: &str, kernel: &str) {
    let Some(listener) = LISTENER.get() else { return };
    match kernel {
        "" => listener(stage),
        kernel => listener(&format!("{stage} of kernel {kernel:?}")),
    }
}
