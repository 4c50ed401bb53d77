#include "fleet/crawl/enrich.h"

#include <stdio.h>
#include <string.h>

#include "base/collections/hash.h"
#include "base/memory/allocator.h"
#include "base/numbers/saturate.h"
#include "base/threads/thread.h"
#include "fleet/crawl/classify.h"
#include "fleet/crawl/list_folders.h"
#include "source/http/http.h"
#include "store/clean.h"

enum { TRIES = 2, KEPT = 256, PATIENCE = 5, REST_MS = 60000 };
#define ANSWER_BYTES (UINT64_C(8) << 20)
#define RAW_BYTES    ((size_t)1 << 20)

/* An answer that may be asked for again. */
struct kept_answer {
    uint64_t hash; /* of its address */
    int64_t until_ms;
    char *body;
    size_t len;
};

/* What the threads share of one service. */
struct pyro_enrich_memory {
    const struct pyro_allocator *allocator;
    pthread_mutex_t lock;
    struct kept_answer kept[KEPT];
    size_t next;
    unsigned failures; /* one after the other */
    int64_t rest_until_ms;
};

/* ---- The list of services ---------------------------------------------------------------------------------------- */

struct pyro_enricher *pyro_enrichers_add(struct pyro_enrichers *all, enum pyro_enricher_kind kind,
                                         struct pyro_arena *arena)
{
    struct pyro_enricher *added = pyro_vec_push(&all->items, all->allocator);
    struct pyro_enrich_memory *memory = added ? pyro_arena_alloc(arena, sizeof(*memory)) : NULL;
    if (!memory) {
        all->items.count -= added != NULL;
        return NULL;
    }
    memory->allocator = all->allocator;
    pthread_mutex_init(&memory->lock, NULL);
    *added = (struct pyro_enricher){.kind = kind, .memory = memory, .timeout_s = 10, .cache_ms = 60000};
    return added;
}

void pyro_enrichers_done(struct pyro_enrichers *all)
{
    for (size_t i = 0; i < all->items.count; i++) {
        struct pyro_enricher *enricher = &all->items.items[i];
        for (size_t k = 0; k < KEPT; k++)
            pyro_release(all->allocator, enricher->memory->kept[k].body);
        pthread_mutex_destroy(&enricher->memory->lock);
        pyro_pattern_free(enricher->names);
        pyro_vec_done(&enricher->values, all->allocator);
    }
    pyro_vec_done(&all->items, all->allocator);
}

