#include "load/logged_failures.h"

#include "base/strings/intern.h"
#include "decode/intake.h"
#include "decode/logs/errors.h"
#include "load/known_failures.h"

enum { MESSAGE_BYTES = 2000 };

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
    struct pyro_known_failures known;
    size_t count = 0, added = 0;
    uint64_t other;
    if (!logs->errors)
        return PYRO_OK;
    PYRO_TRY(pyro_log_errors_finish(logs->errors, &errors, &count, &other, error));
    bool ok = pyro_known_failures_init(&known, app);
    for (size_t i = 0; i < count && added < PYRO_LOGGED_FAILURES && ok; i++)
        if (!pyro_failure_is_known(&known, &errors[i])) {
            ok = add_row(app, &errors[i]);
            added++;
        }
    pyro_known_failures_done(&known);
    return ok ? PYRO_OK : pyro_no_memory(error);
}
