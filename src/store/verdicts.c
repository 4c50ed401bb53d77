/* What verdicts mean for a diagnosis. */
#include "store/verdicts.h"

#include "store/clean.h"
#include "store/handle.h"

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

struct reading {
    struct pyro_verdicts *verdicts;
    struct pyro_secrets *secrets;
    bool failed;
};

static const char *kept(struct reading *reading, struct pyro_slice text)
{
    const char *copy = pyro_arena_copy(&reading->verdicts->arena, text).ptr;
    reading->failed |= !copy;
    return copy;
}

static int keep(void *context, const struct pyro_verdict_row *row)
{
    struct reading *reading = context;
    struct pyro_verdicts *verdicts = reading->verdicts;
    if (row->verdict == PYRO_FEEDBACK_MISSED)
        return 0; /* a miss says nothing of findings that were made */
    struct pyro_slice name = pyro_slice_from(row->application),
                      shown = pyro_store_clean_text(reading->secrets, name, &verdicts->arena);
    struct pyro_verdict_row *copy = shown.ptr ? pyro_vec_push(&verdicts->rows, verdicts->allocator) : NULL;
    reading->failed |= !copy;
    if (copy)
        *copy = (struct pyro_verdict_row){.time_ms = row->time_ms,
                                          .verdict = row->verdict,
                                          .application = kept(reading, shown),
                                          .finding = kept(reading, pyro_slice_from(row->finding)),
                                          .rule = kept(reading, pyro_slice_from(row->rule)),
                                          .note = kept(reading, pyro_slice_from(row->note))};
    return reading->failed;
}

enum pyro_status pyro_verdicts_read(pyro_store *store, struct pyro_verdicts *ret, struct pyro_error *error)
{
    struct reading reading = {ret, &store->secrets, false};
    *ret = (struct pyro_verdicts){.allocator = store->allocator};
    pyro_arena_init(&ret->arena, store->allocator);
    PYRO_TRY(store->backend->each_verdict(store->state, keep, &reading, error));
    return reading.failed ? pyro_no_memory(error) : PYRO_OK;
}

void pyro_verdicts_done(struct pyro_verdicts *verdicts)
{
    pyro_vec_done(&verdicts->rows, verdicts->allocator);
    pyro_arena_done(&verdicts->arena);
}

/* ---- Judging ----------------------------------------------------------------------------------------------------- */

/* What the verdicts say for one application. */
struct gathered {
    const struct pyro_allocator *allocator;
    struct pyro_slice application;
    PYRO_VEC(struct pyro_votes) votes;
    PYRO_VEC(struct pyro_judged) judged;
};

static struct pyro_votes *votes_of(struct gathered *all, const struct pyro_rule *rule)
{
    for (size_t i = 0; i < all->votes.count; i++)
        if (all->votes.items[i].rule == rule)
            return &all->votes.items[i];
    struct pyro_votes *votes = pyro_vec_push(&all->votes, all->allocator);
    if (votes)
        votes->rule = rule;
    return votes;
}

static bool gather(struct gathered *all, const struct pyro_verdict_row *row)
{
    const struct pyro_rule *rule = pyro_rule_find(row->rule);
    if (!rule)
        return true;
    struct pyro_votes *votes = votes_of(all, rule);
    if (!votes)
        return false;
    bool here = pyro_slice_is(all->application, row->application);
    bool wrong = row->verdict == PYRO_FEEDBACK_FALSE_POSITIVE;
    if (!here) {
        *(wrong ? &votes->wrong_elsewhere : &votes->right_elsewhere) += 1;
        return true;
    }
    *(wrong ? &votes->wrong_here : &votes->right_here) += 1;
    struct pyro_judged *judged = pyro_vec_push(&all->judged, all->allocator);
    if (judged)
        *judged =
            (struct pyro_judged){pyro_slice_from(row->finding), row->verdict, pyro_slice_from(row->note), row->time_ms};
    return judged != NULL;
}

enum pyro_status pyro_verdicts_judge(const struct pyro_verdicts *verdicts, pyro_diagnosis *diagnosis,
                                     struct pyro_error *error)
{
    struct gathered all = {.allocator = verdicts->allocator,
                           .application = pyro_slice_from(pyro_app_name(diagnosis->app))};
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; status == PYRO_OK && i < verdicts->rows.count; i++)
        if (!gather(&all, &verdicts->rows.items[i]))
            status = pyro_no_memory(error);
    if (status == PYRO_OK)
        status = pyro_diagnosis_judge(diagnosis, all.votes.items, all.votes.count, all.judged.items, all.judged.count,
                                      error);
    pyro_vec_done(&all.votes, all.allocator);
    pyro_vec_done(&all.judged, all.allocator);
    return status;
}

enum pyro_status pyro_store_apply_feedback(pyro_store *store, pyro_diagnosis *diagnosis, struct pyro_error *error)
{
    struct pyro_verdicts verdicts;
    pyro_error_clear(error);
    if (!store || !diagnosis)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the store or the diagnosis is missing");
    enum pyro_status status = pyro_verdicts_read(store, &verdicts, error);
    if (status == PYRO_OK)
        status = pyro_verdicts_judge(&verdicts, diagnosis, error);
    pyro_verdicts_done(&verdicts);
    return status;
}