enum pyro_status pyro_enricher_complete(struct pyro_enricher *enricher, struct pyro_arena *arena,
                                        const struct pyro_allocator *allocator, struct pyro_error *error)
{
    static const struct {
        enum pyro_enrich_target target;
        const char *name, *text;
    } yarn[] = {
        {PYRO_ENRICH_AGGREGATE, "yarn.memorySeconds", "{/app/memorySeconds}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.vcoreSeconds", "{/app/vcoreSeconds}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.elapsedTime", "{/app/elapsedTime}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.launchDelay", "{/app/launchTime} - {/app/startedTime}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.preemptedResourceMB", "{/app/preemptedResourceMB}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.numAMContainerPreempted", "{/app/numAMContainerPreempted}"},
        {PYRO_ENRICH_AGGREGATE, "yarn.numNonAMContainerPreempted", "{/app/numNonAMContainerPreempted}"},
        {PYRO_ENRICH_QUEUE, "queue", "{/app/queue}"},
        {PYRO_ENRICH_TAG, "yarn.queue", "{/app/queue}"},
        {PYRO_ENRICH_TAG, "yarn.finalStatus", "{/app/finalStatus}"},
        {PYRO_ENRICH_TAG, "yarn.diagnostics", "{/app/diagnostics}"},
    };
    for (size_t i = 0; enricher->kind == PYRO_ENRICH_YARN && i < sizeof(yarn) / sizeof(*yarn); i++) {
        struct pyro_enrich_value *value = pyro_vec_push(&enricher->values, allocator);
        if (!value)
            return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory left for an enricher");
        *value = (struct pyro_enrich_value){.target = yarn[i].target, .name = yarn[i].name};
        PYRO_TRY(pyro_expression_parse(arena, pyro_slice_from(yarn[i].text), &value->expression, error));
    }
    return PYRO_OK;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

/* The template with what it names of the run. */
static void add_url(const struct pyro_enricher *enricher, const struct pyro_run *run, struct pyro_strbuf *url)
{
    const struct {
        const char *name;
        struct pyro_slice value;
    } fields[] = {
        {"{app_id}", run->app_id},
        {"{attempt}", run->attempt},
        {"{name}", run->name},
        {"{user}", run->diagnosis->app->application.user},
    };
    for (const char *at = enricher->url; *at;) {
        size_t i = 0;
        while (i < sizeof(fields) / sizeof(*fields) && strncmp(at, fields[i].name, strlen(fields[i].name)) != 0)
            i++;
        if (i == sizeof(fields) / sizeof(*fields)) {
            pyro_strbuf_add_char(url, *at++);
            continue;
        }
        pyro_http_escape(url, fields[i].value);
        at += strlen(fields[i].name);
    }
}

static bool is_late(void *context, uint64_t received, uint64_t expected)
{
    (void)received;
    (void)expected;
    return pyro_clock_ms() > *(const int64_t *)context;
}

struct asking {
    const struct pyro_enricher *enricher;
    struct pyro_http *http;
    int64_t deadline_ms;
    struct pyro_error error;
};

static enum pyro_status open_client(struct asking *asking)
{
    const struct pyro_enricher *enricher = asking->enricher;
    asking->deadline_ms = pyro_add_saturating(pyro_clock_ms(), (int64_t)enricher->timeout_s * 1000);
    const struct pyro_http_options options = {.allocator = enricher->memory->allocator,
                                              .user = enricher->user,
                                              .token = enricher->token,
                                              .cookies = enricher->kind == PYRO_ENRICH_MENAS,
                                              .timeout_s = enricher->timeout_s,
                                              .stopped = is_late,
                                              .context = &asking->deadline_ms};
    return pyro_http_open(&options, &asking->http, &asking->error);
}

/* Menas answers only who has logged in at its page; the session is a cookie. */
static enum pyro_status log_in(struct asking *asking, struct pyro_strbuf *body)
{
    const struct pyro_enricher *enricher = asking->enricher;
    struct pyro_strbuf form, url;
    struct pyro_exchange_answer answer = {0};
    if (enricher->kind != PYRO_ENRICH_MENAS || !enricher->account)
        return PYRO_OK;
    pyro_strbuf_init(&form, enricher->memory->allocator);
    pyro_strbuf_init(&url, enricher->memory->allocator);
    pyro_strbuf_add_text(&form, "username=");
    pyro_http_escape(&form, pyro_slice_from(enricher->account));
    pyro_strbuf_add_text(&form, "&password=");
    pyro_http_escape(&form, pyro_slice_from(enricher->password ? enricher->password : ""));
    pyro_strbuf_printf(&url, "%.*s/login", (int)strcspn(enricher->url, "{") - (int)strlen("/runs/bySparkAppId/"),
                       enricher->url);
    const struct pyro_http_request request = {.method = PYRO_HTTP_POST,
                                              .url = url.data,
                                              .body = pyro_strbuf_slice(&form),
                                              .content_type = "application/x-www-form-urlencoded",
                                              .limit = ANSWER_BYTES,
                                              .tries = TRIES,
                                              .repeatable = true};
    enum pyro_status status = form.failed || url.failed
                                  ? pyro_error_set(&asking->error, PYRO_ERROR_MEMORY, "no memory left for a request")
                                  : pyro_http_send(asking->http, &request, body, &answer, &asking->error);
    pyro_strbuf_done(&form);
    pyro_strbuf_done(&url);
    if (status == PYRO_OK && answer.status >= 400)
        return pyro_error_set(&asking->error, PYRO_ERROR_INPUT, "it refuses the user or the password (status %u)",
                              answer.status);
    return status;
}

static enum pyro_status get(struct asking *asking, const char *url, struct pyro_strbuf *body)
{
    struct pyro_exchange_answer answer = {0};
    PYRO_TRY(log_in(asking, body));
    enum pyro_status status = pyro_http_get_text(asking->http, url, ANSWER_BYTES, TRIES, body, &answer, &asking->error);
    if (status == PYRO_ERROR_CANCELLED)
        return pyro_error_set(&asking->error, PYRO_ERROR_INPUT, "it did not answer within %u s",
                              asking->enricher->timeout_s);
    return status == PYRO_OK && answer.status != 200 ? PYRO_ERROR_INPUT : status;
}

/* ---- What was asked before --------------------------------------------------------------------------------------- */

static bool find_kept(struct pyro_enrich_memory *memory, uint64_t hash, struct pyro_strbuf *body)
{
    bool found = false;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < KEPT && !found; i++) {
        const struct kept_answer *kept = &memory->kept[i];
        found = kept->body && kept->hash == hash && kept->until_ms > pyro_clock_ms();
        if (found)
            pyro_strbuf_add(body, kept->body, kept->len);
    }
    pthread_mutex_unlock(&memory->lock);
    return found && !body->failed;
}

