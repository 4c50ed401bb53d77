#include "load/load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory/allocator.h"
#include "base/threads/cpu_meter.h"
#include "base/threads/thread.h"
#include "load/feed.h"
#include "load/lines.h"
#include "load/logged/logged.h"
#include "source/progress.h"

enum { MOST_THREADS = 64, TICK_MS = 100, SMALL_RANGE_BYTES = 256 << 10 };

/* A range of a plain file that is read when it is decoded; or the chunk is already filled. */
struct piece {
    bool deferred;
    int fd;
    uint64_t from, to, size;
};

/* A slot goes round: the reader fills it, any free thread decodes it, the calling thread applies it in its turn. */
enum slot_state { SLOT_FREE, SLOT_BUSY, SLOT_FILLED, SLOT_READY };

struct slot {
    enum slot_state state;
    uint64_t sequence;
    struct piece piece;
    struct pyro_chunk chunk;
};

/* A part of the log that is open. Workers that read ranges of a plain file share it; the last one closes it. */
struct open_part {
    struct pyro_reader *reader;
    size_t index;
    bool plain;
    int fd;
    uint64_t size, next; /* plain: bytes, and where the next range begins */
    uint64_t reading;    /* plain: ranges handed out that are not read yet; under `mutex` */
    bool taken;          /* plain: no range is left to hand out; under `mutex` */
};

struct load {
    const struct pyro_log *log;
    const struct pyro_load_settings *options;
    const struct pyro_load_sink *sink;
    uint64_t max_record;
    uint64_t range_bytes;  /* of plain parts that are read at a time */
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct slot *slots;
    size_t slot_count;
    uint64_t taken, ended; /* pieces handed out; pieces in all, once known (UINT64_MAX before) */
    bool stop;
    enum pyro_status status;
    struct pyro_error error;

    /* Of the reading thread, unless open_part says otherwise: */
    struct open_part *parts; /* one for each part of the log, open from its first piece to its last */
    size_t part;
    bool begun;
    uint32_t wanted;       /* of all batches; known when the first piece was taken */
    uint64_t bytes_before; /* stored bytes of the parts that have been read to their end */

    atomic_uint_fast64_t bytes_done;
    struct pyro_stopwatch reading, decoding; /* of all threads; under `mutex` */
    struct pyro_stopwatch building;          /* of the calling thread */
};

/* Records beyond a part's limit are as long as may be, or an error. */
static uint64_t longest_record(const struct pyro_log *log, const struct pyro_load_settings *options)
{
    uint64_t most = options->max_record_bytes;
    for (size_t i = 0; i < log->part_count; i++)
        if (log->parts[i].most_line_bytes && log->parts[i].most_line_bytes < most)
            most = log->parts[i].most_line_bytes;
    return most;
}

static enum pyro_status charge(const struct load *load, uint64_t *stamp, struct pyro_error *error)
{
    return pyro_cpu_charge(load->log->meter, stamp) ? PYRO_OK : pyro_cpu_exceeded(load->log->meter, error);
}

static void fail(struct load *load, enum pyro_status status, const struct pyro_error *error)
{
    pthread_mutex_lock(&load->mutex);
    if (load->status == PYRO_OK) {
        load->status = status;
        load->error = *error;
    }
    load->stop = true;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->mutex);
}

static enum pyro_status open_part(struct load *load, struct pyro_error *error)
{
    struct open_part *part = &load->parts[load->part];
    if (part->reader)
        return PYRO_OK;
    PYRO_TRY(pyro_reader_open(&load->log->parts[load->part], load->options->allocator, &part->reader, error));
    part->index = load->part;
    part->plain = pyro_reader_is_plain_file(part->reader, &part->fd, &part->size);
    if (load->sink->from) {
        if (!part->plain)
            return pyro_error_set(error, PYRO_ERROR_INPUT, "it is no longer a plain file");
        part->next = load->sink->from[load->part];
        part->size = load->sink->until[load->part];
    }
    return PYRO_OK;
}

