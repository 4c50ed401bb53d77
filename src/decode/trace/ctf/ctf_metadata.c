/* The file `metadata`: plain text, or packets of text in either byte order; then its language. */
#include <errno.h>
#include <unistd.h>

#include "base/json/scan.h"
#include "decode/trace/ctf/ctf.h"
#include "decode/trace/ctf/ctf_types.h"
#include "source/input.h"

/* Of a packet of metadata. */
enum { MAGIC = 0x75d11d57, HEADER = 37, UUID_AT = 4, CONTENT_AT = 24, SIZE_AT = 28, SCHEMES_AT = 32 };

/* Of fragments: begins each of them. */
enum { RECORD_SEPARATOR = 0x1e };

static uint32_t number_at(const char *bytes, bool big_endian)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? value : __builtin_bswap32(value);
}

static bool is_packet(struct pyro_slice text, bool *ret_big_endian)
{
    if (!text.ptr || text.len < 4)
        return false;
    *ret_big_endian = number_at(text.ptr, true) == MAGIC;
    return *ret_big_endian || number_at(text.ptr, false) == MAGIC;
}

bool pyro_ctf_recognise(struct pyro_slice head)
{
    static const char signature[] = "/* CTF 1.8 */";
    bool big_endian;
    if (is_packet(head, &big_endian))
        return true;
    size_t blanks = 0;
    while (blanks < head.len && strchr(" \t\r\n", head.ptr[blanks]) && head.ptr[blanks])
        blanks++;
    struct pyro_slice text = head;
    pyro_slice_drop(&text, blanks);
    if (pyro_slice_starts_with(text, signature))
        return true;
    if (head.len < 2 || head.ptr[0] != RECORD_SEPARATOR)
        return false;
    struct pyro_slice first = {head.ptr + 1, head.len - 1};
    const char *next = memchr(first.ptr, RECORD_SEPARATOR, first.len);
    if (next)
        first.len = (size_t)(next - first.ptr);
    return pyro_slice_find(first, "\"preamble\"") != NULL;
}

/* 0, or an errno; one byte more than the limit says that there is more. */
static int read_file(const char *path, struct pyro_strbuf *to)
{
    enum { PIECE = 1 << 16 };
    int fd = pyro_open_regular(path), failure = 0;
    if (fd < 0)
        return errno;
    for (ssize_t got = 1; got > 0 && to->len <= PYRO_CTF_METADATA_MAX;) {
        if (!pyro_strbuf_reserve(to, PIECE + PYRO_SCAN_PADDING))
            break;
        got = read(fd, to->data + to->len, PIECE);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            to->len += (size_t)got;
        else if (got < 0)
            failure = errno;
    }
    close(fd);
    return failure;
}

/* Takes the texts out of their packets, in place. NULL: done; else why not. */
static const char *unpack(struct pyro_ctf_metadata *metadata)
{
    struct pyro_strbuf *text = &metadata->text;
    size_t at = 0, len = 0;
    bool big_endian = false;
    while (at < text->len) {
        struct pyro_slice packet = {text->data + at, text->len - at};
        if (packet.len < HEADER || !is_packet(packet, &big_endian))
            return at == 0 ? "the first packet is cut" : NULL; /* what came until then is used */
        size_t content = number_at(packet.ptr + CONTENT_AT, big_endian) / 8;
        size_t size = number_at(packet.ptr + SIZE_AT, big_endian) / 8;
        if (memcmp(packet.ptr + SCHEMES_AT, "\0\0\0", 3) != 0)
            return "its packets are compressed, encrypted or have checksums";
        if (content < HEADER || size < content)
            return "a packet has a wrong size";
        if (at == 0) {
            memcpy(metadata->uuid, packet.ptr + UUID_AT, sizeof(metadata->uuid));
            metadata->big_endian = big_endian;
        }
        if (content > packet.len)
            content = packet.len;
        memmove(text->data + len, packet.ptr + HEADER, content - HEADER);
        len += content - HEADER;
        at += size;
    }
    text->len = len;
    return NULL;
}

static enum pyro_status refuse(struct pyro_error *error, const char *why)
{
    return pyro_error_set(error, PYRO_ERROR_INPUT, "the metadata of the trace cannot be read: %s", why);
}

static enum pyro_status parse(struct pyro_ctf_metadata *metadata, struct pyro_error *error)
{
    struct pyro_strbuf *text = &metadata->text;
    bool big_endian;
    if (is_packet(pyro_strbuf_slice(text), &big_endian)) {
        const char *why = unpack(metadata);
        if (why)
            return refuse(error, why);
    }
    memset(text->data + text->len, 0, PYRO_SCAN_PADDING);
    if (text->len > 0 && text->data[0] == RECORD_SEPARATOR) {
        metadata->version = 2;
        metadata->big_endian = false;
        return pyro_ctf_parse_fragments(metadata, text->data, text->len, error);
    }
    return pyro_ctf_parse_tsdl(metadata, text->data, text->len, error);
}

enum pyro_status pyro_ctf_read_metadata(const char *path, struct pyro_ctf_metadata *metadata, struct pyro_error *error)
{
    struct pyro_strbuf *text = &metadata->text;
    enum pyro_status status;
    int failure = read_file(path, text);
    if (text->failed)
        return pyro_no_memory(error);
    if (failure != 0)
        status = pyro_error_set(error, PYRO_ERROR_INPUT, "%s", strerror(failure));
    else if (text->len > PYRO_CTF_METADATA_MAX)
        status = refuse(error, "they are larger than 64 MiB");
    else if (text->len == 0)
        status = refuse(error, "the file is empty");
    else
        status = parse(metadata, error);
    if (status != PYRO_OK)
        pyro_error_at(error, path, UINT64_MAX);
    return status;
}
