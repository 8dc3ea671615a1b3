// A pass of LLVM's code generation for `mask_extensions.rs` beside this file, which says what it is for: LLVM has no C interface to passes
// over machine instructions. No exception leaves this file.

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Target/RegisterTargetPassConfigCallback.h>
#include <llvm/Target/TargetMachine.h>

using namespace llvm;

namespace {

// A register that is always there and never allocated, so that a use of it says nothing.
MCRegister find_control_register(const TargetRegisterInfo &registers) {
    for (MCRegister candidate = 1; candidate < registers.getNumRegs(); candidate = candidate.id() + 1) {
        if (StringRef(registers.getName(candidate)) == "MXCSR")
            return candidate;
    }
    return MCRegister();
}

// Whether an instruction copies the lower bits of a mask and clears those above.
bool extends_mask(const MachineInstr &instruction, const TargetInstrInfo &instructions) {
    if (!instruction.getDesc().isMoveReg() || instruction.getNumOperands() != 2)
        return false;
    StringRef name = instructions.getName(instruction.getOpcode());
    return name.starts_with("KMOVBkk") || name.starts_with("KMOVWkk") || name.starts_with("KMOVDkk");
}

class KeepMaskExtensions : public MachineFunctionPass {
public:
    static char ID;

    KeepMaskExtensions() : MachineFunctionPass(ID) {}

    StringRef getPassName() const override { return "Keep extensions of masks"; }

    bool runOnMachineFunction(MachineFunction &function) override {
        const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
        MCRegister control = find_control_register(*function.getSubtarget().getRegisterInfo());
        bool is_changed = false;
        if (!control.isValid())
            return is_changed;
        for (MachineBasicBlock &block : function) {
            for (MachineInstr &instruction : block) {
                if (!extends_mask(instruction, instructions))
                    continue;
                // What has three operands is no copy to whoever folds copies into their spills.
                MachineInstrBuilder(function, instruction).addReg(control, RegState::Implicit | RegState::Undef);
                is_changed = true;
            }
        }
        return is_changed;
    }
};

char KeepMaskExtensions::ID = 0;

} // namespace

// This is also written in `mask_extensions.rs`.
extern "C" {

// Adds the pass to all code generation of this process from now on. Calls after the first one do nothing.
void lockstep_keep_mask_extensions(void) {
    static RegisterTargetPassConfigCallback callback(
        [](TargetMachine &, legacy::PassManagerBase &, TargetPassConfig *passes) {
            passes->insertPass(&FinalizeISelID, new KeepMaskExtensions());
        });
}
}
