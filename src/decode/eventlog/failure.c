#include "decode/eventlog/failure.h"

#include "base/strings/intern.h"

PYRO_JSON_KEYS(keys, (REASON, "Reason"), (CLASS_NAME, "Class Name"), (DESCRIPTION, "Description"),
               (FULL_STACK_TRACE, "Full Stack Trace"), (KILL_REASON, "Kill Reason"), (MESSAGE, "Message"),
               (ERROR_MESSAGE, "Error Message"), (LOSS_REASON, "Loss Reason"),
               (EXIT_CAUSED_BY_APP, "Exit Caused By App"));

/* An escape may be cut in two: what is left of it stays as it was written. */
static struct pyro_slice cut_raw(struct pyro_slice raw, size_t limit)
{
    struct pyro_slice cut = pyro_build_cut(raw, limit);
    if (cut.len < raw.len && cut.len > 6)
        for (size_t back = 1; back <= 6; back++)
            if (cut.ptr[cut.len - back] == '\\')
                return (struct pyro_slice){cut.ptr, cut.len - back};
    return cut;
}

/* Keeps the first 2,000 bytes of a string: stack traces of thousands of tasks repeat what the first lines say. */
static void decode_message(struct pyro_builder *builder, struct pyro_json_reader *json, struct pyro_slice *text)
{
    struct pyro_slice raw = PYRO_SLICE_NULL;
    if (!pyro_json_take_string(json, &raw, NULL) || !raw.ptr || text->ptr)
        return;
    bool many = builder->app->failures.count > PYRO_FAILURES_IN_FULL;
    size_t limit = many ? PYRO_FAILURE_SHORT_BYTES : PYRO_FAILURE_BYTES;
    uint64_t *replaced = &builder->app->integrity.replaced_characters;
    size_t len = pyro_build_scratch(builder, cut_raw(raw, limit)).len;
    uint64_t before = *replaced;
    pyro_build_scratch(builder, cut_raw(raw, pyro_intake_window(limit)));
    *replaced = before; /* what is kept is counted */
    *text = pyro_intake_prefix(&builder->intake, pyro_strbuf_slice(&builder->scratch), len, false);
    builder->failed |= !text->ptr;
}

void pyro_decode_task_failure(struct pyro_builder *builder, const struct pyro_record *record, const int64_t *task,
                              const uint32_t *text_ids, const struct pyro_scan *scan)
{
    struct pyro_string_pool *strings = builder->app->strings;
    struct pyro_failure *failure = pyro_build_failure(builder, "task");
    if (!failure)
        return;
    failure->id = pyro_build_number(builder, task[PYRO_TASK_id]);
    failure->stage = task[PYRO_TASK_stage];
    failure->time_ms = task[PYRO_TASK_finish_ms];
    if (task[PYRO_TASK_executor] != PYRO_NONE)
        failure->executor = pyro_string_pool_text(strings, text_ids[task[PYRO_TASK_executor]]);

    struct pyro_json_reader json;
    struct pyro_json_object object;
    pyro_json_reader_start(&json, record->text.ptr, record->text.ptr + record->text.len, scan);
    if (!pyro_json_enter_object(&json, &object))
        return;
    for (int key; (key = PYRO_JSON_NEXT(&json, &object, keys)) != PYRO_JSON_END;) {
        char next = pyro_json_peek(&json);
        if (next != '"' && next != 'n')
            pyro_json_skip(&json);
        else if (key == REASON)
            pyro_build_text(builder, &json, &failure->reason);
        else if (key == CLASS_NAME)
            pyro_build_text(builder, &json, &failure->class_name);
        else if (key == DESCRIPTION || key == KILL_REASON || key == MESSAGE || key == ERROR_MESSAGE ||
                 key == LOSS_REASON)
            decode_message(builder, &json, &failure->message);
        else
            pyro_json_skip(&json);
    }
    if (failure->reason.len == 0 && task[PYRO_TASK_reason] != PYRO_NONE) /* it is known by its other members */
        failure->reason = pyro_string_pool_text(strings, text_ids[task[PYRO_TASK_reason]]);
}
