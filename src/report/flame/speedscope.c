/* https://www.speedscope.app/file-format-schema.json: one sampled profile, each stack once with its weight. */
#include "model/column.h"
#include "report/flame/flame.h"
#include "text/json_write.h"

static void write_frames(const struct pyro_flame *flame, struct pyro_json_writer *json)
{
    pyro_json_begin(json, "frames", '[');
    for (size_t i = 1; i < flame->frames.count; i++) {
        const struct pyro_flame_frame *frame = &flame->frames.items[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "name", frame->function.ptr ? frame->function : PYRO_SLICE_LITERAL(""));
        if (frame->file.ptr)
            pyro_json_text(json, "file", frame->file);
        if (frame->line != PYRO_NONE)
            pyro_json_int(json, "line", frame->line);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_samples(const struct pyro_flame *flame, struct pyro_json_writer *json)
{
    uint32_t frames[PYRO_PROFILE_DEPTH + 4];
    pyro_json_line(json);
    pyro_json_begin(json, "samples", '[');
    for (size_t i = 0; i < flame->order.count; i++) {
        size_t depth = pyro_flame_path(flame, flame->order.items[i], frames, sizeof(frames) / sizeof(*frames));
        pyro_json_line(json);
        pyro_json_begin_numbers(json, NULL);
        while (depth-- > 0)
            pyro_json_number(json, (int64_t)frames[depth] - 1);
        pyro_json_end_numbers(json);
    }
    pyro_json_end(json, ']');
    pyro_json_line(json);
    pyro_json_begin_numbers(json, "weights");
    for (size_t i = 0; i < flame->order.count; i++)
        pyro_json_number(json, flame->nodes.items[flame->order.items[i]].self[PYRO_FLAME_AFTER]);
    pyro_json_end_numbers(json);
}

void pyro_flame_write_speedscope(const struct pyro_flame *flame, struct pyro_output *output)
{
    bool ns = strcmp(flame->unit, "ns") == 0, bytes = strcmp(flame->unit, "bytes") == 0;
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pyro_json_line(&json);
    pyro_json_string(&json, "exporter", "pyrometer");
    pyro_json_line(&json);
    pyro_json_begin(&json, "shared", '{');
    write_frames(flame, &json);
    pyro_json_end(&json, '}');
    pyro_json_line(&json);
    pyro_json_begin(&json, "profiles", '[');
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "type", "sampled");
    pyro_json_string(&json, "name", flame->unit);
    pyro_json_string(&json, "unit", ns ? "nanoseconds" : bytes ? "bytes" : "none");
    pyro_json_int(&json, "startValue", 0);
    pyro_json_int(&json, "endValue", flame->nodes.items[0].total[PYRO_FLAME_AFTER]);
    write_samples(flame, &json);
    pyro_json_end(&json, '}');
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}
