/* Keeps suggestions in the store, and writes applied ones into files of settings. */
#include "fleet/suggest/keep_suggestions.h"

#include <stdlib.h>

#include "base/collections/digest.h"
#include "fleet/suggest/file.h"
#include "fleet/suggest/store.h"
#include "fleet/suggest/suggestion_document.h"

static int64_t time_of(const struct pyro_query_answer *answer, size_t row, size_t column)
{
    int64_t value = pyro_answer_int(answer, row, column);
    return value == PYRO_NONE ? 0 : value;
}

enum pyro_status pyro_kept_suggestions(pyro_store *store, struct pyro_slice application, struct pyro_arena *arena,
                                       struct pyro_kept_suggestion **ret, size_t *ret_count, struct pyro_error *error)
{
#define FIELDS "\"fields\":[\"id\",\"application\",\"time_ms\",\"state\",\"goal\",\"target\",\"document\",\"note\"]"
    static const char of_one[] =
        "{\"from\":\"suggestions\",\"where\":[{\"field\":\"application\",\"op\":\"=\",\"value\":%s}]," FIELDS "}";
    static const char of_all[] = "{\"from\":\"suggestions\"," FIELDS "}";
    struct pyro_query_answer answer;
    PYRO_TRY(pyro_suggest_ask(store, NULL, application.ptr ? of_one : of_all, application, arena, &answer, error));
    struct pyro_kept_suggestion *all = pyro_arena_array(arena, answer.row_count + 1, sizeof(*all));
    if (!all)
        return pyro_no_memory(error);
    for (size_t i = 0; i < answer.row_count; i++) {
        struct pyro_kept_suggestion *kept = &all[i];
        kept->row = (struct pyro_suggestion_row){.id = pyro_answer_text(&answer, i, 0),
                                                 .application = pyro_answer_text(&answer, i, 1),
                                                 .time_ms = time_of(&answer, i, 2),
                                                 .state = pyro_answer_text(&answer, i, 3),
                                                 .goal = pyro_answer_text(&answer, i, 4),
                                                 .target = pyro_answer_text(&answer, i, 5),
                                                 .document = pyro_answer_text(&answer, i, 6),
                                                 .note = pyro_answer_text(&answer, i, 7)};
        PYRO_TRY(pyro_kept_suggestion_read(kept->row.document, arena, kept, error));
    }
    *ret = all;
    *ret_count = answer.row_count;
    return PYRO_OK;
}

const struct pyro_kept_suggestion *pyro_kept_suggestion_last(const struct pyro_kept_suggestion *all, size_t count,
                                                             struct pyro_slice target)
{
    const struct pyro_kept_suggestion *last = NULL;
    for (size_t i = 0; i < count; i++) {
        bool stays = pyro_slice_is(all[i].row.state, "applied") || pyro_slice_is(all[i].row.state, "kept");
        if (stays && all[i].target.ptr && pyro_slice_eq(all[i].target, target) &&
            (!last || all[i].applied_ms >= last->applied_ms))
            last = &all[i];
    }
    return last;
}

enum pyro_status pyro_kept_suggestion_move(pyro_store *store, const struct pyro_kept_suggestion *kept,
                                           const char *state, struct pyro_slice note, struct pyro_error *error)
{
    struct pyro_suggestion_row row = kept->row;
    row.state = pyro_slice_from(state);
    row.note = note;
    row.time_ms = pyro_store_now_ms();
    return pyro_store_put_suggestion(store, &row, error);
}

static enum pyro_status put(pyro_store *store, pyro_suggestion *suggestion, const char *state, const char *note,
                            struct pyro_error *error)
{
    struct pyro_strbuf text;
    struct pyro_output output;
    struct pyro_json_writer json;
    pyro_strbuf_init(&text, suggestion->arena.allocator);
    const struct pyro_writer writer = pyro_strbuf_writer(&text);
    pyro_output_init(&output, &writer, suggestion->arena.allocator);
    pyro_json_writer_init(&json, &output);
    pyro_suggestion_json(&json, NULL, suggestion);
    enum pyro_status status = pyro_output_done(&output, error);
    const struct pyro_suggestion_row row = {.id = suggestion->id,
                                            .application = suggestion->application,
                                            .state = pyro_slice_from(state),
                                            .goal = pyro_slice_from(pyro_suggest_goal_name(suggestion->result.goal)),
                                            .document = pyro_strbuf_slice(&text),
                                            .target = suggestion->applied.target,
                                            .note = pyro_slice_from(note),
                                            .time_ms = pyro_store_now_ms()};
    if (status == PYRO_OK)
        status = pyro_store_put_suggestion(store, &row, error);
    pyro_strbuf_done(&text);
    return status;
}

