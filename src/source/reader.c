/* A part's reader: input -> codec -> the caller's buffer. */
#include <string.h>

#include "base/memory/allocator.h"
#include "source/archives/archive_formats.h"
#include "source/archives/tar.h"
#include "source/codecs/codec.h"
#include "source/input.h"
#include "source/text_encoding.h"

struct pyro_reader {
    const struct pyro_allocator *allocator;
    struct pyro_input input;
    const struct pyro_codec *codec; /* NULL: plain */
    void *state;                    /* the codec's */
    unsigned char
        head[PYRO_ARCHIVE_HEAD]; /* what was read to recognize the codec; head[given..read) is still to be read */
    size_t head_given, head_read;
    unsigned char first[PYRO_ARCHIVE_HEAD]; /* decompressed bytes that were looked at; first[first_given..first_read) */
    size_t first_given, first_read;
    bool first_ends, looked; /* nothing is behind them; they were read */
    enum pyro_text_encoding encoding;
    struct pyro_utf16 *utf16; /* of a text in UTF-16, else NULL */
    uint64_t consumed;
    uint64_t given, most_given; /* decompressed bytes handed out, and how many there may be */
    struct pyro_log_part part;  /* as the caller gave it */
    const char *damage;
    bool ended;
    char path[sizeof(((struct pyro_error *)0)->path)]; /* for errors: the path as far as they can hold it */
};

/* The codec's view of the input: first the bytes that were looked at, then the rest. */
static enum pyro_status read_stored(void *context, void *buffer, size_t capacity, size_t *ret_len,
                                    struct pyro_error *error)
{
    struct pyro_reader *reader = context;
    size_t waiting = reader->head_read - reader->head_given;
    if (waiting > 0) {
        *ret_len = waiting < capacity ? waiting : capacity;
        memcpy(buffer, reader->head + reader->head_given, *ret_len);
        reader->head_given += *ret_len;
    } else {
        PYRO_TRY(pyro_input_read(&reader->input, buffer, capacity, ret_len, error));
    }
    reader->consumed += *ret_len;
    return PYRO_OK;
}

uint64_t pyro_most_decompressed(uint64_t stored_bytes, uint64_t ratio)
{
    enum { RATIO = 1000, ALWAYS_ALLOWED = 64 << 20 };
    uint64_t most;
    if (__builtin_mul_overflow(stored_bytes, ratio ? ratio : RATIO, &most))
        return UINT64_MAX;
    return most > ALWAYS_ALLOWED ? most : ALWAYS_ALLOWED;
}

static enum pyro_status read_head(struct pyro_reader *reader, size_t wanted, struct pyro_error *error)
{
    size_t got = 1;
    while (got > 0 && reader->head_read < wanted) {
        PYRO_TRY(
            pyro_input_read(&reader->input, reader->head + reader->head_read, wanted - reader->head_read, &got, error));
        reader->head_read += got;
    }
    return PYRO_OK;
}

/* Skips the mark that a text begins with. `head`: the first bytes that the codec gives, or that are stored. */
static enum pyro_status find_encoding(struct pyro_reader *reader, const unsigned char *head, size_t len, size_t *given,
                                      struct pyro_error *error)
{
    size_t mark;
    reader->encoding = pyro_text_encoding_of(head, len, &mark);
    *given += mark;
    if (reader->encoding != PYRO_TEXT_UTF16_LE && reader->encoding != PYRO_TEXT_UTF16_BE)
        return PYRO_OK;
    reader->utf16 = pyro_allocate(reader->allocator, sizeof(*reader->utf16));
    if (!reader->utf16)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a reader");
    memset(reader->utf16, 0, sizeof(*reader->utf16));
    reader->utf16->big = reader->encoding == PYRO_TEXT_UTF16_BE;
    return PYRO_OK;
}

/* Files are recognized as archives when they are listed; this one comes through a pipe, or from another archive. */
static enum pyro_status refuse_archive(const struct pyro_reader *reader, enum pyro_archive_format format,
                                       struct pyro_error *error)
{
    return pyro_error_lasts(error,
                            pyro_error_set(error, PYRO_ERROR_INPUT,
                                           reader->part.member.ptr
                                               ? "is a %s archive inside an archive: unpack the outer one"
                                               : "is a %s archive, which cannot be read from a pipe: save it to a file",
                                           pyro_archive_name(format)));
}

