#include "base/json/scan.h"

#include <string.h>

static inline uint64_t shift_prefix_xor(uint64_t mask)
{
    mask ^= mask << 1;
    mask ^= mask << 2;
    mask ^= mask << 4;
    mask ^= mask << 8;
    mask ^= mask << 16;
    return mask ^ (mask << 32);
}

static inline int is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

/* Whether a backslash at p begins an escape of JSON that ends before `end`. */
static inline int is_escape(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    switch (p[1]) {
    case 'n':
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'r':
    case 't':
        return 1;
    case 'u':
        return end - p >= 6 && is_hex(p[2]) && is_hex(p[3]) && is_hex(p[4]) && is_hex(p[5]);
    default:
        return 0;
    }
}

/* ---- scalar: any processor, and the reference that the others are tested against ---- */

#define SCAN(name) scalar_##name
#define SCAN_TARGET
#define SCAN_NAME "scalar"

struct SCAN(block) {
    const unsigned char *bytes;
};

static inline struct SCAN(block) SCAN(load)(const char *p)
{
    return (struct SCAN(block)){(const unsigned char *)p};
}

static inline uint64_t SCAN(equal)(const struct SCAN(block) * block, char byte)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(block->bytes[i] == (unsigned char)byte) << i;
    return mask;
}

static inline int SCAN(has_any)(const struct SCAN(block) * block, const char *four)
{
    return (SCAN(equal)(block, four[0]) | SCAN(equal)(block, four[1]) | SCAN(equal)(block, four[2]) |
            SCAN(equal)(block, four[3])) != 0;
}

static inline uint64_t SCAN(below)(const struct SCAN(block) * block, unsigned char byte)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(block->bytes[i] < byte) << i;
    return mask;
}

static inline uint64_t SCAN(high)(const struct SCAN(block) * block)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++)
        mask |= (uint64_t)(block->bytes[i] >> 7) << i;
    return mask;
}

static inline uint64_t SCAN(prefix_xor)(uint64_t mask)
{
    return shift_prefix_xor(mask);
}

#include "base/json/scan_template.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* ---- SSE4.2 ---- */

#define SCAN(name)  sse42_##name
#define SCAN_TARGET __attribute__((target("sse4.2,popcnt")))
#define SCAN_NAME   "SSE4.2"

struct SCAN(block) {
    __m128i part[4];
};

SCAN_TARGET static inline struct SCAN(block) SCAN(load)(const char *p)
{
    struct SCAN(block) block;
    for (int i = 0; i < 4; i++)
        block.part[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
    return block;
}

SCAN_TARGET static inline uint64_t sse42_mask(__m128i a, __m128i b, __m128i c, __m128i d)
{
    uint64_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
    uint64_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
    return low | high << 32;
}

SCAN_TARGET static inline uint64_t SCAN(equal)(const struct SCAN(block) * block, char byte)
{
    __m128i x = _mm_set1_epi8(byte);
    const __m128i *part = block->part;
    return sse42_mask(_mm_cmpeq_epi8(part[0], x), _mm_cmpeq_epi8(part[1], x), _mm_cmpeq_epi8(part[2], x),
                      _mm_cmpeq_epi8(part[3], x));
}

SCAN_TARGET static inline int SCAN(has_any)(const struct SCAN(block) * block, const char *four)
{
    __m128i found = _mm_setzero_si128();
    for (int i = 0; i < 4; i++)
        for (int part = 0; part < 4; part++)
            found = _mm_or_si128(found, _mm_cmpeq_epi8(block->part[part], _mm_set1_epi8(four[i])));
    return !_mm_testz_si128(found, found);
}

SCAN_TARGET static inline uint64_t SCAN(below)(const struct SCAN(block) * block, unsigned char byte)
{
    __m128i x = _mm_set1_epi8((char)(byte - 1)), mask[4];
    for (int i = 0; i < 4; i++)
        mask[i] = _mm_cmpeq_epi8(_mm_min_epu8(block->part[i], x), block->part[i]);
    return sse42_mask(mask[0], mask[1], mask[2], mask[3]);
}

SCAN_TARGET static inline uint64_t SCAN(high)(const struct SCAN(block) * block)
{
    return sse42_mask(block->part[0], block->part[1], block->part[2], block->part[3]);
}

SCAN_TARGET static inline uint64_t SCAN(prefix_xor)(uint64_t mask)
{
    return shift_prefix_xor(mask);
}

#include "base/json/scan_template.h"

/* ---- AVX2 ---- */

#define SCAN(name)  avx2_##name
#define SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul")))
#define SCAN_NAME   "AVX2"

struct SCAN(block) {
    __m256i low, high;
};

SCAN_TARGET static inline struct SCAN(block) SCAN(load)(const char *p)
{
    return (struct SCAN(block)){_mm256_loadu_si256((const __m256i *)(const void *)p),
                                _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}

SCAN_TARGET static inline uint64_t avx2_mask(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

SCAN_TARGET static inline uint64_t SCAN(equal)(const struct SCAN(block) * block, char byte)
{
    __m256i x = _mm256_set1_epi8(byte);
    return avx2_mask(_mm256_cmpeq_epi8(block->low, x), _mm256_cmpeq_epi8(block->high, x));
}

SCAN_TARGET static inline int SCAN(has_any)(const struct SCAN(block) * block, const char *four)
{
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int i = 0; i < 4; i++) {
        __m256i x = _mm256_set1_epi8(four[i]);
        low = _mm256_or_si256(low, _mm256_cmpeq_epi8(block->low, x));
        high = _mm256_or_si256(high, _mm256_cmpeq_epi8(block->high, x));
    }
    low = _mm256_or_si256(low, high);
    return !_mm256_testz_si256(low, low);
}

SCAN_TARGET static inline uint64_t SCAN(below)(const struct SCAN(block) * block, unsigned char byte)
{
    __m256i x = _mm256_set1_epi8((char)(byte - 1));
    return avx2_mask(_mm256_cmpeq_epi8(_mm256_min_epu8(block->low, x), block->low),
                     _mm256_cmpeq_epi8(_mm256_min_epu8(block->high, x), block->high));
}

SCAN_TARGET static inline uint64_t SCAN(high)(const struct SCAN(block) * block)
{
    return avx2_mask(block->low, block->high);
}

SCAN_TARGET static inline uint64_t SCAN(prefix_xor)(uint64_t mask)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)mask), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#include "base/json/scan_template.h"

