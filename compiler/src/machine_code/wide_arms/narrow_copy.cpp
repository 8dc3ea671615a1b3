// Copies of LLVM's instructions that work on fewer lanes, for `narrow_copy.rs` beside this file: LLVM's C interface can neither change an
// instruction's type nor tell which intrinsic functions work lane by lane. No exception leaves this file.

#include <llvm-c/Core.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

using namespace llvm;

// A type with fewer lanes where it has `lanes`, or the same.
static Type *narrow_type(Type *type, unsigned lanes, unsigned narrow_lanes) {
    auto *vector = dyn_cast<FixedVectorType>(type);
    bool is_wide = vector && vector->getNumElements() == lanes;
    return is_wide ? FixedVectorType::get(vector->getElementType(), narrow_lanes) : type;
}

// The same intrinsic function for fewer lanes.
static Function *narrow_callee(Function *callee, unsigned lanes, unsigned narrow_lanes) {
    SmallVector<Type *, 4> parameters;
    FunctionType *type = callee->getFunctionType();
    for (Type *parameter : type->params())
        parameters.push_back(narrow_type(parameter, lanes, narrow_lanes));
    Type *result = narrow_type(type->getReturnType(), lanes, narrow_lanes);
    FunctionType *narrowed = FunctionType::get(result, parameters, false);
    SmallVector<Type *, 4> overloads;
    if (!Intrinsic::getIntrinsicSignature(callee->getIntrinsicID(), narrowed, overloads))
        return nullptr;
    return Intrinsic::getOrInsertDeclaration(callee->getParent(), callee->getIntrinsicID(), overloads);
}

// These are also written in `narrow_copy.rs`.
extern "C" {

// Whether a call is one of an intrinsic function of which each lane depends on the same lane of its arguments alone.
int lockstep_works_by_lane(LLVMValueRef call) {
    auto *callee = cast<CallBase>(unwrap(call))->getCalledFunction();
    Intrinsic::ID id = callee ? callee->getIntrinsicID() : Intrinsic::not_intrinsic;
    return id == Intrinsic::masked_gather || isTriviallyVectorizable(id);
}

// A copy of an instruction that makes `narrow_lanes` where the original makes `lanes`, with the original's operands, in no block. Null where
// there is no such intrinsic function.
LLVMValueRef lockstep_copy_narrowed(LLVMValueRef instruction, unsigned lanes, unsigned narrow_lanes) {
    auto *original = cast<Instruction>(unwrap(instruction));
    Function *callee = nullptr;
    if (auto *call = dyn_cast<CallBase>(original)) {
        callee = narrow_callee(call->getCalledFunction(), lanes, narrow_lanes);
        if (!callee)
            return nullptr;
    }
    Instruction *copy = original->clone();
    copy->mutateType(narrow_type(original->getType(), lanes, narrow_lanes));
    if (callee)
        cast<CallBase>(copy)->setCalledFunction(callee);
    return wrap(copy);
}
}
