/* The scans, written once over 64-byte blocks. Included by scan.c once for each instruction set with:
 *
 *     SCAN(name)       name of a function in this variant
 *     SCAN_TARGET      function attributes that switch the instruction set on
 *     struct SCAN(block), SCAN(load)(p), SCAN(equal)(block, byte), SCAN(below)(block, byte), SCAN(high)(block):
 *                      64 bytes, and bit masks over them (bit i: byte i)
 *     SCAN(has_any)(block, four): whether any byte is one of these four
 *     SCAN(prefix_xor)(mask): bit i is the parity of bits 0..i
 *
 * Why it is fast: inside an accumulables array brackets are rare, so most blocks cost a load, a few compares and a
 * carry of the quote parity; nothing is written. */

/* Bits of quotes that no backslash escapes. *escaped is 1 when the block's first byte is escaped by the one before. */
SCAN_TARGET static inline uint64_t SCAN(real_quotes)(uint64_t quotes, uint64_t backslashes, uint64_t *escaped)
{
    if (__builtin_expect(backslashes == 0, 1)) {
        uint64_t first = *escaped;
        *escaped = 0;
        return quotes & ~first;
    }
    /* Escapes are rare in what is skipped: walking them beats clever arithmetic that every block would pay for. */
    uint64_t escaped_bits = *escaped;
    uint64_t rest = backslashes & ~escaped_bits;
    *escaped = 0;
    while (rest) {
        uint64_t bit = rest & (0 - rest);
        uint64_t next = bit << 1;
        escaped_bits |= next;
        if (!next)
            *escaped = 1;
        rest &= ~(bit | next);
    }
    return quotes & ~escaped_bits;
}

/* First backslash among `backslashes` (bits of the block at p) that begins no escape of JSON, or -1. */
SCAN_TARGET static inline int SCAN(bad_escape)(const char *p, const char *end, uint64_t backslashes)
{
    for (; backslashes; backslashes &= backslashes - 1) {
        int at = __builtin_ctzll(backslashes);
        if (!is_escape(p + at, end))
            return at;
    }
    return -1;
}

SCAN_TARGET static const char *SCAN(string_end)(const char *p, const char *end, unsigned *ret_flags)
{
    uint64_t escaped = 0; /* 1: the block's first byte is escaped by the one before */
    for (; p < end; p += 64) {
        struct SCAN(block) block = SCAN(load)(p);
        uint64_t backslashes = SCAN(equal)(&block, '\\'), begins = 0;
        uint64_t quotes = SCAN(equal)(&block, '"'), stops = SCAN(below)(&block, 0x20);
        uint64_t high = SCAN(high)(&block);
        size_t rest = (size_t)(end - p);
        if (rest < 64)
            stops |= 1ULL << rest;
        if (backslashes | escaped) {
            uint64_t escaped_bits = escaped;
            uint64_t left = backslashes & ~escaped_bits;
            escaped = 0;
            while (left) {
                uint64_t bit = left & (0 - left), next = bit << 1;
                begins |= bit;
                escaped_bits |= next;
                escaped |= next == 0;
                left &= ~(bit | next);
            }
            quotes &= ~escaped_bits;
        }
        stops |= quotes;
        uint64_t before = stops ? (stops & (0 - stops)) - 1 : ~0ULL;
        begins &= before;
        *ret_flags |= (high & before) != 0 ? PYRO_SCAN_NON_ASCII : 0;
        if (begins) {
            *ret_flags |= PYRO_SCAN_ESCAPES;
            int bad = SCAN(bad_escape)(p, end, begins);
            if (bad >= 0) {
                *ret_flags |= PYRO_SCAN_BAD_ESCAPE;
                return p + bad;
            }
        }
        if (stops)
            return p + __builtin_ctzll(stops);
    }
    return end;
}

/* Bits of the first letter of words that a colon comes right before. *colon: whether the block before ended in one. */
SCAN_TARGET static inline uint64_t SCAN(after_colon)(const struct SCAN(block) * block, uint64_t inside, uint64_t *colon)
{
    uint64_t colons = SCAN(equal)(block, ':') & ~inside, after = colons << 1 | *colon;
    *colon = colons >> 63;
    return after;
}

SCAN_TARGET static inline void SCAN(count_words)(struct pyro_scan_words *words, uint64_t objects, uint64_t yes,
                                                 uint64_t no, int sign)
{
    words->objects += (uint64_t)(int64_t)(sign * __builtin_popcountll(objects));
    words->yes += (uint64_t)(int64_t)(sign * __builtin_popcountll(yes));
    words->no += (uint64_t)(int64_t)(sign * __builtin_popcountll(no));
}

