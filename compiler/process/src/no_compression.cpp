// Debian's LLVM can pack sections of objects, indices of sources and profiles by zlib and zstd. The compiler asks for none of these and
// reads none that are packed, so neither library is linked: whoever comes here all the same is told that it failed. The signatures are
// those of zlib.h and zstd.h, which need not be installed.

#include <cstddef>
#include <cstdint>

extern "C" {

// zlib: Z_DATA_ERROR.
constexpr int DATA_ERROR = -3;

unsigned long compressBound(unsigned long length) { return length; }
int compress2(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int) { return DATA_ERROR; }
int uncompress(unsigned char *, unsigned long *, const unsigned char *, unsigned long) { return DATA_ERROR; }

// The checksum of ISO 3309, of which LLVM makes its own hashes. It is computed, bit after bit.
unsigned long crc32(unsigned long checksum, const unsigned char *bytes, unsigned length) {
    uint32_t remainder = ~static_cast<uint32_t>(checksum);
    for (const unsigned char *byte = bytes; byte != bytes + length; ++byte) {
        remainder ^= *byte;
        for (int bit = 0; bit < 8; ++bit)
            remainder = remainder >> 1 ^ (remainder & 1 ? 0xEDB88320 : 0);
    }
    return static_cast<uint32_t>(~remainder);
}

// zstd: what is the largest size as a number is an error.
constexpr size_t ZSTD_ERROR = static_cast<size_t>(-1);

void *ZSTD_createCCtx() { return nullptr; }
size_t ZSTD_freeCCtx(void *) { return 0; }
size_t ZSTD_CCtx_setParameter(void *, int, int) { return ZSTD_ERROR; }
size_t ZSTD_compressBound(size_t length) { return length; }
size_t ZSTD_compress2(void *, void *, size_t, const void *, size_t) { return ZSTD_ERROR; }
size_t ZSTD_decompress(void *, size_t, const void *, size_t) { return ZSTD_ERROR; }
unsigned ZSTD_isError(size_t code) { return code == ZSTD_ERROR; }
const char *ZSTD_getErrorName(size_t) { return "zstd is not linked"; }
}
