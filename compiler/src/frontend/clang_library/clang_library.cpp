// clang from memory to memory, for `mod.rs` beside this file: arguments of `clang -cc1`, the program's text and files that
// exist in memory only go in; bitcode, messages and the files that were read besides come out through one callback.
//
// Files in memory hide those on disk: a path that is not among them is looked for there, by clang's own rules and with its
// own messages. No exception leaves this file, which like LLVM is compiled without them.

#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Basic/Stack.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <system_error>

using llvm::StringRef;

// These are also written in `mod.rs`.
extern "C" {

// Bytes that whoever made them owns.
struct LockstepBytes {
    const char *first;
    size_t length;
};

// A file in memory, with its absolute path.
struct LockstepFile {
    LockstepBytes path;
    LockstepBytes contents;
};

struct LockstepJob {
    // Terminated strings: what follows `-cc1`.
    const char *const *arguments;
    size_t argument_count;
    // Where the arguments say that the program's text is.
    LockstepBytes source_path;
    LockstepBytes source;
    const LockstepFile *files;
    size_t file_count;
    // Whether files on disk are there.
    bool reads_files;
};

enum LockstepOutput : uint32_t {
    LockstepBitcode = 0,
    LockstepMessages = 1,
    // A file on disk that was read, once for each path.
    LockstepReadFile = 2,
};

// Takes a copy of an output. `name` is the path of a file that was read, otherwise empty.
typedef void (*LockstepReceiver)(void *context, uint32_t output, LockstepBytes name, LockstepBytes contents);
}

namespace {

StringRef text_of(LockstepBytes bytes) { return StringRef(bytes.first, bytes.length); }

LockstepBytes bytes_of(StringRef text) { return LockstepBytes{text.data(), text.size()}; }

// What clang sees of files: those in memory, and below them those on disk, which it notes when it opens them.
class MemoryOverDisk : public llvm::vfs::ProxyFileSystem {
  public:
    explicit MemoryOverDisk(const LockstepJob &job)
        : ProxyFileSystem(disk_of(job)), source_path(text_of(job.source_path)) {
        add_file(source_location, job.source);
        for (const LockstepFile &file : llvm::ArrayRef(job.files, job.file_count))
            add_file(text_of(file.path), file.contents);
    }

    llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &path) override {
        std::string name = path.str();
        if (auto found = memory.status(location_of(name)))
            return llvm::vfs::Status::copyWithNewName(*found, name);
        return ProxyFileSystem::status(name);
    }

    llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &path) override {
        std::string name = path.str();
        if (auto found = memory.openFileForRead(location_of(name)))
            return llvm::vfs::File::getWithPath(std::move(found), name);
        // Devices and pipes never end, or keep whoever opens them.
        auto on_disk = ProxyFileSystem::status(name);
        if (on_disk && !on_disk->isDirectory() && !on_disk->isRegularFile())
            return std::make_error_code(std::errc::operation_not_supported);
        if (on_disk && on_disk->getSize() > most_bytes)
            return std::make_error_code(std::errc::file_too_large);
        auto opened = ProxyFileSystem::openFileForRead(name);
        if (opened)
            opened_paths.insert(name);
        return opened;
    }

    // The paths of files on disk.
    const std::set<std::string> &opened() const { return opened_paths; }

  private:
    static llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> disk_of(const LockstepJob &job) {
        if (job.reads_files)
            return llvm::vfs::getRealFileSystem();
        return llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    }

    void add_file(StringRef path, LockstepBytes contents) {
        memory.addFile(path, /*ModificationTime=*/0, llvm::MemoryBuffer::getMemBufferCopy(text_of(contents), path));
    }

    // The source's own path stands for it only as it is written: a file on disk may have the same.
    StringRef location_of(StringRef path) const { return path == source_path ? source_location : path; }

    // Of a file on disk; no header of people or generators has come near it.
    static constexpr uint64_t most_bytes = uint64_t(1) << 28;
    static constexpr StringRef source_location = "/lockstep/source";
    StringRef source_path;
    llvm::vfs::InMemoryFileSystem memory;
    std::set<std::string> opened_paths;
};

// One compilation, with what has to live as long as it.
class Compilation {
  public:
    explicit Compilation(const LockstepJob &job)
        : files(llvm::makeIntrusiveRefCnt<MemoryOverDisk>(job)), message_stream(messages) {}

    // True if there is bitcode.
    bool run(llvm::ArrayRef<const char *> arguments) {
        // What is wrong with the arguments is said when it is known how messages are to look.
        clang::DiagnosticOptions early_options;
        auto *early_messages = new clang::TextDiagnosticBuffer;
        clang::DiagnosticsEngine early_engine(clang::DiagnosticIDs::create(), early_options, early_messages);
        auto invocation = std::make_shared<clang::CompilerInvocation>();
        bool understood = clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, early_engine);
        instance = std::make_unique<clang::CompilerInstance>(std::move(invocation));
        instance->setVerboseOutputStream(message_stream);
        instance->createVirtualFileSystem(files, early_messages);
        instance->createDiagnostics(
            new clang::TextDiagnosticPrinter(message_stream, instance->getDiagnosticOpts()));
        early_messages->FlushDiagnostics(instance->getDiagnostics());
        if (!understood)
            return false;
        // An action that wrote bitcode itself would write that of bitcode to a file.
        llvm::LLVMContext context;
        clang::EmitLLVMOnlyAction action(&context);
        bool succeeded = instance->ExecuteAction(action);
        std::unique_ptr<llvm::Module> module = action.takeModule();
        if (!succeeded || !module)
            return false;
        llvm::raw_svector_ostream bitcode_stream(bitcode);
        llvm::WriteBitcodeToFile(*module, bitcode_stream);
        return true;
    }

    void hand_over(bool succeeded, LockstepReceiver receive, void *context) {
        receive(context, LockstepMessages, {}, bytes_of(messages));
        if (!succeeded)
            return;
        receive(context, LockstepBitcode, {}, bytes_of(StringRef(bitcode.data(), bitcode.size())));
        for (const std::string &path : files->opened())
            if (auto entry = instance->getFileManager().getOptionalFileRef(path))
                if (auto contents = instance->getSourceManager().getMemoryBufferForFileOrNone(*entry))
                    receive(context, LockstepReadFile, bytes_of(path), bytes_of(contents->getBuffer()));
    }

  private:
    llvm::IntrusiveRefCntPtr<MemoryOverDisk> files;
    llvm::SmallVector<char, 0> bitcode;
    std::string messages;
    llvm::raw_string_ostream message_stream;
    // Last, so that it goes first: it writes to the stream until its end.
    std::unique_ptr<clang::CompilerInstance> instance;
};

} // namespace

// Compiles, and says whether there is bitcode. The job is not used after the return.
extern "C" bool lockstep_clang_compile(const LockstepJob *job, LockstepReceiver receive, void *context) noexcept {
    // How deep clang may go is counted from here, whatever this thread's stack was used for before.
    clang::noteBottomOfStack(/*ForceSet=*/true);
    Compilation compilation(*job);
    bool succeeded = compilation.run(llvm::ArrayRef(job->arguments, job->argument_count));
    compilation.hand_over(succeeded, receive, context);
    return succeeded;
}