/* `words` is constant wherever this is expanded: without it nothing is counted. */
SCAN_TARGET static inline __attribute__((always_inline)) const char *
SCAN(array_end_counting)(const char *p, const char *end, struct pyro_scan_words *words)
{
    uint64_t in_string = 0; /* all ones while a string is open at the block's start */
    uint64_t escaped = 0, colon = 0;
    int64_t depth = 1;  /* of '[' */
    int64_t braces = 0; /* '{' less '}' since the array began */
    for (; p < end; p += 64) {
        struct SCAN(block) block = SCAN(load)(p);
        if (!words && !escaped && end - p >= 64 && !SCAN(has_any)(&block, "[]\n\\")) {
            /* Most blocks of accumulables: braces and quotes only. */
            uint64_t within = SCAN(prefix_xor)(SCAN(equal)(&block, '"')) ^ in_string;
            in_string = 0 - (within >> 63);
            braces += __builtin_popcountll(SCAN(equal)(&block, '{') & ~within) -
                      __builtin_popcountll(SCAN(equal)(&block, '}') & ~within);
            continue;
        }
        uint64_t quotes = SCAN(real_quotes)(SCAN(equal)(&block, '"'), SCAN(equal)(&block, '\\'), &escaped);
        uint64_t inside = SCAN(prefix_xor)(quotes) ^ in_string;
        in_string = 0 - (inside >> 63);
        uint64_t opening = SCAN(equal)(&block, '{') & ~inside;
        uint64_t closing = SCAN(equal)(&block, '}') & ~inside;
        uint64_t brackets = (SCAN(equal)(&block, '[') | SCAN(equal)(&block, ']')) & ~inside;
        uint64_t newlines = SCAN(equal)(&block, '\n');
        size_t rest = (size_t)(end - p);
        if (__builtin_expect(rest < 64, 0))
            newlines |= 1ULL << rest;
        uint64_t yes = 0, no = 0;
        if (words) {
            uint64_t after = SCAN(after_colon)(&block, inside, &colon);
            yes = after & SCAN(equal)(&block, 't');
            no = after & SCAN(equal)(&block, 'f');
            SCAN(count_words)(words, opening, yes, no, 1);
        }
        if (__builtin_expect((brackets | newlines) == 0, 1)) {
            braces += __builtin_popcountll(opening) - __builtin_popcountll(closing);
            continue;
        }
        for (uint64_t events = brackets | newlines; events; events &= events - 1) {
            int at = __builtin_ctzll(events);
            if (newlines >> at & 1)
                return NULL;
            if (p[at] == '[') {
                depth++;
            } else if (--depth == 0) {
                uint64_t before = (1ULL << at) - 1;
                braces += __builtin_popcountll(opening & before) - __builtin_popcountll(closing & before);
                if (words) /* what follows the array was counted with it */
                    SCAN(count_words)(words, opening & ~before, yes & ~before, no & ~before, -1);
                return braces == 0 ? p + at + 1 : NULL;
            }
        }
        braces += __builtin_popcountll(opening) - __builtin_popcountll(closing);
    }
    return NULL;
}

SCAN_TARGET static const char *SCAN(array_end)(const char *p, const char *end)
{
    return SCAN(array_end_counting)(p, end, NULL);
}

SCAN_TARGET static const char *SCAN(array_words)(const char *p, const char *end, struct pyro_scan_words *ret)
{
    *ret = (struct pyro_scan_words){0};
    return SCAN(array_end_counting)(p, end, ret);
}

/* Objects nest deeply and brackets are everywhere: a block that closes fewer than are open needs only counting. */
SCAN_TARGET static const char *SCAN(container_end)(const char *p, const char *end)
{
    uint64_t in_string = 0, escaped = 0;
    int64_t depth = 1;
    for (; p < end; p += 64) {
        struct SCAN(block) block = SCAN(load)(p);
        uint64_t quotes = SCAN(real_quotes)(SCAN(equal)(&block, '"'), SCAN(equal)(&block, '\\'), &escaped);
        uint64_t inside = SCAN(prefix_xor)(quotes) ^ in_string;
        in_string = 0 - (inside >> 63);
        uint64_t opening = (SCAN(equal)(&block, '{') | SCAN(equal)(&block, '[')) & ~inside;
        uint64_t closing = (SCAN(equal)(&block, '}') | SCAN(equal)(&block, ']')) & ~inside;
        uint64_t newlines = SCAN(equal)(&block, '\n');
        size_t rest = (size_t)(end - p);
        if (__builtin_expect(rest < 64, 0))
            newlines |= 1ULL << rest;
        int64_t closed = __builtin_popcountll(closing);
        if (__builtin_expect(newlines == 0 && closed < depth, 1)) {
            depth += __builtin_popcountll(opening) - closed;
            continue;
        }
        for (uint64_t events = opening | closing | newlines; events; events &= events - 1) {
            int at = __builtin_ctzll(events);
            if (newlines >> at & 1)
                return NULL;
            if (opening >> at & 1)
                depth++;
            else if (--depth == 0)
                return p + at + 1;
        }
    }
    return NULL;
}

static const struct pyro_scan SCAN(table) = {SCAN_NAME, SCAN(string_end), SCAN(array_end), SCAN(container_end),
                                             SCAN(array_words)};

#undef SCAN
#undef SCAN_TARGET
#undef SCAN_NAME
