#include "report/diagnosis/html_pack.h"

#include <limits.h>
#include <string.h>

#include "base/memory/allocator.h"

enum { PLAIN_MOST = 32 << 10, GZIP_WINDOW = 15 + 16, LEVEL = 3, MEMORY_LEVEL = 8, GROUP = 3 };

int pyro_html_write_escaped(void *context, const void *data, size_t len)
{
    struct pyro_output *page = context;
    const char *from = data, *end = from + len;
    while (from < end) {
        const char *mark = memchr(from, '<', (size_t)(end - from));
        pyro_strbuf_add(&page->buffer, from, (size_t)((mark ? mark : end) - from));
        if (!mark)
            break;
        pyro_strbuf_add_text(&page->buffer, "\\u003c");
        from = mark + 1;
    }
    pyro_output_flush(page, false);
    return 0;
}

static void fail(struct pyro_html_pack *pack)
{
    if (pack->page->status == PYRO_OK)
        pack->page->status = PYRO_ERROR_MEMORY;
}

static void begin_key(struct pyro_html_pack *pack)
{
    pyro_strbuf_printf(&pack->page->buffer, "%s\"%s\": ", pack->separator, pack->name);
    pack->begun = true;
}

/* ---- Base64 of what is compressed ---- */

static char *put_group(char *to, const unsigned char *from, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)from[0] << 16 | (uint32_t)(len > 1 ? from[1] : 0) << 8 | (len > 2 ? from[2] : 0);
    to[0] = digits[bits >> 18];
    to[1] = digits[bits >> 12 & 63];
    to[2] = len > 1 ? digits[bits >> 6 & 63] : '=';
    to[3] = len > 2 ? digits[bits & 63] : '=';
    return to + 4;
}

/* All that is compressed so far: a whole number of groups, except at the end. */
static void write_out(struct pyro_html_pack *pack)
{
    char text[sizeof(pack->out) / GROUP * 4], *end = text;
    size_t len = sizeof(pack->out) - pack->stream.avail_out;
    for (size_t at = 0; at < len; at += GROUP)
        end = put_group(end, pack->out + at, len - at < GROUP ? len - at : GROUP);
    pyro_strbuf_add(&pack->page->buffer, text, (size_t)(end - text));
    pyro_output_flush(pack->page, false);
    pack->stream.next_out = pack->out;
    pack->stream.avail_out = sizeof(pack->out);
}

/* ---- Compressing ---- */

static voidpf zlib_allocate(voidpf allocator, uInt count, uInt size)
{
    return pyro_allocate(allocator, (size_t)count * size);
}

static void zlib_release(voidpf allocator, voidpf memory)
{
    pyro_release(allocator, memory);
}

static void compress_piece(struct pyro_html_pack *pack, const void *data, size_t len, int flush)
{
    z_stream *stream = &pack->stream;
    stream->next_in = pyro_unconst(data); /* which it only reads */
    stream->avail_in = (unsigned)len;
    int result = Z_OK;
    do {
        result = deflate(stream, flush);
        if (stream->avail_out == 0)
            write_out(pack);
    } while (result == Z_OK && (stream->avail_in > 0 || flush == Z_FINISH));
}

static void compress_bytes(struct pyro_html_pack *pack, const char *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        size_t piece = len - done < INT_MAX ? len - done : INT_MAX;
        compress_piece(pack, data + done, piece, Z_NO_FLUSH);
        done += piece;
    }
}

static void begin_packed(struct pyro_html_pack *pack)
{
    pack->stream = (z_stream){
        .zalloc = zlib_allocate, .zfree = zlib_release, .opaque = pyro_unconst(pack->page->buffer.allocator)};
    if (deflateInit2(&pack->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        fail(pack);
        return;
    }
    pack->packed = true;
    pack->stream.next_out = pack->out;
    pack->stream.avail_out = sizeof(pack->out);
    begin_key(pack);
    pyro_strbuf_add_text(&pack->page->buffer, "{\"gzip\": \"");
    compress_bytes(pack, pack->held.data, pack->held.len);
}

/* ---- One document ---- */

void pyro_html_pack_begin(struct pyro_html_pack *pack, struct pyro_output *page, const char *separator,
                          const char *name)
{
    pack->page = page;
    pack->separator = separator;
    pack->name = name;
    pack->begun = pack->packed = false;
    pyro_strbuf_init(&pack->held, page->buffer.allocator);
}

int pyro_html_pack_write(void *context, const void *data, size_t len)
{
    struct pyro_html_pack *pack = context;
    if (!pack->packed && pack->held.len + len <= PLAIN_MOST) {
        pyro_strbuf_add(&pack->held, data, len);
        return 0;
    }
    if (!pack->packed && pack->page->status == PYRO_OK)
        begin_packed(pack);
    if (pack->packed)
        compress_bytes(pack, data, len);
    return 0;
}

void pyro_html_pack_end(struct pyro_html_pack *pack)
{
    if (pack->held.failed)
        fail(pack);
    if (pack->packed) {
        compress_piece(pack, NULL, 0, Z_FINISH);
        write_out(pack);
        deflateEnd(&pack->stream);
        pyro_strbuf_add_text(&pack->page->buffer, "\"}");
    } else if (pack->held.len) {
        begin_key(pack);
        pyro_html_write_escaped(pack->page, pack->held.data, pack->held.len);
    }
    pyro_strbuf_done(&pack->held);
}