static void keep(const struct pyro_enricher *enricher, uint64_t hash, const struct pyro_strbuf *body)
{
    struct pyro_enrich_memory *memory = enricher->memory;
    char *copy = enricher->cache_ms > 0 ? pyro_allocate(memory->allocator, body->len + 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, body->data, body->len);
    pthread_mutex_lock(&memory->lock);
    struct kept_answer *place = &memory->kept[memory->next++ % KEPT];
    pyro_release(memory->allocator, place->body);
    *place = (struct kept_answer){hash, pyro_add_saturating(pyro_clock_ms(), enricher->cache_ms), copy, body->len};
    pthread_mutex_unlock(&memory->lock);
}

/* After some failures a service rests: otherwise each run would wait for it without success. */
static bool rests(struct pyro_enrich_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    bool resting = memory->rest_until_ms > pyro_clock_ms();
    pthread_mutex_unlock(&memory->lock);
    return resting;
}

static void note(struct pyro_enrich_memory *memory, bool failed)
{
    pthread_mutex_lock(&memory->lock);
    memory->failures = failed ? memory->failures + 1 : 0;
    if (memory->failures >= PATIENCE)
        memory->rest_until_ms = pyro_add_saturating(pyro_clock_ms(), REST_MS);
    pthread_mutex_unlock(&memory->lock);
}

static enum pyro_status fetch(struct asking *asking, const char *url, struct pyro_strbuf *body)
{
    const struct pyro_enricher *enricher = asking->enricher;
    uint64_t hash = pyro_hash_slice(pyro_slice_from(url));
    if (find_kept(enricher->memory, hash, body))
        return PYRO_OK;
    if (rests(enricher->memory))
        return pyro_error_set(&asking->error, PYRO_ERROR_INPUT,
                              "it failed several times, and is asked again in a minute at most");
    enum pyro_status status = open_client(asking);
    if (status == PYRO_OK)
        status = get(asking, url, body);
    pyro_http_close(asking->http);
    asking->http = NULL;
    note(enricher->memory, status != PYRO_OK);
    if (status == PYRO_OK)
        keep(enricher, hash, body);
    return status;
}

/* ---- Into the run ------------------------------------------------------------------------------------------------ */

bool pyro_enrich_tag(struct pyro_run *run, struct pyro_secrets *secrets, const char *name, struct pyro_slice value)
{
    struct pyro_slice key = pyro_arena_copy(&run->arena, pyro_slice_from(name)),
                      kept = pyro_arena_copy(&run->arena, value);
    if (kept.ptr)
        kept = pyro_store_clean_text(secrets, kept, &run->arena);
    return key.ptr && kept.ptr && pyro_run_put_tag(run, key, kept);
}

bool pyro_enrich_number(struct pyro_run *run, const char *name, double value)
{
    for (size_t i = 0; i < run->aggregates.count; i++)
        if (strcmp(run->aggregates.items[i].name, name) == 0) {
            run->aggregates.items[i].value = value;
            return true;
        }
    struct pyro_slice key = pyro_arena_copy(&run->arena, pyro_slice_from(name));
    struct pyro_aggregate *added = key.ptr ? pyro_vec_push(&run->aggregates, run->arena.allocator) : NULL;
    if (added)
        *added = (struct pyro_aggregate){.name = key.ptr, .value = value};
    return added != NULL;
}