static void add_progress(struct load *load, const struct open_part *part)
{
    if (part->plain)
        return;
    uint64_t consumed, total;
    pyro_reader_position(part->reader, &consumed, &total);
    atomic_store_explicit(&load->bytes_done, load->bytes_before + consumed, memory_order_relaxed);
}

/* Counts ranges of a plain part that were handed out (1) or read (-1); closes the part behind its last one. */
static void count_range(struct load *load, struct open_part *part, int change, bool last)
{
    pthread_mutex_lock(&load->mutex);
    part->reading += (uint64_t)(int64_t)change;
    part->taken |= last;
    struct pyro_reader *done_with = part->taken && part->reading == 0 ? part->reader : NULL;
    if (done_with)
        part->reader = NULL;
    pthread_mutex_unlock(&load->mutex);
    pyro_reader_close(done_with);
}

static void count_lap(struct load *load, const struct pyro_stopwatch *begun, struct pyro_stopwatch *sum)
{
    struct pyro_stopwatch taken = {0};
    if (!load->options->phases.take)
        return;
    pyro_lap_end(&load->options->phases, begun, &taken);
    pthread_mutex_lock(&load->mutex);
    sum->wall_us += taken.wall_us;
    sum->cpu_us += taken.cpu_us;
    pthread_mutex_unlock(&load->mutex);
}

/* What the log begins with decides what all its batches have. */
static void see_beginning(struct load *load, const struct open_part *part, const struct pyro_chunk *chunk)
{
    char head[64];
    struct pyro_slice text = {chunk->buffer, chunk->len};
    if (load->begun)
        return;
    load->begun = true;
    if (part->plain) {
        ssize_t len = pread(part->fd, head, sizeof(head), 0);
        text = (struct pyro_slice){head, len > 0 ? (size_t)len : 0};
    }
    load->wanted = load->sink->wanted | pyro_batch_wanted_by(text);
}

/* Takes the next piece of the log; *ret_more false when there is none. */
static enum pyro_status take_piece(struct load *load, struct pyro_chunk *chunk, struct piece *piece, bool *ret_more,
                                   struct pyro_error *error)
{
    *piece = (struct piece){0};
    *ret_more = load->part < load->log->part_count;
    if (!*ret_more)
        return PYRO_OK;
    PYRO_TRY(open_part(load, error));
    struct open_part *part = &load->parts[load->part];
    bool end = false;
    chunk->part = load->part;
    if (part->plain) {
        uint64_t left = part->size - part->next;
        *piece = (struct piece){true, part->fd, part->next,
                                part->next + (left < load->range_bytes ? left : load->range_bytes), part->size};
        part->next = piece->to;
        end = part->next >= part->size;
        piece->deferred = piece->to > piece->from;
        pyro_chunk_empty(chunk);
        count_range(load, part, piece->deferred, end);
    } else {
        struct pyro_stopwatch begun = pyro_lap_begin(&load->options->phases);
        PYRO_TRY(pyro_chunk_read_stream(chunk, part->reader, error));
        end = chunk->ends;
        count_lap(load, &begun, &load->reading);
        add_progress(load, part);
    }
    see_beginning(load, part, chunk);
    chunk->batch.wanted = load->wanted;
    if (end) {
        if (!part->plain) {
            load->bytes_before = atomic_load_explicit(&load->bytes_done, memory_order_relaxed);
            pyro_reader_close(part->reader);
            part->reader = NULL;
        }
        load->part++;
    }
    return PYRO_OK;
}