static enum pyro_status begin(struct pyro_reader *reader, struct pyro_error *error)
{
    PYRO_TRY(read_head(reader, PYRO_SNIFF_BYTES, error));
    reader->codec = pyro_codec_recognise(reader->head, reader->head_read);
    if (reader->codec) {
        struct pyro_byte_input input = {read_stored, reader};
        return reader->codec->open(reader->allocator, input, &reader->state, error);
    }
    if (memchr(reader->head, '\0', reader->head_read)) /* a slow writer's text is not waited for */
        PYRO_TRY(read_head(reader, PYRO_ARCHIVE_HEAD, error));
    const char *compressor;
    enum pyro_archive_format format = pyro_archive_of_bytes(reader->head, reader->head_read, &compressor);
    if (compressor)
        return pyro_error_lasts(error, pyro_error_set(error, PYRO_ERROR_INPUT,
                                                      "is compressed with %s, which is read for tar archives only: "
                                                      "decompress it",
                                                      compressor));
    if (format != PYRO_ARCHIVE_NONE)
        return refuse_archive(reader, format, error);
    return find_encoding(reader, reader->head, reader->head_read, &reader->head_given, error);
}

enum pyro_status pyro_reader_open(const struct pyro_log_part *part, const struct pyro_allocator *allocator,
                                  struct pyro_reader **ret, struct pyro_error *error)
{
    struct pyro_reader *reader = pyro_allocate(allocator, sizeof(*reader));
    if (!reader)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "out of memory for a reader");
    memset(reader, 0, sizeof(*reader));
    reader->allocator = allocator;
    reader->most_given = part->most_bytes ? part->most_bytes : UINT64_MAX;
    reader->part = *part;
    size_t kept = part->path.len < sizeof(reader->path) ? part->path.len : sizeof(reader->path) - 1;
    memcpy(reader->path, part->path.ptr, kept);
    enum pyro_status status = pyro_input_open(&reader->input, part, allocator, error);
    if (status != PYRO_OK) {
        pyro_release(allocator, reader);
        return status;
    }
    status = begin(reader, error);
    if (status != PYRO_OK) {
        pyro_error_at(error, reader->path, UINT64_MAX);
        pyro_reader_close(reader);
        return status;
    }
    *ret = reader;
    return PYRO_OK;
}

void pyro_reader_close(struct pyro_reader *reader)
{
    if (!reader)
        return;
    if (reader->codec)
        reader->codec->close(reader->state);
    pyro_input_close(&reader->input);
    pyro_release(reader->allocator, reader->utf16);
    pyro_release(reader->allocator, reader);
}

enum pyro_status pyro_part_too_large(const struct pyro_log_part *part, struct pyro_error *error)
{
    pyro_error_describe(
        error, PYRO_ERROR_INPUT,
        "it decompresses to more than %llu bytes, which is not plausible for an event log of its size%s%s",
        (unsigned long long)part->most_bytes, part->limit_option ? "; if it is an event log, use " : "",
        part->limit_option ? part->limit_option : "");
    return pyro_error_lasts(error, PYRO_ERROR_INPUT);
}

static enum pyro_status may_go_on(const struct pyro_reader *reader, struct pyro_error *error)
{
    const struct pyro_reader_check *check = reader->part.check;
    return check ? check->go_on(check->context, error) : PYRO_OK;
}

enum pyro_status pyro_reader_take(struct pyro_reader *reader, struct pyro_unit *unit, struct pyro_error *error)
{
    unit->len = 0;
    if (reader->ended || !reader->codec || !reader->codec->take || !reader->looked || reader->utf16)
        return PYRO_OK;
    PYRO_TRY(may_go_on(reader, error));
    unit->codec = reader->codec;
    enum pyro_status status = reader->codec->take(reader->state, unit, error);
    if (status != PYRO_OK) {
        reader->ended = true;
        pyro_error_at(error, reader->path, UINT64_MAX);
    }
    return status;
}

