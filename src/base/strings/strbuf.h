/* A growing text buffer. After a failed growth it stays valid, keeps `failed` set and ignores further appends, so that
 * callers may check once at the end. */
#ifndef PYRO_BASE_STRINGS_STRBUF_H
#define PYRO_BASE_STRINGS_STRBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"
#include "pyrometer.h"

struct pyro_strbuf {
    const struct pyro_allocator *allocator;
    char *data; /* NUL-terminated once anything was appended */
    size_t len, capacity;
    bool failed;
};

void pyro_strbuf_init(struct pyro_strbuf *buffer, const struct pyro_allocator *allocator);
void pyro_strbuf_done(struct pyro_strbuf *buffer);
void pyro_strbuf_clear(struct pyro_strbuf *buffer);
bool pyro_strbuf_reserve(struct pyro_strbuf *buffer, size_t more);
void pyro_strbuf_add(struct pyro_strbuf *buffer, const char *text, size_t len);
void pyro_strbuf_add_text(struct pyro_strbuf *buffer, const char *text);
void pyro_strbuf_add_slice(struct pyro_strbuf *buffer, struct pyro_slice text);
void pyro_strbuf_add_char(struct pyro_strbuf *buffer, char byte);
void pyro_strbuf_add_int(struct pyro_strbuf *buffer, int64_t value);
void pyro_strbuf_printf(struct pyro_strbuf *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline struct pyro_slice pyro_strbuf_slice(const struct pyro_strbuf *buffer)
{
    return (struct pyro_slice){buffer->data ? buffer->data : "", buffer->len};
}

/* Writes to the buffer, which must outlive the writer. */
struct pyro_writer pyro_strbuf_writer(struct pyro_strbuf *buffer);

#endif
