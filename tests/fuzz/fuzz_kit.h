/* For fuzz targets of readers that may look a little behind their input: a copy whose padding ends where memory does.
 */
#ifndef PYRO_FUZZ_KIT_H
#define PYRO_FUZZ_KIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/json/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_TEXT_LIMIT = 1 << 20 };

#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Returns a copy of at most FUZZ_TEXT_LIMIT bytes, followed by PYRO_SCAN_PADDING times `stale` and then by a page that
 * cannot be touched. It stays until the next call. */
static inline char *fuzz_guarded_copy(const uint8_t *data, size_t size, char stale)
{
    enum { GUARD_BYTES = 1 << 16 }; /* a multiple of every page size */
    static char *memory;
    if (!memory) {
        memory =
            mmap(NULL, FUZZ_TEXT_LIMIT + 2 * GUARD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        FUZZ_CHECK(memory != MAP_FAILED);
        FUZZ_CHECK(mprotect(memory + FUZZ_TEXT_LIMIT + GUARD_BYTES, GUARD_BYTES, PROT_NONE) == 0);
    }
    FUZZ_CHECK(size <= FUZZ_TEXT_LIMIT);
    char *end = memory + FUZZ_TEXT_LIMIT + GUARD_BYTES;
    memset(end - PYRO_SCAN_PADDING, stale, PYRO_SCAN_PADDING);
    char *text = end - PYRO_SCAN_PADDING - size;
    if (size)
        memcpy(text, data, size);
    return text;
}

/* Whether the bytes are UTF-8 as RFC 3629 has it, written without a look at the library's own. */
static inline bool fuzz_is_utf8(const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        uint32_t code = bytes[i];
        size_t more = code < 0x80 ? 0 : code >> 5 == 6 ? 1 : code >> 4 == 14 ? 2 : code >> 3 == 30 ? 3 : 9;
        if (more > 3 || more > len - i - 1)
            return false;
        static const uint32_t masks[] = {0x7f, 0x1f, 0x0f, 0x07}, least[] = {0, 0x80, 0x800, 0x10000};
        code &= masks[more];
        for (size_t k = 1; k <= more; k++) {
            if (bytes[i + k] >> 6 != 2)
                return false;
            code = code << 6 | (bytes[i + k] & 0x3f);
        }
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
        i += more + 1;
    }
    return true;
}

#endif