static const struct pyro_kept_suggestion *find(const struct pyro_kept_suggestion *all, size_t count,
                                               struct pyro_slice id)
{
    for (size_t i = 0; i < count; i++)
        if (pyro_slice_eq(all[i].row.id, id))
            return &all[i];
    return NULL;
}

enum pyro_status pyro_suggestion_record(pyro_store *store, pyro_suggestion *suggestion, struct pyro_error *error)
{
    struct pyro_kept_suggestion *all = NULL;
    size_t count = 0;
    pyro_error_clear(error);
    if (!store || !suggestion)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the suggestion is missing");
    if (!suggestion->result.has_settings)
        return PYRO_OK;
    PYRO_TRY(pyro_kept_suggestions(store, suggestion->application, &suggestion->arena, &all, &count, error));
    /* What was applied, kept or rolled back stays so, though it is suggested again. */
    const struct pyro_kept_suggestion *before = find(all, count, suggestion->id);
    if (before && !pyro_slice_is(before->row.state, "suggested"))
        return PYRO_OK;
    return put(store, suggestion, "suggested", suggestion->result.rung, error);
}

/* ---- Files ---------------------------------------------------------------------------------------------------------
 */

/* Refuses a file that another process changed, until a review has looked at what was applied to it. */
static enum pyro_status check_unchanged(pyro_store *store, pyro_suggestion *suggestion, struct pyro_slice path,
                                        const char *hash, struct pyro_error *error)
{
    struct pyro_kept_suggestion *all = NULL;
    size_t count = 0;
    bool waits = false;
    PYRO_TRY(pyro_kept_suggestions(store, PYRO_SLICE_NULL, &suggestion->arena, &all, &count, error));
    const struct pyro_kept_suggestion *last = pyro_kept_suggestion_last(all, count, path);
    for (size_t i = 0; i < count; i++)
        waits = waits ||
                (pyro_slice_is(all[i].row.state, "applied") && all[i].target.ptr && pyro_slice_eq(all[i].target, path));
    if (waits && last->after.ptr && !pyro_slice_is(last->after, hash))
        return pyro_error_set(error, PYRO_ERROR_INPUT,
                              "%.300s was changed since suggestion %.40s was applied to it; look at it, then run "
                              "'pyrometer suggest --review' and apply again",
                              path.ptr, last->row.id.ptr);
    return PYRO_OK;
}

/* The absolute path of a file that may not exist yet, in the arena. */
static enum pyro_status resolve(const char *path, struct pyro_arena *arena, struct pyro_slice *ret,
                                struct pyro_error *error)
{
    char *found = realpath(path, NULL);
    const char *slash = strrchr(path, '/');
    if (found) {
        *ret = pyro_arena_copy(arena, pyro_slice_from(found));
    } else {
        struct pyro_slice folder =
            pyro_arena_printf(arena, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
        found = folder.ptr ? realpath(folder.ptr, NULL) : NULL;
        if (!found) {
            pyro_error_describe(error, PYRO_ERROR_OUTPUT, "its folder does not exist");
            pyro_error_at(error, path, UINT64_MAX);
            return PYRO_ERROR_OUTPUT;
        }
        *ret = pyro_arena_printf(arena, "%s/%s", found, slash ? slash + 1 : path);
    }
    free(found); /* realpath() takes it from malloc() */
    return ret->ptr ? PYRO_OK : pyro_no_memory(error);
}

/* The former file, which is written once: an existing copy must be the same. */
static enum pyro_status keep_former(pyro_suggestion *suggestion, struct pyro_slice path, struct pyro_slice content,
                                    const char *hash, struct pyro_error *error)
{
    const char *kept = suggestion->applied.kept.ptr;
    struct pyro_slice found;
    char other[PYRO_DIGEST_BYTES];
    bool exists;
    PYRO_TRY(pyro_defaults_file_read(kept, &suggestion->arena, &found, &exists, error));
    if (!exists)
        return pyro_defaults_file_write(kept, path.ptr, PYRO_SLICE_NULL, content, error);
    pyro_digest(found, other);
    if (strcmp(hash, other) == 0)
        return PYRO_OK;
    pyro_error_describe(error, PYRO_ERROR_OUTPUT,
                        "it is the former file of an earlier change; move it away, then apply the suggestion again");
    pyro_error_at(error, kept, UINT64_MAX);
    return PYRO_ERROR_OUTPUT;
}

/* Whether the file has the settings already, because this suggestion was applied to it. One that was rolled back is not
 * applied again. */
static enum pyro_status check_known(pyro_store *store, pyro_suggestion *suggestion, struct pyro_slice path,
                                    bool *ret_applied, struct pyro_error *error)
{
    struct pyro_kept_suggestion *all = NULL;
    struct pyro_slice content;
    size_t count = 0;
    char hash[PYRO_DIGEST_BYTES];
    bool exists;
    *ret_applied = false;
    PYRO_TRY(pyro_kept_suggestions(store, PYRO_SLICE_NULL, &suggestion->arena, &all, &count, error));
    const struct pyro_kept_suggestion *known = find(all, count, suggestion->id);
    if (!known)
        return PYRO_OK;
    if (pyro_slice_is(known->row.state, "rolled_back"))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "suggestion %.40s was rolled back and is not applied again: set the values by hand, or "
                              "wait for runs from which another suggestion follows",
                              suggestion->id.ptr);
    if (pyro_kept_suggestion_last(all, count, path) != known)
        return PYRO_OK;
    PYRO_TRY(pyro_defaults_file_read(path.ptr, &suggestion->arena, &content, &exists, error));
    pyro_digest(content, hash);
    *ret_applied = exists && known->after.ptr && pyro_slice_is(known->after, hash);
    if (*ret_applied) {
        suggestion->applied.target = known->target;
        suggestion->applied.kept = known->kept;
        suggestion->applied.before = known->before;
        suggestion->applied.after = known->after;
        suggestion->applied.time_ms = known->applied_ms;
    }
    return PYRO_OK;
}

