// Flags of LLVM's code generation, which LLVM has for its command line only, for `codegen_flags.rs` beside this file. They are of the whole
// process. No exception leaves this file.

#include <llvm/Support/CommandLine.h>

// These are also written in `codegen_flags.rs`.
extern "C" {

// Sets a flag to a value that LLVM reads from text. Whether there is such a flag.
int lockstep_set_flag(const char *name, const char *value) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto option = options.find(name);
    if (option == options.end())
        return 0;
    option->second->reset();
    // A position says that somebody wrote it.
    return !option->second->addOccurrence(1, name, value);
}

// Makes a flag what it is where nobody wrote it.
void lockstep_reset_flag(const char *name) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto option = options.find(name);
    if (option == options.end())
        return;
    option->second->reset();
    option->second->setPosition(0);
}
}