/* What a compressed text begins with, and whether it is an archive: a file was looked at when it was listed. */
static enum pyro_status look_at_first(struct pyro_reader *reader, struct pyro_error *error)
{
    bool listed = reader->input.regular && !reader->part.member.ptr && !pyro_slice_is(reader->part.path, "-");
    reader->looked = true;
    while (!reader->first_ends && reader->first_read < sizeof(reader->first)) {
        size_t got = 0;
        PYRO_TRY(reader->codec->read(reader->state, reader->first + reader->first_read,
                                     sizeof(reader->first) - reader->first_read, &got, &reader->damage, error));
        reader->first_read += got;
        reader->first_ends = got == 0;
    }
    if (!listed && pyro_is_tar_header(reader->first, reader->first_read))
        return refuse_archive(reader, PYRO_ARCHIVE_TAR, error);
    return find_encoding(reader, reader->first, reader->first_read, &reader->first_given, error);
}

/* What the codec gives, after what was looked at; or what is stored. */
static enum pyro_status read_bytes(struct pyro_reader *reader, void *buffer, size_t capacity, size_t *ret_len,
                                   struct pyro_error *error)
{
    if (!reader->codec)
        return read_stored(reader, buffer, capacity, ret_len, error);
    size_t waiting = reader->first_read - reader->first_given;
    if (waiting == 0 && !reader->first_ends)
        return reader->codec->read(reader->state, buffer, capacity, ret_len, &reader->damage, error);
    *ret_len = waiting < capacity ? waiting : capacity;
    memcpy(buffer, reader->first + reader->first_given, *ret_len);
    reader->first_given += *ret_len;
    return PYRO_OK;
}

static enum pyro_status read_utf16(struct pyro_reader *reader, void *buffer, size_t capacity, size_t *ret_len,
                                   struct pyro_error *error)
{
    struct pyro_utf16 *utf16 = reader->utf16;
    size_t got = 1;
    while (utf16->out_at == utf16->out_len && got > 0) {
        PYRO_TRY(read_bytes(reader, utf16->in + utf16->in_len, sizeof(utf16->in) - utf16->in_len, &got, error));
        utf16->in_len += got;
        pyro_utf16_convert(utf16, got == 0);
    }
    size_t waiting = utf16->out_len - utf16->out_at;
    *ret_len = waiting < capacity ? waiting : capacity;
    memcpy(buffer, utf16->out + utf16->out_at, *ret_len);
    utf16->out_at += *ret_len;
    return PYRO_OK;
}

/* Text without a mark, in UTF-8 if it was in UTF-16. */
static enum pyro_status read_text(struct pyro_reader *reader, void *buffer, size_t capacity, size_t *ret_len,
                                  struct pyro_error *error)
{
    if (reader->codec && !reader->looked)
        PYRO_TRY(look_at_first(reader, error));
    return reader->utf16 ? read_utf16(reader, buffer, capacity, ret_len, error)
                         : read_bytes(reader, buffer, capacity, ret_len, error);
}

enum pyro_status pyro_reader_read(struct pyro_reader *reader, void *buffer, size_t capacity, size_t *ret_len,
                                  struct pyro_error *error)
{
    *ret_len = 0;
    if (reader->ended || capacity == 0)
        return PYRO_OK;
    PYRO_TRY(may_go_on(reader, error));
    enum pyro_status status = read_text(reader, buffer, capacity, ret_len, error);
    reader->given += *ret_len;
    if (status == PYRO_OK && reader->given > reader->most_given)
        status = pyro_part_too_large(&reader->part, error);
    if (status != PYRO_OK) {
        *ret_len = 0;
        reader->ended = true;
        pyro_error_at(error, reader->path, UINT64_MAX);
        return status;
    }
    if (*ret_len == 0) {
        reader->ended = true;
        /* A cut archive also cuts the stream inside it: name the cause, not the consequence. */
        if (reader->input.damage)
            reader->damage = reader->input.damage;
    }
    return PYRO_OK;
}

const char *pyro_reader_damage(const struct pyro_reader *reader)
{
    return reader->ended ? reader->damage : NULL;
}

const char *pyro_reader_codec(const struct pyro_reader *reader)
{
    return reader->codec ? reader->codec->name : "plain";
}

void pyro_reader_position(const struct pyro_reader *reader, uint64_t *ret_consumed, uint64_t *ret_total)
{
    *ret_consumed = reader->consumed;
    *ret_total = reader->input.total;
}

bool pyro_reader_is_plain_file(const struct pyro_reader *reader, int *ret_fd, uint64_t *ret_size)
{
    if (reader->codec || reader->encoding != PYRO_TEXT_BYTES || !reader->input.regular || reader->input.total == 0)
        return false;
    *ret_fd = reader->input.fd;
    *ret_size = reader->input.total;
    return true;
}
