// Reads the body of a function of a module that is read as far as needed, which LLVM's C interface does not offer. No exception leaves this
// file.

#include <llvm-c/Core.h>
#include <llvm/IR/Function.h>
#include <llvm/Support/Error.h>

// It is also written in `llvm.rs`. Whether the body is there; the module's context hears why it is not.
extern "C" int lockstep_read_body(LLVMValueRef function) {
    llvm::Error error = llvm::unwrap<llvm::Function>(function)->materialize();
    bool has_failed = bool(error);
    llvm::consumeError(std::move(error));
    return !has_failed;
}