static enum pyro_status decode_piece(struct load *load, struct pyro_chunk *chunk, const struct piece *piece,
                                     struct pyro_error *error)
{
    struct pyro_stopwatch begun = pyro_lap_begin(&load->options->phases);
    if (piece->deferred) {
        PYRO_TRY(pyro_chunk_read_range(chunk, piece->fd, piece->from, piece->to, piece->size, load->max_record, error));
        count_range(load, &load->parts[chunk->part], -1, false);
        atomic_fetch_add_explicit(&load->bytes_done, piece->to - piece->from, memory_order_relaxed);
    } else if (chunk->stream) {
        PYRO_TRY(pyro_chunk_cut_stream(chunk, error));
    }
    count_lap(load, &begun, &load->reading);
    begun = pyro_lap_begin(&load->options->phases);
    pyro_batch_clear(&chunk->batch);
    if (!pyro_batch_decode(&chunk->batch, chunk->text, chunk->len))
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to decode the log");
    count_lap(load, &begun, &load->decoding);
    return PYRO_OK;
}

static void set_state(struct load *load, struct slot *slot, enum slot_state state)
{
    pthread_mutex_lock(&load->mutex);
    slot->state = state;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->mutex);
}

/* The filled slot that is to be applied first, now the caller's to decode; NULL when there is none. Under `mutex`. */
static struct slot *take_filled(struct load *load)
{
    struct slot *first = NULL;
    for (size_t i = 0; i < load->slot_count; i++) {
        struct slot *slot = &load->slots[i];
        if (slot->state == SLOT_FILLED && (!first || slot->sequence < first->sequence))
            first = slot;
    }
    if (first)
        first->state = SLOT_BUSY;
    return first;
}

static void decode_slot(struct load *load, struct slot *slot, uint64_t *stamp)
{
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = decode_piece(load, &slot->chunk, &slot->piece, &error);
    if (status == PYRO_OK)
        status = charge(load, stamp, &error);
    if (status != PYRO_OK) {
        pyro_error_at(&error, load->log->parts[slot->chunk.part].path.ptr, slot->piece.from);
        fail(load, status, &error);
        return;
    }
    set_state(load, slot, SLOT_READY);
}

/* The slot of the next piece once it is free, or NULL: stopped. Who reads faster than others decode helps them. */
static struct slot *wait_for_free(struct load *load, uint64_t *stamp)
{
    pthread_mutex_lock(&load->mutex);
    struct slot *slot = &load->slots[load->taken % load->slot_count];
    while (!load->stop && slot->state != SLOT_FREE) {
        struct slot *filled = take_filled(load);
        if (!filled) {
            pthread_cond_wait(&load->changed, &load->mutex);
            continue;
        }
        pthread_mutex_unlock(&load->mutex);
        decode_slot(load, filled, stamp);
        pthread_mutex_lock(&load->mutex);
    }
    if (load->stop)
        slot = NULL;
    else
        slot->state = SLOT_BUSY;
    pthread_mutex_unlock(&load->mutex);
    return slot;
}

static void *decode_pieces(void *context)
{
    struct load *load = context;
    uint64_t stamp = pyro_cpu_now();
    for (;;) {
        struct slot *slot = NULL;
        pthread_mutex_lock(&load->mutex);
        while (!load->stop && !(slot = take_filled(load)) && load->ended == UINT64_MAX)
            pthread_cond_wait(&load->changed, &load->mutex);
        bool stop = load->stop;
        pthread_mutex_unlock(&load->mutex);
        if (stop || !slot)
            return NULL;
        decode_slot(load, slot, &stamp);
    }
}

/* The only thread that reads streams: a decompressor that moved from core to core would leave its window behind. */
static void *read_pieces(void *context)
{
    struct load *load = context;
    uint64_t stamp = pyro_cpu_now();
    for (struct slot *slot; (slot = wait_for_free(load, &stamp));) {
        struct pyro_error error = {.size = sizeof(error)};
        bool more = false;
        enum pyro_status status = take_piece(load, &slot->chunk, &slot->piece, &more, &error);
        if (status == PYRO_OK)
            status = charge(load, &stamp, &error);
        if (status != PYRO_OK) {
            pyro_error_at(&error, load->part < load->log->part_count ? load->log->parts[load->part].path.ptr : "",
                          UINT64_MAX);
            fail(load, status, &error);
            return NULL;
        }
        pthread_mutex_lock(&load->mutex);
        slot->state = more ? SLOT_FILLED : SLOT_FREE;
        slot->sequence = load->taken;
        if (more)
            load->taken++;
        else
            load->ended = load->taken;
        pthread_cond_broadcast(&load->changed);
        pthread_mutex_unlock(&load->mutex);
        if (!more)
            return decode_pieces(load);
    }
    return NULL;
}

