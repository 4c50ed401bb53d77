#include "load/known_failures.h"

#include "base/collections/hash.h"
#include "base/numbers/saturate.h"
#include "decode/logs/named_task.h"
#include "model/column.h"
#include "model/exception_chain.h"
#include "model/failure_kinds.h"
#include "model/failure_text.h"

/* Python names the exceptions of the JVM that its driver raises again. */
static const char CAPTURED[] = "pyspark.errors.exceptions.captured.";

/* Two logs of one failure without a task's number: the clocks of hosts differ by less. */
enum { BUCKET_MS = 10000 };

enum fact { FACT_MESSAGE = 1, FACT_NAME, FACT_TASK, FACT_STAGE, FACT_TIME, FACT_LOST, FACT_GIVEN_UP };

static uint64_t key_of(enum fact fact, uint64_t what, uint64_t number)
{
    return pyro_hash_mix(pyro_hash_mix(pyro_hash_mix((uint64_t)fact) ^ what) ^ number);
}

/* "java.io.IOException" without the package. */
static struct pyro_slice simple_name(struct pyro_slice name)
{
    const char *dot = name.len ? memrchr(name.ptr, '.', name.len) : NULL;
    return dot ? (struct pyro_slice){dot + 1, (size_t)(name.ptr + name.len - dot) - 1}
               : name; /* name.ptr may be NULL */
}

/* Adds the next outer exception of a chain to the hash of those inside of it. */
static uint64_t hash_outer(uint64_t inner, struct pyro_slice name)
{
    return pyro_hash_mix(inner ^ pyro_hash_slice(simple_name(name)));
}

/* That an executor was lost is no more than events say. */
static uint64_t cause_hash(const char *cause)
{
    return cause && strcmp(cause, "executor-lost") != 0 ? pyro_hash_slice(pyro_slice_from(cause)) : 0;
}

/* ---- What events say --------------------------------------------------------------------------------------------- */

static bool note(struct pyro_known_failures *known, enum fact fact, uint64_t what, uint64_t number)
{
    return pyro_map_put(&known->facts, key_of(fact, what, number), NULL) != NULL;
}

static bool note_root(struct pyro_known_failures *known, struct pyro_slice name, struct pyro_slice message)
{
    const struct pyro_slice names[] = {name, simple_name(name)};
    for (size_t i = 0; name.ptr && i < 2; i++)
        if (!note(known, FACT_MESSAGE, pyro_hash_slice(names[i]), pyro_message_hash(message)) ||
            !note(known, FACT_NAME, pyro_hash_slice(names[i]), 0))
            return false;
    return true;
}

static bool note_chain(struct pyro_known_failures *known, const struct pyro_failure *failure,
                       const struct pyro_exception_chain *chain)
{
    uint64_t hash = 0;
    int64_t task;
    for (size_t i = chain->count; i-- > 0;)
        hash = hash_outer(hash, chain->items[i].name);
    if (pyro_slice_is(failure->kind, "task") && pyro_log_number_read(failure->id, &task) > 0 &&
        !note(known, FACT_TASK, hash, (uint64_t)task))
        return false;
    if (failure->stage != PYRO_NONE && !note(known, FACT_STAGE, hash, (uint64_t)failure->stage))
        return false;
    return failure->time_ms == PYRO_NONE || note(known, FACT_TIME, hash, (uint64_t)(failure->time_ms / BUCKET_MS));
}

/* The exception that a failure names, "CLASS: MESSAGE"; without a class, the message may have one. */
static bool read_chain(struct pyro_slice name, struct pyro_slice message, struct pyro_strbuf *text,
                       struct pyro_exception_chain *ret)
{
    pyro_strbuf_clear(text);
    if (name.ptr) {
        pyro_strbuf_add_slice(text, name);
        pyro_strbuf_add_text(text, ": ");
    }
    pyro_strbuf_add_slice(text, message);
    return pyro_exception_chain_read(pyro_strbuf_slice(text), ret);
}

static bool note_exceptions(struct pyro_known_failures *known, const struct pyro_failure *failure,
                            struct pyro_strbuf *text)
{
    struct pyro_exception_chain chain;
    struct pyro_slice message = failure->message.ptr ? failure->message : failure->reason;
    struct pyro_root_cause cause = pyro_root_cause(message);
    if (!note_root(known, cause.name.ptr ? cause.name : failure->class_name, cause.message))
        return false;
    /* "ExecutorLostFailure" is the reason of a task without an exception. */
    if (!read_chain(failure->class_name, message, text, &chain) && pyro_slice_is(failure->kind, "task"))
        read_chain(failure->reason, message, text, &chain);
    const struct pyro_exception *root = pyro_chain_root(&chain);
    return !text->failed &&
           (!root || (note_root(known, root->name, root->message) && note_chain(known, failure, &chain)));
}

