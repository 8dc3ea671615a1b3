// Debian's LLVM hands its pipelines to Polly, a library of its own that is not linked: this one adds nothing to them.

#include <llvm/Config/llvm-config.h>
#include <llvm/Plugins/PassPlugin.h>

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
    return {LLVM_PLUGIN_API_VERSION, "no Polly", LLVM_VERSION_STRING, [](llvm::PassBuilder &) {}, nullptr};
}
