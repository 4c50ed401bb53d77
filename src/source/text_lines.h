/* The lines of a text file, one after the other, in constant memory: for logs that no program checks the form of. */
#ifndef PYRO_SOURCE_TEXT_LINES_H
#define PYRO_SOURCE_TEXT_LINES_H

#include "source/source.h"

enum { PYRO_TEXT_LINE_BYTES = 1 << 20 };

struct pyro_text_lines {
    const struct pyro_allocator *allocator;
    struct pyro_reader *reader;
    char *buffer; /* twice the longest line */
    size_t begin, end;
    bool ended, skipping;
    uint64_t place;  /* offset of the newest line in the decompressed file */
    uint64_t number; /* of the newest line, from 1 */
    uint64_t cut;    /* lines whose end beyond PYRO_TEXT_LINE_BYTES was dropped */
    uint64_t next_place;
};

/* The reader stays the caller's. */
enum pyro_status pyro_text_lines_init(struct pyro_text_lines *lines, struct pyro_reader *reader,
                                      const struct pyro_allocator *allocator, struct pyro_error *error);
void pyro_text_lines_done(struct pyro_text_lines *lines);
/* The next line without its end ("\n" or "\r\n"), valid until the next call; a null slice at the end of the file.
 * PYRO_SCAN_PADDING readable bytes follow it. */
enum pyro_status pyro_text_lines_next(struct pyro_text_lines *lines, struct pyro_slice *ret, struct pyro_error *error);

#endif