static bool note_ends(struct pyro_known_failures *known, const struct pyro_failure *failure)
{
    struct pyro_slice message = failure->message.ptr ? failure->message : failure->reason;
    uint64_t cause = cause_hash(message.ptr ? pyro_log_cause(message) : NULL);
    if (pyro_slice_is(failure->kind, "executor") && failure->executor.ptr) {
        uint64_t executor = pyro_hash_slice(failure->executor);
        return note(known, FACT_LOST, executor, 0) && note(known, FACT_LOST, executor, cause);
    }
    return !pyro_slice_is(failure->kind, "stage") || failure->stage == PYRO_NONE ||
           note(known, FACT_GIVEN_UP, 0, (uint64_t)failure->stage);
}

bool pyro_known_failures_init(struct pyro_known_failures *known, const struct pyro_app *app)
{
    struct pyro_strbuf text;
    bool ok = true;
    pyro_map_init(&known->facts, app->allocator);
    pyro_strbuf_init(&text, app->allocator);
    for (size_t i = 0; i < app->failures.count && ok; i++)
        ok = note_exceptions(known, &app->failures.items[i], &text) && note_ends(known, &app->failures.items[i]);
    pyro_strbuf_done(&text);
    return ok;
}

void pyro_known_failures_done(struct pyro_known_failures *known)
{
    pyro_map_done(&known->facts);
}

/* ---- What logs say ----------------------------------------------------------------------------------------------- */

static bool has(const struct pyro_known_failures *known, enum fact fact, uint64_t what, uint64_t number)
{
    return pyro_map_get(&known->facts, key_of(fact, what, number)) != NULL;
}

static bool has_root(const struct pyro_known_failures *known, const struct pyro_log_error *one)
{
    struct pyro_slice name = pyro_slice_starts_with(one->root, CAPTURED) ? simple_name(one->root) : one->root;
    uint64_t hash = pyro_hash_slice(name);
    return one->message.ptr ? has(known, FACT_MESSAGE, hash, pyro_message_hash(one->message))
                            : has(known, FACT_NAME, hash, 0);
}

/* All of them: a value beyond those that are kept may be unknown. */
static bool has_all(const struct pyro_known_failures *known, enum fact fact, uint64_t what, const int64_t *numbers,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has(known, fact, what, (uint64_t)numbers[i]))
            return false;
    return count > 0 && count < PYRO_LOG_ERROR_VALUES;
}

static bool has_time(const struct pyro_known_failures *known, uint64_t chain, const struct pyro_log_error *one)
{
    if (one->first_ms == PYRO_NONE || one->last_ms == PYRO_NONE ||
        pyro_sub_saturating(one->last_ms, one->first_ms) > BUCKET_MS)
        return false;
    int64_t bucket = one->last_ms / BUCKET_MS;
    return has(known, FACT_TIME, chain, (uint64_t)bucket) || has(known, FACT_TIME, chain, (uint64_t)(bucket - 1)) ||
           has(known, FACT_TIME, chain, (uint64_t)(bucket + 1));
}

/* Logs may wrap what events say. */
static bool has_chain(const struct pyro_known_failures *known, const struct pyro_log_error *one)
{
    uint64_t hash = 0;
    for (size_t i = one->class_count; i-- > 0;) {
        hash = hash_outer(hash, one->classes[i]);
        bool same = one->task_count > 0    ? has_all(known, FACT_TASK, hash, one->tasks, one->task_count)
                    : one->stage_count > 0 ? has_all(known, FACT_STAGE, hash, one->stages, one->stage_count)
                                           : has_time(known, hash, one);
        if (same)
            return true;
    }
    return false;
}

/* "Lost executor 1 on host: Command exited with code 52" */
static bool has_lost(const struct pyro_known_failures *known, const struct pyro_log_error *one)
{
    uint64_t cause = cause_hash(one->cause);
    for (size_t i = 0; i < one->executor_count; i++)
        if (!has(known, FACT_LOST, pyro_hash_slice(one->executors[i]), cause))
            return false;
    return one->executor_count > 0 && one->executor_count < PYRO_LOG_ERROR_VALUES;
}

/* What the scheduler says without an exception. */
static bool has_end(const struct pyro_known_failures *known, const struct pyro_log_error *one)
{
    static const char *const loggers[] = {"TaskSetManager", "TaskSchedulerImpl", "YarnScheduler",
                                          "YarnClusterScheduler", "DAGScheduler"};
    struct pyro_slice logger = simple_name(one->logger);
    bool scheduler = false;
    for (size_t i = 0; i < sizeof(loggers) / sizeof(*loggers); i++)
        scheduler |= pyro_slice_is(logger, loggers[i]);
    if (!scheduler)
        return false;
    return one->stage_count > 0 ? !one->cause && has_all(known, FACT_GIVEN_UP, 0, one->stages, one->stage_count)
                                : has_lost(known, one);
}

bool pyro_failure_is_known(const struct pyro_known_failures *known, const struct pyro_log_error *one)
{
    return one->root.ptr ? has_root(known, one) || has_chain(known, one) : has_end(known, one);
}