/* ---- Applying, on the calling thread ---- */

struct applier {
    const struct pyro_load_sink *sink;
    size_t part;
    uint64_t stamp; /* of the calling thread's processor time */
    /* Of a stream: lines that chunks have in common, and how many bytes there were so far. */
    struct pyro_feed seam;
    bool line_too_long; /* in it */
    uint64_t given;
    bool damaged; /* nothing behind the damage counts */
};

static bool apply_seam(void *context, const struct pyro_batch *batch)
{
    const struct applier *applier = context;
    return applier->sink->apply(applier->sink->context, batch);
}

static bool reject_long_seam(void *context, uint64_t len)
{
    struct applier *applier = context;
    applier->line_too_long = true;
    return applier->sink->reject_long(applier->sink->context, len);
}

static void begin_applying(struct applier *applier, const struct load *load)
{
    const struct pyro_load_sink seam = {
        .context = applier, .wanted = load->sink->wanted, .apply = apply_seam, .reject_long = reject_long_seam};
    *applier = (struct applier){.sink = load->sink, .part = SIZE_MAX, .stamp = pyro_cpu_now()};
    pyro_feed_init(&applier->seam, load->options->allocator, &seam, load->max_record);
}

/* *ret_ok false: no memory. */
static enum pyro_status apply_stream(struct applier *applier, const struct pyro_log_part *part,
                                     const struct pyro_chunk *chunk, bool *ret_ok, struct pyro_error *error)
{
    const struct pyro_load_sink *sink = applier->sink;
    if (applier->damaged)
        return PYRO_OK;
    applier->given += chunk->head.len + chunk->len + chunk->tail.len;
    if (part->most_bytes && applier->given > part->most_bytes) {
        enum pyro_status status = pyro_part_too_large(part, error);
        pyro_error_at(error, part->path.ptr, UINT64_MAX);
        return status;
    }
    applier->seam.begun = true;
    applier->seam.chunk.batch.wanted = chunk->batch.wanted;
    bool ok = pyro_feed_add(&applier->seam, chunk->head.ptr, chunk->head.len);
    ok = ok && (!chunk->len || sink->apply(sink->context, &chunk->batch));
    ok = ok && pyro_feed_add(&applier->seam, chunk->tail.ptr, chunk->tail.len);
    if (chunk->ends) {
        applier->damaged = chunk->damage[0] != '\0';
        ok = ok && pyro_feed_end(&applier->seam);
    }
    *ret_ok = ok;
    return applier->line_too_long && part->most_line_bytes ? pyro_line_too_long(part, error) : PYRO_OK;
}

static enum pyro_status apply_chunk(struct load *load, struct applier *applier, const struct pyro_chunk *chunk,
                                    struct pyro_error *error)
{
    const struct pyro_load_sink *sink = applier->sink;
    const struct pyro_log_part *part = &load->log->parts[chunk->part];
    struct pyro_stopwatch begun = pyro_lap_begin(&load->options->phases);
    bool ok = true, was_damaged = applier->damaged;
    if (applier->part != chunk->part) {
        applier->part = chunk->part;
        applier->given = 0;
        was_damaged = applier->damaged = false;
        ok = sink->begin_part(sink->context, pyro_part_name(part));
    }
    if (ok && chunk->stream)
        PYRO_TRY(apply_stream(applier, part, chunk, &ok, error));
    else if (ok)
        ok = sink->apply(sink->context, &chunk->batch);
    pyro_lap_end(&load->options->phases, &begun, &load->building);
    if (chunk->long_record && part->most_line_bytes)
        return pyro_line_too_long(part, error);
    if (ok && chunk->long_record)
        ok = sink->reject_long(sink->context, chunk->long_record);
    if (ok && chunk->damage[0] && !was_damaged)
        ok = sink->note_damage(sink->context, chunk->damage);
    return ok ? PYRO_OK : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left to build the application");
}