/* *ret_former: what the file must still contain when it is replaced; a null slice: nothing. */
static enum pyro_status edit(pyro_store *store, pyro_suggestion *suggestion, struct pyro_slice path,
                             struct pyro_strbuf *text, struct pyro_slice *ret_former, struct pyro_error *error)
{
    const struct pyro_candidate *chosen = &suggestion->result.chosen;
    struct pyro_arena *arena = &suggestion->arena;
    struct pyro_slice before;
    char hash[PYRO_DIGEST_BYTES];
    bool exists;
    PYRO_TRY(pyro_defaults_file_read(path.ptr, arena, &before, &exists, error));
    *ret_former = exists ? before : PYRO_SLICE_NULL;
    pyro_digest(before, hash);
    PYRO_TRY(check_unchanged(store, suggestion, path, hash, error));
    if (!pyro_defaults_file_edit(before, chosen->settings, chosen->setting_count, text))
        return pyro_no_memory(error);
    suggestion->applied.target = path;
    suggestion->applied.time_ms = pyro_store_now_ms();
    if (exists) {
        suggestion->applied.before = pyro_arena_copy(arena, pyro_slice_from(hash));
        suggestion->applied.kept = pyro_defaults_file_copy(arena, path, suggestion->id);
        if (!suggestion->applied.before.ptr || !suggestion->applied.kept.ptr)
            return pyro_no_memory(error);
        PYRO_TRY(keep_former(suggestion, path, before, hash, error));
    }
    pyro_digest(pyro_strbuf_slice(text), hash);
    suggestion->applied.after = pyro_arena_copy(arena, pyro_slice_from(hash));
    return suggestion->applied.after.ptr ? PYRO_OK : pyro_no_memory(error);
}

static enum pyro_status edit_and_write(pyro_store *store, pyro_suggestion *suggestion, struct pyro_slice target,
                                       struct pyro_error *error)
{
    struct pyro_strbuf text;
    struct pyro_slice former = PYRO_SLICE_NULL;
    pyro_strbuf_init(&text, suggestion->arena.allocator);
    enum pyro_status status = edit(store, suggestion, target, &text, &former, error);
    /* The row first: a file that changes without one could not be rolled back. */
    if (status == PYRO_OK)
        status = put(store, suggestion, "applied", suggestion->result.rung, error);
    if (status == PYRO_OK) {
        status = pyro_defaults_file_write(target.ptr, target.ptr, former, pyro_strbuf_slice(&text), error);
        struct pyro_error other = {.size = sizeof(other)};
        if (status != PYRO_OK)
            pyro_ignore_status(put(store, suggestion, "refused", "the file could not be written", &other),
                               "the file is what failed first");
    }
    pyro_strbuf_done(&text);
    return status;
}

enum pyro_status pyro_suggestion_apply(pyro_store *store, pyro_suggestion *suggestion, const char *path,
                                       struct pyro_error *error)
{
    struct pyro_slice target;
    bool applied = false;
    int lock = -1;
    pyro_error_clear(error);
    if (!store || !suggestion || !path)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store, the suggestion or the file is missing");
    if (!suggestion->result.has_settings)
        return PYRO_OK;
    PYRO_TRY(resolve(path, &suggestion->arena, &target, error));
    PYRO_TRY(pyro_defaults_file_lock(target.ptr, &lock, error));
    enum pyro_status status = check_known(store, suggestion, target, &applied, error);
    if (status == PYRO_OK && !applied)
        status = edit_and_write(store, suggestion, target, error);
    pyro_defaults_file_unlock(lock);
    return status;
}
