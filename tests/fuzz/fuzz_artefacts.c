/* Files that lie next to an event log: what each decoder makes of any bytes are rows that can be read. A file that is
 * of no known kind is given to the decoder that its first byte chooses. */
#include <stdio.h>
#include <unistd.h>

#include "decode/artefact_kinds.h"
#include "fuzz_kit.h"
#include "model/tracks/columns.h"

static void read_rows(const struct pyro_tracks *tracks)
{
    for (int table = 0; table < PYRO_TABLE_COUNT; table++) {
        const struct pyro_table_schema *schema = &pyro_table_schemas[table];
        if (!pyro_tracks_has((enum pyro_table_id)table))
            continue;
        for (size_t row = 0; row < pyro_tracks_rows(tracks, (enum pyro_table_id)table); row++)
            for (size_t i = 0; i < schema->column_count; i++)
                pyro_tracks_value(tracks, 0, (enum pyro_table_id)table, row, &schema->columns[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_artefact_reading reading;
    struct pyro_reader *reader;
    if (fd < 0)
        fd = memfd_create("artefact", 0);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const struct pyro_log_part part = {.path = pyro_slice_from(path), .most_bytes = 1 << 24};
    if (size == 0 || pyro_reader_open(&part, NULL, &reader, &error) != PYRO_OK)
        return 0;
    struct pyro_slice head = {(const char *)data, size};
    enum pyro_artefact_kind kind = pyro_artefact_recognise(head, true);
    if (kind == PYRO_ARTEFACT_KINDS)
        kind = (enum pyro_artefact_kind)(data[0] % PYRO_ARTEFACT_KINDS);
    const struct pyro_artefact_source source = pyro_artefact_source_of(pyro_slice_from(path), head);
    struct pyro_tracks *tracks = pyro_tracks_new(NULL);
    FUZZ_CHECK(tracks);
    pyro_artefacts_begin(&reading, tracks, PYRO_REDACT_WIDE, NULL);
    enum pyro_status status = pyro_artefact_decode(&reading, kind, &source, reader, &error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
    FUZZ_CHECK(pyro_artefacts_end(&reading, &error) == PYRO_OK);
    read_rows(tracks);
    pyro_artefacts_done(&reading);
    pyro_tracks_free(tracks);
    pyro_reader_close(reader);
    return 0;
}