/* ---- AVX-512 (byte and word instructions) ---- */

#define SCAN(name)  avx512_##name
#define SCAN_TARGET __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt,pclmul")))
#define SCAN_NAME   "AVX-512"

struct SCAN(block) {
    __m512i bytes;
};

SCAN_TARGET static inline struct SCAN(block) SCAN(load)(const char *p)
{
    return (struct SCAN(block)){_mm512_loadu_si512((const void *)p)};
}

SCAN_TARGET static inline uint64_t SCAN(equal)(const struct SCAN(block) * block, char byte)
{
    return _mm512_cmpeq_epi8_mask(block->bytes, _mm512_set1_epi8(byte));
}

SCAN_TARGET static inline int SCAN(has_any)(const struct SCAN(block) * block, const char *four)
{
    return (SCAN(equal)(block, four[0]) | SCAN(equal)(block, four[1]) | SCAN(equal)(block, four[2]) |
            SCAN(equal)(block, four[3])) != 0;
}

SCAN_TARGET static inline uint64_t SCAN(below)(const struct SCAN(block) * block, unsigned char byte)
{
    return _mm512_cmplt_epu8_mask(block->bytes, _mm512_set1_epi8((char)byte));
}

SCAN_TARGET static inline uint64_t SCAN(high)(const struct SCAN(block) * block)
{
    return (uint64_t)_mm512_movepi8_mask(block->bytes);
}

SCAN_TARGET static inline uint64_t SCAN(prefix_xor)(uint64_t mask)
{
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)mask), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

#include "base/json/scan_template.h"

static size_t supported(const struct pyro_scan **variants)
{
    size_t count = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul"))
        variants[count++] = &avx512_table;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul"))
        variants[count++] = &avx2_table;
    if (__builtin_cpu_supports("sse4.2"))
        variants[count++] = &sse42_table;
    variants[count++] = &scalar_table;
    return count;
}

#elif defined(__aarch64__)
#include <arm_neon.h>

/* ---- NEON: every 64-bit ARM has it ---- */

#define SCAN(name) neon_##name
#define SCAN_TARGET
#define SCAN_NAME "NEON"

struct SCAN(block) {
    uint8x16_t part[4];
};

static inline struct SCAN(block) SCAN(load)(const char *p)
{
    struct SCAN(block) block;
    for (int i = 0; i < 4; i++)
        block.part[i] = vld1q_u8((const uint8_t *)p + 16 * i);
    return block;
}

/* Bit i of the result: lane i is all ones. Three pairwise additions of weighted lanes. */
static inline uint64_t neon_mask(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, weights), vandq_u8(b, weights));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, weights), vandq_u8(d, weights));
    uint8x16_t abcd = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
}

static inline uint64_t SCAN(equal)(const struct SCAN(block) * block, char byte)
{
    uint8x16_t x = vdupq_n_u8((uint8_t)byte);
    const uint8x16_t *part = block->part;
    return neon_mask(vceqq_u8(part[0], x), vceqq_u8(part[1], x), vceqq_u8(part[2], x), vceqq_u8(part[3], x));
}

static inline int SCAN(has_any)(const struct SCAN(block) * block, const char *four)
{
    return (SCAN(equal)(block, four[0]) | SCAN(equal)(block, four[1]) | SCAN(equal)(block, four[2]) |
            SCAN(equal)(block, four[3])) != 0;
}

static inline uint64_t SCAN(below)(const struct SCAN(block) * block, unsigned char byte)
{
    uint8x16_t x = vdupq_n_u8(byte);
    const uint8x16_t *part = block->part;
    return neon_mask(vcltq_u8(part[0], x), vcltq_u8(part[1], x), vcltq_u8(part[2], x), vcltq_u8(part[3], x));
}

static inline uint64_t SCAN(high)(const struct SCAN(block) * block)
{
    uint8x16_t x = vdupq_n_u8(0x80);
    const uint8x16_t *part = block->part;
    return neon_mask(vcgeq_u8(part[0], x), vcgeq_u8(part[1], x), vcgeq_u8(part[2], x), vcgeq_u8(part[3], x));
}

static inline uint64_t SCAN(prefix_xor)(uint64_t mask)
{
    return shift_prefix_xor(mask);
}

#include "base/json/scan_template.h"

static size_t supported(const struct pyro_scan **variants)
{
    variants[0] = &neon_table;
    variants[1] = &scalar_table;
    return 2;
}

#else

static size_t supported(const struct pyro_scan **variants)
{
    variants[0] = &scalar_table;
    return 1;
}

#endif

const struct pyro_scan *pyro_scan_best(void)
{
    return pyro_scan_variant(0);
}

const struct pyro_scan *pyro_scan_variant(size_t n)
{
    const struct pyro_scan *variants[4];
    return n < supported(variants) ? variants[n] : NULL;
}
