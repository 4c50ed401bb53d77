#include "report/shared/json_tracks.h"

#include "model/column.h"

enum { NS_PER_MS = 1000000 };

int64_t pyro_json_whole_ms(int64_t ns)
{
    return ns == PYRO_NONE ? PYRO_NONE : ns >= 0 ? (ns + NS_PER_MS / 2) / NS_PER_MS : ns / NS_PER_MS;
}

void pyro_json_artefacts(struct pyro_json_writer *json, const char *key, const struct pyro_tracks *tracks, bool sizes)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < pyro_tracks_count(tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(tracks, i);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "kind", row->kind);
        pyro_json_text(json, "path", row->path);
        pyro_json_text(json, "executor", row->executor);
        pyro_json_text(json, "host", row->host);
        if (sizes)
            pyro_json_int(json, "bytes", row->bytes);
        pyro_json_int(json, "records", row->rows);
        pyro_json_int(json, "first_ms", pyro_json_whole_ms(row->first_ns));
        pyro_json_int(json, "last_ms", pyro_json_whole_ms(row->last_ns));
        pyro_json_text(json, "problems", row->problems);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}