static enum pyro_status report_progress(struct load *load, struct pyro_progress_meter *meter, struct pyro_error *error)
{
    return pyro_progress_report(meter, atomic_load_explicit(&load->bytes_done, memory_order_relaxed), error);
}

/* Waits until a piece can be applied, decoding others meanwhile. *ret_end: there is none. */
static enum pyro_status wait_for_ready(struct load *load, uint64_t sequence, struct applier *applier,
                                       struct pyro_progress_meter *meter, bool *ret_end, struct pyro_error *error)
{
    struct slot *slot = &load->slots[sequence % load->slot_count];
    pthread_mutex_lock(&load->mutex);
    while (!load->stop && sequence != load->ended && !(slot->state == SLOT_READY && slot->sequence == sequence)) {
        struct slot *filled = take_filled(load);
        if (!filled) /* woken now and then though nothing is ready, so that a slow pipe can be canceled */
            pyro_condition_wait(&load->changed, &load->mutex, pyro_clock_ms() + TICK_MS);
        pthread_mutex_unlock(&load->mutex);
        if (filled)
            decode_slot(load, filled, &applier->stamp);
        PYRO_TRY(report_progress(load, meter, error));
        pthread_mutex_lock(&load->mutex);
    }
    bool stop = load->stop;
    *ret_end = sequence == load->ended;
    pthread_mutex_unlock(&load->mutex);
    if (!stop)
        return PYRO_OK;
    pyro_error_copy(error, &load->error);
    return load->status;
}

static enum pyro_status apply_all(struct load *load, struct applier *applier, struct pyro_progress_meter *meter,
                                  struct pyro_error *error)
{
    for (uint64_t sequence = 0;; sequence++) {
        struct slot *slot = &load->slots[sequence % load->slot_count];
        bool end = false;
        PYRO_TRY(wait_for_ready(load, sequence, applier, meter, &end, error));
        if (end)
            return PYRO_OK;
        PYRO_TRY(apply_chunk(load, applier, &slot->chunk, error));
        PYRO_TRY(charge(load, &applier->stamp, error));
        set_state(load, slot, SLOT_FREE);
        PYRO_TRY(report_progress(load, meter, error));
    }
}

/* One thread: read, decode and apply in turn. */
static enum pyro_status run_alone(struct load *load, struct applier *applier, struct pyro_progress_meter *meter,
                                  struct pyro_error *error)
{
    struct pyro_chunk *chunk = &load->slots[0].chunk;
    for (;;) {
        struct piece piece;
        bool more;
        enum pyro_status status = take_piece(load, chunk, &piece, &more, error);
        if (status != PYRO_OK) {
            if (load->part < load->log->part_count)
                pyro_error_at(error, load->log->parts[load->part].path.ptr, UINT64_MAX);
            return status;
        }
        if (!more)
            return PYRO_OK;
        PYRO_TRY(decode_piece(load, chunk, &piece, error));
        PYRO_TRY(apply_chunk(load, applier, chunk, error));
        PYRO_TRY(charge(load, &applier->stamp, error));
        PYRO_TRY(report_progress(load, meter, error));
    }
}

static enum pyro_status run_threads(struct load *load, unsigned threads, struct applier *applier,
                                    struct pyro_progress_meter *meter, struct pyro_error *error)
{
    struct pyro_thread reader = {0}, decoders[MOST_THREADS] = {{0}};
    unsigned wanted = threads - 2, started = 0; /* in addition to the caller and the one that reads */
    if (!pyro_thread_start(&reader, read_pieces, load))
        return run_alone(load, applier, meter, error);
    while (started < wanted && pyro_thread_start(&decoders[started], decode_pieces, load))
        started++;
    enum pyro_status status = apply_all(load, applier, meter, error);
    pthread_mutex_lock(&load->mutex);
    load->stop = true;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->mutex);
    pyro_thread_join(&reader);
    for (unsigned i = 0; i < started; i++)
        pyro_thread_join(&decoders[i]);
    return status;
}

