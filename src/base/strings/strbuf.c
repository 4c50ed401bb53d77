#include "base/strings/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory/allocator.h"

void pyro_strbuf_init(struct pyro_strbuf *buffer, const struct pyro_allocator *allocator)
{
    *buffer = (struct pyro_strbuf){.allocator = allocator};
}

void pyro_strbuf_done(struct pyro_strbuf *buffer)
{
    pyro_release(buffer->allocator, buffer->data);
    pyro_strbuf_init(buffer, buffer->allocator);
}

void pyro_strbuf_clear(struct pyro_strbuf *buffer)
{
    buffer->len = 0;
    buffer->failed = false;
    if (buffer->data)
        buffer->data[0] = '\0';
}

bool pyro_strbuf_reserve(struct pyro_strbuf *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    size_t needed;
    if (__builtin_add_overflow(buffer->len + 1, more, &needed) || needed > SIZE_MAX / 2) {
        buffer->failed = true;
        return false;
    }
    if (needed <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity < 128 ? 256 : buffer->capacity * 2;
    if (capacity < needed)
        capacity = needed;
    char *data = pyro_reallocate(buffer->allocator, buffer->data, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void pyro_strbuf_add(struct pyro_strbuf *buffer, const char *text, size_t len)
{
    if (!pyro_strbuf_reserve(buffer, len))
        return;
    if (len)
        memcpy(buffer->data + buffer->len, text, len);
    buffer->len += len;
    buffer->data[buffer->len] = '\0';
}

void pyro_strbuf_add_text(struct pyro_strbuf *buffer, const char *text)
{
    pyro_strbuf_add(buffer, text, strlen(text));
}

void pyro_strbuf_add_slice(struct pyro_strbuf *buffer, struct pyro_slice text)
{
    pyro_strbuf_add(buffer, text.ptr, text.len);
}

void pyro_strbuf_add_char(struct pyro_strbuf *buffer, char byte)
{
    if ((buffer->failed || buffer->capacity - buffer->len < 2) && !pyro_strbuf_reserve(buffer, 1))
        return;
    buffer->data[buffer->len++] = byte;
    buffer->data[buffer->len] = '\0';
}

void pyro_strbuf_add_int(struct pyro_strbuf *buffer, int64_t value)
{
    char digits[24];
    char *end = digits + sizeof(digits), *p = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        *--p = '-';
    pyro_strbuf_add(buffer, p, (size_t)(end - p));
}

void pyro_strbuf_printf(struct pyro_strbuf *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        buffer->failed = true;
    else if (pyro_strbuf_reserve(buffer, (size_t)len)) {
        vsnprintf(buffer->data + buffer->len, (size_t)len + 1, format, again);
        buffer->len += (size_t)len;
    }
    va_end(again);
}

static int append(void *context, const void *data, size_t len)
{
    struct pyro_strbuf *buffer = context;
    pyro_strbuf_add(buffer, data, len);
    return buffer->failed;
}

struct pyro_writer pyro_strbuf_writer(struct pyro_strbuf *buffer)
{
    return (struct pyro_writer){sizeof(struct pyro_writer), append, buffer};
}
