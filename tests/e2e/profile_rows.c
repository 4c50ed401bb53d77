/* profile_rows FILE: prints what the decoder of profiles makes of a file, one row a line, its fields between tabs.
 * Tests compare these with what other programs read in the same file. */
#include <inttypes.h>
#include <stdio.h>

#include "decode/profiling/profiling.h"
#include "model/column.h"
#include "source/discovery/walk.h"

static void put_text(struct pyro_slice text)
{
    printf("\t");
    for (size_t i = 0; i < text.len; i++)
        putchar(text.ptr[i] == '\t' || text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
}

static void put_number(int64_t number)
{
    if (number == PYRO_NONE)
        printf("\t");
    else
        printf("\t%" PRId64, number);
}

static void put_thread(const struct pyro_tracks *tracks, int32_t thread)
{
    const struct pyro_thread_row *row = pyro_tracks_thread(tracks, (size_t)thread);
    put_number(row->pid);
    put_number(row->tid);
    put_text(row->name);
}

/* Innermost first. */
static void put_stack(const struct pyro_tracks *tracks, int32_t stack)
{
    printf("\t");
    for (const char *separator = ""; stack >= 0; separator = ";") {
        struct pyro_stack_row row = pyro_tracks_stack(tracks, (size_t)stack);
        const struct pyro_frame_row *frame = pyro_tracks_frame(tracks, (size_t)row.frame);
        printf("%s%.*s", separator, (int)frame->function.len, frame->function.ptr);
        if (frame->line != PYRO_NONE)
            printf(":%" PRId64, frame->line);
        stack = row.parent;
    }
}

static void print_samples(const struct pyro_tracks *tracks)
{
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_SAMPLES); i++) {
        struct pyro_sample_row row = pyro_tracks_sample(tracks, i);
        printf("sample\t%s\t%s", pyro_sample_event_name(row.event), pyro_thread_state_name(row.state));
        put_number(row.time_ns);
        put_number(row.weight);
        put_thread(tracks, row.thread);
        put_stack(tracks, row.stack);
        printf("\n");
    }
}

static void print_spans(const struct pyro_tracks *tracks)
{
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_SPANS); i++) {
        struct pyro_span_row row = pyro_tracks_span(tracks, i);
        printf("span\t%s", pyro_span_kind_name(row.kind));
        put_number(row.start_ns);
        put_number(row.duration_ns);
        put_number(row.value);
        put_thread(tracks, row.thread);
        put_text(row.name);
        printf("\n");
    }
}

static void print_points(const struct pyro_tracks *tracks)
{
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_POINTS); i++) {
        struct pyro_point_row row = pyro_tracks_point(tracks, i);
        const struct pyro_series_row *series = pyro_tracks_series(tracks, (size_t)row.series);
        printf("point");
        put_text(series->name);
        put_text(series->labels);
        put_number(row.time_ns);
        printf("\t%.17g", row.value);
        put_thread(tracks, series->thread);
        printf("\n");
    }
}

static void print_others(const struct pyro_tracks *tracks, const struct pyro_profile_facts *facts)
{
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_OWNERS); i++) {
        struct pyro_owner_row row = pyro_tracks_owner(tracks, i);
        printf("owner");
        put_number(row.start_ns);
        put_number(row.end_ns);
        put_number(row.task);
        put_number(row.stage);
        put_number(row.stage_attempt);
        put_text(row.method);
        put_thread(tracks, row.thread);
        printf("\n");
    }
    const struct pyro_artefact_row *artefact = pyro_tracks_artefact(tracks, 0);
    printf("artefact");
    put_text(artefact->kind);
    put_text(artefact->executor);
    put_number(artefact->bytes);
    put_number(artefact->rows);
    put_text(artefact->problems);
    printf("\nfacts\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", facts->records, facts->rejected,
           facts->other, facts->unknown);
}

static int fail(const struct pyro_error *error)
{
    fprintf(stderr, "profile_rows: %s\n", error->message);
    return (int)error->code;
}

int main(int argc, char **argv)
{
    static char head[PYRO_ARTEFACT_HEAD];
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_profile_facts facts;
    struct pyro_reader *reader = NULL;
    size_t len = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: profile_rows FILE\n");
        return 2;
    }
    const struct pyro_log_part part = {.path = pyro_slice_from(argv[1])};
    if (pyro_part_head(&part, NULL, head, sizeof(head), &len, &error) != PYRO_OK ||
        pyro_reader_open(&part, NULL, &reader, &error) != PYRO_OK)
        return fail(&error);
    struct pyro_slice start = {head, len};
    struct pyro_artefact_source source = pyro_artefact_source_of(part.path, start);
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    enum pyro_status status = pyro_profile_decode(tracks, pyro_profile_recognise(start, len < sizeof(head)), &source,
                                                  reader, NULL, NULL, &facts, &error);
    if (status == PYRO_OK && pyro_tracks_seal(tracks)) {
        print_samples(tracks);
        print_spans(tracks);
        print_points(tracks);
        print_others(tracks, &facts);
    }
    pyro_tracks_free(tracks);
    pyro_reader_close(reader);
    return status == PYRO_OK ? 0 : fail(&error);
}
