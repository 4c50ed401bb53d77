/* Where a zstd frame ends, from its headers alone (RFC 8878): for frames that are decompressed side by side. */
#ifndef PYRO_SOURCE_ZSTD_FRAME_H
#define PYRO_SOURCE_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>

struct pyro_zstd_frame {
    size_t stored;     /* bytes, from its magic number to its checksum */
    size_t plain_most; /* it decompresses to no more */
};

enum pyro_zstd_frame_state {
    PYRO_ZSTD_FRAME_WHOLE,
    PYRO_ZSTD_FRAME_CUT,  /* it may go on behind the bytes */
    PYRO_ZSTD_FRAME_OTHER /* damaged, of no kind that is known here, or larger than a unit may be */
};

/* The frame, or the skippable frame, that begins at `at`. */
enum pyro_zstd_frame_state pyro_zstd_frame_find(const unsigned char *at, size_t len, struct pyro_zstd_frame *ret);

#endif
