#include "load/feed.h"

#include <string.h>

void pyro_feed_init(struct pyro_feed *feed, const struct pyro_allocator *allocator, const struct pyro_load_sink *sink,
                    uint64_t max_record)
{
    *feed = (struct pyro_feed){.sink = *sink, .max_record = max_record};
    pyro_chunk_init(&feed->chunk, allocator, pyro_scan_best(), max_record, sink->wanted);
}

void pyro_feed_done(struct pyro_feed *feed)
{
    pyro_chunk_done(&feed->chunk);
}

/* Decodes the first `len` bytes of the buffer, which are whole lines or the log's end, and moves the rest to the front.
 */
static bool decode_front(struct pyro_feed *feed, size_t len)
{
    struct pyro_chunk *chunk = &feed->chunk;
    if (!feed->begun && len)
        chunk->batch.wanted |= pyro_batch_wanted_by((struct pyro_slice){chunk->buffer, len});
    feed->begun |= len > 0;
    pyro_batch_clear(&chunk->batch);
    if (len &&
        (!pyro_batch_decode(&chunk->batch, chunk->buffer, len) || !feed->sink.apply(feed->sink.context, &chunk->batch)))
        return false;
    chunk->len -= len;
    if (chunk->len)
        memmove(chunk->buffer, chunk->buffer + len, chunk->len);
    return true;
}

static bool reject_discarded(struct pyro_feed *feed)
{
    uint64_t len = feed->discarded;
    feed->discarded = 0;
    return feed->sink.reject_long(feed->sink.context, len);
}

/* While a record beyond the limit is skipped: how many of the bytes belong to it. */
static size_t skip_long_record(struct pyro_feed *feed, const char *bytes, size_t len, bool *ret_ok)
{
    const char *newline = memchr(bytes, '\n', len);
    size_t used = newline ? (size_t)(newline + 1 - bytes) : len;
    feed->discarded += used;
    *ret_ok = !newline || reject_discarded(feed);
    return used;
}

bool pyro_feed_add(struct pyro_feed *feed, const char *bytes, size_t len)
{
    struct pyro_chunk *chunk = &feed->chunk;
    if (len == 0)
        return true; /* `bytes` may be null then */
    for (const char *at = bytes, *end = at + len; at < end;) {
        if (feed->discarded) {
            bool ok;
            at += skip_long_record(feed, at, (size_t)(end - at), &ok);
            if (!ok)
                return false;
            continue;
        }
        size_t take = (size_t)(end - at) < PYRO_CHUNK_BYTES ? (size_t)(end - at) : PYRO_CHUNK_BYTES;
        if (!pyro_chunk_reserve(chunk, chunk->len + take))
            return false;
        memcpy(chunk->buffer + chunk->len, at, take);
        const char *newline = memrchr(chunk->buffer + chunk->len, '\n', take);
        chunk->len += take;
        at += take;
        if (newline && !decode_front(feed, (size_t)(newline + 1 - chunk->buffer)))
            return false;
        if (chunk->len > feed->max_record) {
            feed->discarded = chunk->len;
            chunk->len = 0;
        }
    }
    return true;
}

bool pyro_feed_end(struct pyro_feed *feed)
{
    return decode_front(feed, feed->chunk.len) && (!feed->discarded || reject_discarded(feed));
}
