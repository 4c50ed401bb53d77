/* Files that claim to be of a profiler: what is read of them is rows that can be drawn in every format. A file that is
 * of no known kind is taken for a recording, whose decoder has the most to check. */
#include <stdio.h>
#include <unistd.h>

#include "fuzz_kit.h"
#include "report/flame/flame.h"
#include "source/discovery/walk.h"

static int count_bytes(void *context, const void *data, size_t len)
{
    size_t *bytes = context;
    (void)data;
    *bytes += len;
    return 0;
}

static void draw(const struct pyro_tracks *tracks, const struct pyro_profile_order *order)
{
    static const enum pyro_flame_event events[] = {PYRO_FLAME_ANY, PYRO_FLAME_ALLOC, PYRO_FLAME_LOCK};
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        const struct pyro_flame_filter filter = {
            .event = events[i], .from_ns = INT64_MIN, .to_ns = INT64_MIN, .combined = i == 0};
        struct pyro_flame_count count = {0};
        struct pyro_flame flame;
        struct pyro_output output;
        size_t bytes = 0;
        const struct pyro_writer writer = {sizeof(writer), count_bytes, &bytes};
        FUZZ_CHECK(pyro_flame_init(&flame, NULL));
        FUZZ_CHECK(pyro_flame_gather(&flame, tracks, order, &filter, PYRO_FLAME_AFTER, &count));
        pyro_flame_finish(&flame);
        FUZZ_CHECK(flame.nodes.items[0].total[PYRO_FLAME_AFTER] == count.taken);
        pyro_output_init(&output, &writer, NULL);
        pyro_flame_write_folded(&flame, &output);
        pyro_flame_write_svg(&flame, &output);
        pyro_flame_write_speedscope(&flame, &output);
        pyro_flame_write_pprof(&flame, &output);
        FUZZ_CHECK(pyro_output_done(&output, NULL) == PYRO_OK);
        pyro_flame_done(&flame);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_profile_facts facts;
    struct pyro_profile_order order;
    struct pyro_reader *reader;
    if (fd < 0)
        fd = memfd_create("profile", 0);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const struct pyro_log_part part = {.path = pyro_slice_from(path), .most_bytes = 1 << 24};
    if (pyro_reader_open(&part, NULL, &reader, &error) != PYRO_OK)
        return 0;
    enum pyro_profile_kind kind = pyro_profile_recognise((struct pyro_slice){(const char *)data, size}, true);
    const struct pyro_artefact_source source = {.path = pyro_slice_from("profile")};
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    FUZZ_CHECK(tracks);
    pyro_profile_order_init(&order, NULL);
    enum pyro_status status = pyro_profile_decode(tracks, kind == PYRO_PROFILE_KINDS ? PYRO_PROFILE_JFR : kind, &source,
                                                  reader, NULL, &order, &facts, &error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
    if (status == PYRO_OK) {
        FUZZ_CHECK(pyro_tracks_seal(tracks));
        draw(tracks, &order);
    }
    pyro_profile_order_done(&order, NULL);
    pyro_tracks_free(tracks);
    pyro_reader_close(reader);
    return 0;
}