/* A number as a tag: whole ones without a point. */
static struct pyro_slice as_text(struct pyro_derived value, char *room, size_t size)
{
    if (value.kind == PYRO_DERIVED_TEXT)
        return value.text;
    snprintf(room, size, "%.15g", value.number);
    return pyro_slice_from(room);
}

static bool put_value(const struct pyro_enrich_value *value, struct pyro_derived derived, struct pyro_secrets *secrets,
                      struct pyro_run *run)
{
    char room[40];
    if (derived.kind == PYRO_DERIVED_NOTHING)
        return true;
    if (value->target == PYRO_ENRICH_AGGREGATE)
        return derived.kind != PYRO_DERIVED_NUMBER || pyro_enrich_number(run, value->name, derived.number);
    struct pyro_slice text = as_text(derived, room, sizeof(room));
    if (!text.ptr)
        return false;
    if (value->target == PYRO_ENRICH_TAG)
        return pyro_enrich_tag(run, secrets, value->name, text);
    run->queue = pyro_store_clean_text(secrets, pyro_arena_copy(&run->arena, text), &run->arena);
    return run->queue.ptr != NULL;
}

static bool is_asked(const struct pyro_enricher *enricher, const struct pyro_run *run)
{
    return (!enricher->ids || pyro_slice_starts_with(run->app_id, enricher->ids)) &&
           (!enricher->names || pyro_bounded_match(enricher->names, run->name, NULL, 0) > 0);
}

static bool add_failure(const struct pyro_enricher *enricher, const char *type, const char *message,
                        struct pyro_slice raw, struct pyro_arena *arena, pyro_enrich_failures *failures)
{
    struct pyro_enrich_failure *failure = pyro_vec_push(failures, arena->allocator);
    if (raw.len > RAW_BYTES)
        raw.len = RAW_BYTES;
    if (!failure)
        return false;
    *failure = (struct pyro_enrich_failure){type, pyro_arena_printf(arena, "%s: %s", enricher->label, message),
                                            pyro_arena_copy(arena, raw)};
    return failure->message.ptr && (failure->raw.ptr || !raw.ptr);
}

static bool take_answer(const struct pyro_enricher *enricher, const struct pyro_strbuf *body,
                        struct pyro_secrets *secrets, struct pyro_run *run, struct pyro_arena *arena,
                        pyro_enrich_failures *failures)
{
    json_error_t where;
    json_t *document = json_loadb(body->data ? body->data : "", body->len, JSON_ALLOW_NUL, &where);
    bool ok = true, found = true;
    if (!document)
        return add_failure(enricher, "invalid", "its answer is not JSON", pyro_strbuf_slice(body), arena, failures);
    if (enricher->kind == PYRO_ENRICH_MENAS)
        ok = pyro_menas_take(document, secrets, run, &found);
    for (size_t i = 0; i < enricher->values.count && ok; i++) {
        const struct pyro_enrich_value *value = &enricher->values.items[i];
        ok = put_value(value, pyro_expression_value(value->expression, document, run), secrets, run);
    }
    json_decref(document);
    if (ok && !found)
        ok = add_failure(enricher, "not-found", "it does not know this run", pyro_strbuf_slice(body), arena, failures);
    return ok;
}

static bool ask_one(const struct pyro_enricher *enricher, struct pyro_secrets *secrets, struct pyro_run *run,
                    struct pyro_arena *arena, pyro_enrich_failures *failures)
{
    struct asking asking = {.enricher = enricher, .error.size = sizeof(asking.error)};
    struct pyro_strbuf url, body;
    pyro_strbuf_init(&url, run->arena.allocator);
    pyro_strbuf_init(&body, run->arena.allocator);
    add_url(enricher, run, &url);
    enum pyro_status status = url.failed ? PYRO_ERROR_MEMORY : fetch(&asking, url.data, &body);
    bool ok = status != PYRO_ERROR_MEMORY;
    if (ok && status != PYRO_OK)
        ok = add_failure(enricher, "unreachable", asking.error.message, PYRO_SLICE_NULL, arena, failures);
    else if (ok)
        ok = take_answer(enricher, &body, secrets, run, arena, failures);
    pyro_strbuf_done(&url);
    pyro_strbuf_done(&body);
    return ok;
}