static enum pyro_status prepare(struct load *load, size_t slot_count, uint32_t wanted, struct pyro_error *error)
{
    const struct pyro_allocator *allocator = load->options->allocator;
    const struct pyro_scan *scan = pyro_scan_best();
    load->slots = pyro_allocate(allocator, slot_count * sizeof(*load->slots));
    load->parts = pyro_allocate(allocator, load->log->part_count * sizeof(*load->parts));
    if (load->parts) /* done() looks at them, whatever else is wanting */
        memset(load->parts, 0, load->log->part_count * sizeof(*load->parts));
    if (!load->slots || !load->parts)
        return pyro_no_memory(error);
    for (; load->slot_count < slot_count; load->slot_count++) {
        load->slots[load->slot_count].state = SLOT_FREE;
        pyro_chunk_init(&load->slots[load->slot_count].chunk, allocator, scan, load->max_record, wanted);
    }
    return PYRO_OK;
}

static void done(struct load *load)
{
    for (size_t i = 0; i < load->slot_count; i++)
        pyro_chunk_done(&load->slots[i].chunk);
    for (size_t i = 0; load->parts && i < load->log->part_count; i++)
        pyro_reader_close(load->parts[i].reader);
    pyro_release(load->options->allocator, load->slots);
    pyro_release(load->options->allocator, load->parts);
    pthread_cond_destroy(&load->changed);
    pthread_mutex_destroy(&load->mutex);
}

static void report_phases(const struct load *load, const struct pyro_stopwatch *begun, unsigned threads)
{
    const struct pyro_phases *phases = &load->options->phases;
    pyro_phase_end(phases, begun, "load", threads);
    pyro_phase_part(phases, &load->reading, "read", "load", threads);
    pyro_phase_part(phases, &load->decoding, "decode", "load", threads);
    pyro_phase_part(phases, &load->building, "build", "load", 1);
}

enum pyro_status pyro_load_batches(const struct pyro_log *log, const struct pyro_load_settings *options,
                                   const struct pyro_load_sink *sink, struct pyro_error *error)
{
    if (log->layout == PYRO_LAYOUT_LOGS)
        return pyro_logged_batches(log, options, sink, error);
    struct load load = {
        .log = log, .options = options, .sink = sink, .range_bytes = PYRO_CHUNK_BYTES, .ended = UINT64_MAX};
    load.max_record = longest_record(log, options);
    struct applier applier;
    struct pyro_progress_meter meter;
    unsigned threads = options->threads < MOST_THREADS ? options->threads : MOST_THREADS;
    uint64_t bytes = pyro_progress_start(&meter, options, log);
    if (bytes && bytes <= 2 * PYRO_CHUNK_BYTES) {
        threads = 1;                          /* starting threads would take longer than reading, */
        load.range_bytes = SMALL_RANGE_BYTES; /* and touching new memory longer than reading again and again */
    }
    struct pyro_stopwatch begun = pyro_phase_begin(&options->phases);
    begin_applying(&applier, &load);
    pthread_mutex_init(&load.mutex, NULL);
    pyro_condition_init(&load.changed);
    enum pyro_status status = prepare(&load, threads > 1 ? 2 * threads + 1 : 1, sink->wanted, error);
    if (status == PYRO_OK)
        status = threads > 1 ? run_threads(&load, threads, &applier, &meter, error)
                             : run_alone(&load, &applier, &meter, error);
    report_phases(&load, &begun, threads);
    pyro_feed_done(&applier.seam);
    done(&load);
    return status;
}
