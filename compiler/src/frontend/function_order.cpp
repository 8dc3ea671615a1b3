// The order of a module's functions, which LLVM's C interface cannot change. No exception leaves this file.

#include <llvm-c/Core.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

// It is also written in `simplify_llvm.rs`. Puts a function behind all others of its module.
extern "C" void lockstep_move_function_last(LLVMValueRef function) {
    auto *moved = llvm::unwrap<llvm::Function>(function);
    auto &functions = moved->getParent()->getFunctionList();
    functions.splice(functions.end(), functions, moved->getIterator());
}