bool pyro_enrich(const struct pyro_enrichers *all, enum pyro_redaction redaction, struct pyro_run *run,
                 struct pyro_arena *arena, pyro_enrich_failures *failures)
{
    struct pyro_secrets secrets = {.how = redaction};
    bool ok = true;
    for (size_t i = 0; i < all->items.count && ok; i++)
        if (is_asked(&all->items.items[i], run))
            ok = ask_one(&all->items.items[i], &secrets, run, arena, failures);
    pyro_secrets_done(&secrets);
    return ok;
}

/* ---- Without a run ----------------------------------------------------------------------------------------------- */

/* Asks for what shows that the service is available. */
static enum pyro_status ask_service(const struct pyro_enricher *enricher, struct pyro_strbuf *body,
                                    struct pyro_error *error)
{
    struct asking asking = {.enricher = enricher, .error.size = sizeof(asking.error)};
    struct pyro_strbuf url;
    pyro_strbuf_init(&url, enricher->memory->allocator);
    bool yarn = enricher->kind == PYRO_ENRICH_YARN;
    size_t len = yarn ? strlen(enricher->url) - strlen("/apps/{app_id}") : strcspn(enricher->url, "{");
    pyro_strbuf_add(&url, enricher->url, len);
    pyro_strbuf_add_text(&url, yarn ? "/metrics" : "");
    struct pyro_exchange_answer answer = {0};
    enum pyro_status status = url.failed
                                  ? pyro_error_set(&asking.error, PYRO_ERROR_MEMORY, "no memory left for a request")
                                  : open_client(&asking);
    if (status == PYRO_OK)
        status = log_in(&asking, body);
    if (status == PYRO_OK)
        status = pyro_http_get_text(asking.http, url.data, ANSWER_BYTES, TRIES, body, &answer, &asking.error);
    /* Only YARN's page is known to exist; any answer of the others shows that a server listens. */
    if (status == PYRO_OK && (yarn ? answer.status != 200 : answer.status >= 500 || answer.status == 401))
        status = PYRO_ERROR_INPUT;
    pyro_http_close(asking.http);
    pyro_strbuf_done(&url);
    if (status != PYRO_OK)
        pyro_error_copy(error, &asking.error);
    return status;
}

enum pyro_status pyro_enricher_try(const struct pyro_enricher *enricher, struct pyro_error *error)
{
    struct pyro_strbuf body;
    pyro_strbuf_init(&body, enricher->memory->allocator);
    enum pyro_status status = ask_service(enricher, &body, error);
    pyro_strbuf_done(&body);
    return status;
}

bool pyro_enrich_clusters(const struct pyro_enrichers *all, struct pyro_arena *arena,
                          void (*take)(void *context, const struct pyro_cluster_row *row),
                          void (*failed)(void *context, const struct pyro_enricher *enricher, const char *message),
                          void *context)
{
    bool ok = true;
    for (size_t i = 0; i < all->items.count && ok; i++) {
        const struct pyro_enricher *enricher = &all->items.items[i];
        struct pyro_error error = {.size = sizeof(error)};
        struct pyro_strbuf body;
        if (enricher->kind != PYRO_ENRICH_YARN)
            continue;
        pyro_strbuf_init(&body, all->allocator);
        enum pyro_status status = ask_service(enricher, &body, &error);
        json_t *document = status == PYRO_OK ? json_loadb(body.data, body.len, 0, NULL) : NULL, *numbers = NULL,
               *number;
        const char *name;
        numbers = document ? json_object_get(document, "clusterMetrics") : NULL;
        if (!numbers)
            failed(context, enricher, status == PYRO_OK ? "its metrics are not those of YARN" : error.message);
        json_object_foreach(numbers, name, number)
        {
            const struct pyro_cluster_row row = {.source = pyro_slice_from(enricher->label),
                                                 .name = pyro_arena_copy(arena, pyro_slice_from(name)),
                                                 .time_ms = pyro_store_now_ms(),
                                                 .value = json_number_value(number)};
            ok = ok && row.name.ptr;
            if (ok && json_is_number(number))
                take(context, &row);
        }
        json_decref(document);
        pyro_strbuf_done(&body);
    }
    return ok;
}
