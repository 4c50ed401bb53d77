#include "load/logged_failures.h"

#include "base/intern.h"
#include "decode/intake.h"
#include "decode/logs/errors.h"
#include "model/failure_text.h"

enum { MESSAGE_BYTES = 2000 };

/* Whether an event reports the same failure: the same exception with the same message, numbers aside. */
static bool is_known(const struct pyro_app *app, size_t events, const struct pyro_log_error *one)
{
    if (!one->root.ptr)
        return false;
    for (size_t i = 0; i < events; i++) {
        const struct pyro_failure *known = &app->failures.items[i];
        struct pyro_root_cause cause = pyro_root_cause(known->message.ptr ? known->message : known->reason);
        struct pyro_slice name = cause.name.ptr ? cause.name : known->class_name;
        if (pyro_slice_eq(name, one->root) && (!one->message.ptr || pyro_same_message(cause.message, one->message)))
            return true;
    }
    return false;
}

/* Texts have lost their secrets already. */
static bool add_row(struct pyro_app *app, const struct pyro_log_error *one)
{
    struct pyro_failure *row = pyro_vec_push(&app->failures, app->allocator);
    if (!row)
        return false;
    pyro_row_init(PYRO_TABLE_failures, row);
    const struct {
        struct pyro_slice *to, from;
    } texts[] = {
        {&row->kind, PYRO_SLICE_LITERAL("log")},
        {&row->executor, one->executor_count == 1 ? one->executors[0] : PYRO_SLICE_NULL},
        {&row->reason, one->cause ? pyro_slice_from(one->cause) : one->message},
        {&row->class_name, one->root},
        {&row->message, pyro_build_cut(one->text, MESSAGE_BYTES)},
        {&row->source, PYRO_SLICE_LITERAL("text-log")},
    };
    row->stage = one->stage_count == 1 ? one->stages[0] : PYRO_NONE;
    row->time_ms = one->last_ms;
    row->count = one->count < INT64_MAX ? (int64_t)one->count : INT64_MAX;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        *texts[i].to = pyro_intern_slice(app->strings, texts[i].from);
        if (texts[i].from.ptr && !texts[i].to->ptr)
            return false;
    }
    return true;
}

enum pyro_status pyro_logged_failures_add(struct pyro_app *app, const struct pyro_text_logs *logs,
                                          struct pyro_error *error)
{
    const struct pyro_log_error *errors = NULL;
    size_t count = 0, events = app->failures.count, added = 0;
    uint64_t other;
    if (!logs->errors)
        return PYRO_OK;
    PYRO_TRY(pyro_log_errors_finish(logs->errors, &errors, &count, &other, error));
    for (size_t i = 0; i < count && added < PYRO_LOGGED_FAILURES; i++) {
        if (is_known(app, events, &errors[i]))
            continue;
        if (!add_row(app, &errors[i]))
            return pyro_no_memory(error);
        added++;
    }
    return PYRO_OK;
}
