/* The work of crawlers: one document an item. Every change names the number of the state that it was made from
 * (if_seq_no), so that of two that want the same item one is refused. */
#include "store/opensearch/work.h"

#include "base/numbers/saturate.h"

#include <string.h>

static const char *const states[] = {
    [PYRO_WORK_NEW] = "new",       [PYRO_WORK_LEASED] = "leased", [PYRO_WORK_DONE] = "done",
    [PYRO_WORK_FAILED] = "failed", [PYRO_WORK_DEAD] = "dead",
};
enum { STATES = sizeof(states) / sizeof(*states) };

const char *pyro_opensearch_work_state(enum pyro_work_state state)
{
    return states[state];
}

static enum pyro_work_state state_of(const json_t *source)
{
    struct pyro_slice name = pyro_opensearch_text(source, "state");
    for (unsigned i = 0; i < STATES; i++)
        if (name.ptr && pyro_slice_is(name, states[i]))
            return i;
    return PYRO_WORK_DEAD; /* of a later build: left alone */
}

static void add_state(struct pyro_strbuf *to, enum pyro_work_state state)
{
    pyro_compact_string(to, "state", states[state]);
}

static void add_no_owner(struct pyro_strbuf *to)
{
    pyro_compact_json(to, "owner", PYRO_SLICE_LITERAL("null"));
    pyro_compact_int(to, "until_ms", 0);
}

void pyro_opensearch_work_ended(const struct pyro_lease *lease, enum pyro_work_state state, struct pyro_strbuf *to)
{
    add_state(to, state);
    pyro_compact_string(to, "stamp", lease->stamp);
    add_no_owner(to);
    pyro_compact_int(to, "next_ms", 0);
}

static enum pyro_status refresh(struct pyro_opensearch *store, struct pyro_error *error)
{
    return pyro_opensearch_refresh(store, store->index[PYRO_OS_WORK], error);
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

/* Changes of items, each of which may come too late. */
struct changes {
    struct pyro_opensearch *store;
    struct pyro_opensearch_bulk bulk;
    bool *done; /* by owner: whether the change was made */
    size_t count;
};

static enum pyro_status take_change(void *context, const struct pyro_opensearch_item *item, struct pyro_error *error)
{
    struct changes *changes = context;
    bool done = item->status / 100 == 2;
    if (!done && item->status != 409 && item->status != 404)
        return pyro_opensearch_must_be_written(NULL, item, error);
    if (changes->done)
        changes->done[item->owner] = done;
    changes->count += done;
    return PYRO_OK;
}

static void changes_init(struct changes *changes, struct pyro_opensearch *store)
{
    *changes = (struct changes){.store = store};
    pyro_opensearch_bulk_init(&changes->bulk, store);
    changes->bulk.take = take_change;
    changes->bulk.context = changes;
}

static enum pyro_status begin_change(struct changes *changes, const json_t *hit, size_t owner, struct pyro_error *error)
{
    const struct pyro_opensearch_target target = {.index = PYRO_OS_WORK,
                                                  .id = pyro_opensearch_text(hit, "_id"),
                                                  .update = true,
                                                  .version = PYRO_NONE,
                                                  .seq_no = pyro_opensearch_int(hit, "_seq_no"),
                                                  .primary_term = pyro_opensearch_int(hit, "_primary_term")};
    return pyro_opensearch_bulk_begin(&changes->bulk, &target, owner, 0, error);
}

static enum pyro_status changes_end(struct changes *changes, enum pyro_status status, struct pyro_error *error)
{
    if (status == PYRO_OK)
        status = pyro_opensearch_bulk_send(&changes->bulk, error);
    pyro_opensearch_bulk_done(&changes->bulk);
    if (status != PYRO_OK)
        pyro_error_at(error, changes->store->label, UINT64_MAX);
    return status;
}

/* Items by their keys: *ret is an array of what _mget says of each, of the answer *ret_answer. */
static enum pyro_status get_items(struct pyro_opensearch *store, const struct pyro_slice *keys, size_t count,
                                  struct pyro_arena *arena, json_t **ret_answer, const json_t **ret,
                                  struct pyro_error *error)
{
    struct pyro_strbuf docs;
    pyro_strbuf_init(&docs, store->allocator);
    for (size_t i = 0; i < count; i++) {
        struct pyro_slice id = pyro_opensearch_id(arena, keys[i]);
        docs.failed |= !id.ptr;
        pyro_opensearch_format(&docs, "?x{'_index':?s,'_id':?t}", i ? "," : "", store->index[PYRO_OS_WORK], id);
    }
    enum pyro_status status = docs.failed ? pyro_opensearch_no_memory(error)
                                          : pyro_opensearch_ask(store, PYRO_OS_WRITES, NULL, "_mget", ret_answer, error,
                                                                "{'docs':[?x]}", docs.data);
    pyro_strbuf_done(&docs);
    PYRO_TRY(status);
    *ret = json_object_get(*ret_answer, "docs");
    return PYRO_OK;
}

/* ---- Offering ---------------------------------------------------------------------------------------------------- */

enum { OFFERED_AT_ONCE = 1000 };

static void add_offer(const struct pyro_work_item *item, bool is_new, struct pyro_strbuf *to)
{
    add_state(to, PYRO_WORK_NEW);
    pyro_compact_text(to, "stamp", item->stamp);
    pyro_compact_int(to, "end_ms", item->end_ms);
    pyro_compact_int(to, "tries", 0);
    pyro_compact_int(to, "next_ms", 0);
    if (!is_new)
        return;
    pyro_compact_text(to, "kind", PYRO_SLICE_LITERAL("item"));
    pyro_compact_text(to, "key", item->key);
    pyro_compact_text(to, "source", item->source);
    pyro_compact_int(to, "epoch", 0);
    pyro_compact_int(to, "until_ms", 0);
}

/* Whether the log is another one now. The holder of the item's lease finds out. */
static bool is_other(const json_t *found, const struct pyro_work_item *item)
{
    const json_t *source = json_object_get(found, "_source");
    struct pyro_slice stamp = pyro_opensearch_text(source, "stamp");
    return state_of(source) != PYRO_WORK_LEASED && !(stamp.ptr && pyro_slice_eq(stamp, item->stamp));
}

static enum pyro_status offer_one(struct changes *changes, struct pyro_arena *arena, const json_t *found,
                                  const struct pyro_work_item *item, struct pyro_error *error)
{
    bool known = json_is_true(json_object_get(found, "found"));
    if (known && !is_other(found, item))
        return PYRO_OK;
    if (known) {
        PYRO_TRY(begin_change(changes, found, 0, error));
    } else {
        const struct pyro_opensearch_target target = {.index = PYRO_OS_WORK,
                                                      .id = pyro_opensearch_id(arena, item->key),
                                                      .create = true,
                                                      .version = PYRO_NONE,
                                                      .seq_no = PYRO_NONE,
                                                      .primary_term = PYRO_NONE};
        PYRO_TRY(pyro_opensearch_bulk_begin(&changes->bulk, &target, 0, 0, error));
    }
    add_offer(item, !known, &changes->bulk.body);
    return pyro_opensearch_bulk_end(&changes->bulk, error);
}

static enum pyro_status offer_some(struct changes *changes, struct pyro_arena *arena,
                                   const struct pyro_work_item *items, size_t count, struct pyro_error *error)
{
    struct pyro_slice keys[OFFERED_AT_ONCE];
    json_t *answer = NULL;
    const json_t *found = NULL;
    for (size_t i = 0; i < count; i++)
        keys[i] = items[i].key;
    PYRO_TRY(get_items(changes->store, keys, count, arena, &answer, &found, error));
    enum pyro_status status = PYRO_OK;
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        status = offer_one(changes, arena, json_array_get(found, i), &items[i], error);
    json_decref(answer);
    return status;
}

static enum pyro_status offer(void *state, const struct pyro_work_item *items, size_t count, size_t *ret_new,
                              struct pyro_error *error)
{
    struct changes changes;
    struct pyro_arena arena;
    enum pyro_status status = PYRO_OK;
    changes_init(&changes, state);
    pyro_arena_init(&arena, changes.store->allocator);
    for (size_t i = 0; i < count && status == PYRO_OK; i += OFFERED_AT_ONCE)
        status =
            offer_some(&changes, &arena, items + i, count - i < OFFERED_AT_ONCE ? count - i : OFFERED_AT_ONCE, error);
    status = changes_end(&changes, status, error);
    pyro_arena_done(&arena);
    if (status == PYRO_OK)
        *ret_new = changes.count;
    return status;
}

/* ---- Claiming ---------------------------------------------------------------------------------------------------- */

/* What may be leased now: items of one state, the earliest end first. */
#define CLAIMABLE                                                                                                      \
    "{'query':{'bool':{'filter':[{'term':{'kind':'item'}},{'term':{'source':?t}},{'term':{'state':?s}},"               \
    "{'range':{?s:{'lte':?i}}}]}},'seq_no_primary_term':true,'sort':['end_ms','key'],'size':?i}"

static int64_t next(int64_t number)
{
    return number > 0 ? pyro_add_saturating(number, 1) : 1;
}

/* Whether a crawler wrote it: it says which log, of which source, and which state of the log. */
static bool is_item(const json_t *source)
{
    return pyro_opensearch_text(source, "key").ptr && pyro_opensearch_text(source, "source").ptr &&
           pyro_opensearch_text(source, "stamp").ptr;
}

static bool copy_item(struct pyro_arena *arena, const json_t *source, const char *owner, int64_t until_ms,
                      struct pyro_work_item *ret)
{
    *ret = (struct pyro_work_item){
        .key = pyro_arena_copy(arena, pyro_opensearch_text(source, "key")),
        .source = pyro_arena_copy(arena, pyro_opensearch_text(source, "source")),
        .stamp = pyro_arena_copy(arena, pyro_opensearch_text(source, "stamp")),
        .end_ms = pyro_opensearch_int(source, "end_ms"),
        .owner = pyro_arena_copy(arena, pyro_slice_from(owner)),
        .epoch = next(pyro_opensearch_int(source, "epoch")),
        .tries = pyro_opensearch_int(source, "tries"),
        .until_ms = until_ms,
        .state = PYRO_WORK_LEASED,
    };
    return ret->key.ptr && ret->source.ptr && ret->stamp.ptr && ret->owner.ptr;
}

static enum pyro_status lease_hits(struct pyro_opensearch *store, const json_t *hits, size_t count, const char *owner,
                                   int64_t now, struct pyro_arena *arena, struct pyro_work_item *ret, bool *done,
                                   struct pyro_error *error)
{
    struct changes changes;
    enum pyro_status status = PYRO_OK;
    changes_init(&changes, store);
    changes.done = done;
    for (size_t i = 0; i < count && status == PYRO_OK; i++) {
        const json_t *hit = json_array_get(hits, i);
        if (!is_item(json_object_get(hit, "_source")))
            continue;
        if (!copy_item(arena, json_object_get(hit, "_source"), owner, now + PYRO_WORK_LEASE_MS, &ret[i]))
            status = pyro_opensearch_no_memory(error);
        if (status == PYRO_OK)
            status = begin_change(&changes, hit, i, error);
        if (status != PYRO_OK)
            break;
        add_state(&changes.bulk.body, PYRO_WORK_LEASED);
        pyro_compact_text(&changes.bulk.body, "owner", ret[i].owner);
        pyro_compact_int(&changes.bulk.body, "epoch", ret[i].epoch);
        pyro_compact_int(&changes.bulk.body, "until_ms", ret[i].until_ms);
        status = pyro_opensearch_bulk_end(&changes.bulk, error);
    }
    return changes_end(&changes, status, error);
}

static enum pyro_status claim_state(struct pyro_opensearch *store, struct pyro_slice source, const char *owner,
                                    enum pyro_work_state state, size_t most, struct pyro_arena *arena,
                                    struct pyro_work_item *ret, size_t *ret_count, struct pyro_error *error)
{
    int64_t now = pyro_opensearch_now_ms(store);
    const char *time = state == PYRO_WORK_LEASED ? "until_ms" : "next_ms";
    json_t *answer = NULL;
    bool *done = pyro_arena_array(arena, most, sizeof(*done));
    if (!done)
        return pyro_opensearch_no_memory(error);
    PYRO_TRY(pyro_opensearch_search(store, PYRO_OS_WORK, &answer, error, CLAIMABLE, source, states[state], time,
                                    state == PYRO_WORK_LEASED ? now - PYRO_WORK_GRACE_MS : now, (int64_t)most));
    const json_t *hits = pyro_opensearch_hits(answer);
    size_t count = json_array_size(hits), kept = 0;
    count = count < most ? count : most; /* whatever the server answers */
    enum pyro_status status = lease_hits(store, hits, count, owner, now, arena, ret, done, error);
    for (size_t i = 0; i < count && status == PYRO_OK; i++)
        if (done[i])
            ret[kept++] = ret[i];
    json_decref(answer);
    *ret_count = kept;
    return status;
}

/* New items come first: one that ends every crawler keeps no other waiting. */
static enum pyro_status claim(void *state, struct pyro_slice source, const char *owner, size_t most,
                              struct pyro_arena *arena, struct pyro_work_item *ret, size_t *ret_count,
                              struct pyro_error *error)
{
    static const enum pyro_work_state order[] = {PYRO_WORK_NEW, PYRO_WORK_FAILED, PYRO_WORK_LEASED};
    size_t count = 0;
    most = most < PYRO_OS_PAGE ? most : PYRO_OS_PAGE;
    PYRO_TRY(refresh(state, error));
    for (size_t i = 0; i < sizeof(order) / sizeof(*order) && count < most; i++) {
        size_t more = 0;
        PYRO_TRY(claim_state(state, source, owner, order[i], most - count, arena, ret + count, &more, error));
        count += more;
    }
    *ret_count = count;
    return PYRO_OK;
}

/* ---- One lease --------------------------------------------------------------------------------------------------- */

/* Before its item, which could otherwise be dead for an unknown reason: if this ends in between, the next try writes
 * one more. */
static enum pyro_status put_failure(struct pyro_opensearch *store, const struct pyro_lease *lease,
                                    const struct pyro_store_error_row *row, struct pyro_error *error)
{
    struct pyro_arena arena;
    pyro_arena_init(&arena, store->allocator);
    struct pyro_slice whole = pyro_arena_printf(&arena, "%s#%lld", lease->key, (long long)lease->epoch),
                      id = whole.ptr ? pyro_opensearch_id(&arena, whole) : whole;
    enum pyro_status status =
        id.ptr ? pyro_opensearch_record_error_once(store, id, row, error) : pyro_opensearch_no_memory(error);
    pyro_arena_done(&arena);
    return status;
}

/* Changes the item of a lease, if that is still held, by what `add` writes; `row` is written before. */
static enum pyro_status change_lease(struct pyro_opensearch *store, const struct pyro_lease *lease,
                                     void (*add)(void *context, const json_t *source, struct pyro_strbuf *to),
                                     void *context, const struct pyro_store_error_row *row, bool *ret_held,
                                     struct pyro_error *error)
{
    struct changes changes;
    struct pyro_arena arena;
    json_t *answer = NULL;
    const json_t *found = NULL;
    const struct pyro_slice key = pyro_slice_from(lease->key);
    pyro_arena_init(&arena, store->allocator);
    enum pyro_status status = get_items(store, &key, 1, &arena, &answer, &found, error);
    pyro_arena_done(&arena);
    PYRO_TRY(status);
    const json_t *item = json_array_get(found, 0), *source = json_object_get(item, "_source");
    bool held = json_is_true(json_object_get(item, "found")) && state_of(source) == PYRO_WORK_LEASED &&
                pyro_opensearch_int(source, "epoch") == lease->epoch;
    changes_init(&changes, store);
    if (held && row)
        status = put_failure(store, lease, row, error);
    if (held && status == PYRO_OK)
        status = begin_change(&changes, item, 0, error);
    if (held && status == PYRO_OK) {
        add(context, source, &changes.bulk.body);
        status = pyro_opensearch_bulk_end(&changes.bulk, error);
    }
    status = changes_end(&changes, status, error);
    *ret_held = held && changes.count == 1;
    json_decref(answer);
    return status;
}

static void add_longer(void *context, const json_t *source, struct pyro_strbuf *to)
{
    (void)source;
    pyro_compact_int(to, "until_ms", pyro_opensearch_now_ms(context) + PYRO_WORK_LEASE_MS);
}

static enum pyro_status renew(void *state, const struct pyro_lease *lease, bool *ret_held, struct pyro_error *error)
{
    return change_lease(state, lease, add_longer, state, NULL, ret_held, error);
}

static void add_new(void *context, const json_t *source, struct pyro_strbuf *to)
{
    (void)context, (void)source;
    add_state(to, PYRO_WORK_NEW);
    add_no_owner(to);
}

static enum pyro_status release(void *state, const struct pyro_lease *lease, struct pyro_error *error)
{
    bool held;
    return change_lease(state, lease, add_new, NULL, NULL, &held, error);
}

static void add_skipped(void *context, const json_t *source, struct pyro_strbuf *to)
{
    (void)source;
    pyro_opensearch_work_ended(context, PYRO_WORK_DONE, to);
    pyro_compact_int(to, "tries", 0);
}

static enum pyro_status skip(void *state, const struct pyro_lease *lease, struct pyro_error *error)
{
    struct pyro_lease own = *lease;
    bool held;
    return change_lease(state, lease, add_skipped, &own, NULL, &held, error);
}

struct failure {
    struct pyro_opensearch *store;
    const struct pyro_lease *lease;
    bool lasts;
};

static void add_failure(void *context, const json_t *source, struct pyro_strbuf *to)
{
    const struct failure *failure = context;
    int64_t tries = next(pyro_opensearch_int(source, "tries"));
    bool dead = failure->lasts || tries >= PYRO_WORK_TRIES;
    int64_t pause = (int64_t)PYRO_WORK_FIRST_PAUSE_MS << (2 * (tries < PYRO_WORK_TRIES ? tries - 1 : 0)),
            now = pyro_opensearch_now_ms(failure->store);
    add_state(to, dead ? PYRO_WORK_DEAD : PYRO_WORK_FAILED);
    pyro_compact_string(to, "stamp", failure->lease->stamp);
    pyro_compact_int(to, "tries", tries);
    pyro_compact_int(to, "next_ms", dead ? 0 : now + pause);
    add_no_owner(to);
}

static enum pyro_status fail(void *state, const struct pyro_lease *lease, bool lasts,
                             const struct pyro_store_error_row *row, struct pyro_error *error)
{
    struct failure failure = {.store = state, .lease = lease, .lasts = lasts};
    bool held; /* else, the holder of the item now says what becomes of it */
    return change_lease(state, lease, add_failure, &failure, row, &held, error);
}

/* ---- All of a source --------------------------------------------------------------------------------------------- */

/* Items that become new. */
struct renewal {
    struct changes changes;
    bool from_start; /* their tries too */
    struct pyro_error *error;
    enum pyro_status status;
};

static int make_new(void *context, const json_t *hit)
{
    struct renewal *renewal = context;
    struct pyro_strbuf *body = &renewal->changes.bulk.body;
    renewal->status = begin_change(&renewal->changes, hit, 0, renewal->error);
    if (renewal->status == PYRO_OK) {
        add_new(NULL, NULL, body);
        if (renewal->from_start) {
            pyro_compact_int(body, "tries", 0);
            pyro_compact_int(body, "next_ms", 0);
        }
        renewal->status = pyro_opensearch_bulk_end(&renewal->changes.bulk, renewal->error);
    }
    return renewal->status != PYRO_OK;
}

/* `form` asks for one text, or for none. */
static enum pyro_status make_all_new(struct pyro_opensearch *store, struct renewal *renewal, const char *form,
                                     struct pyro_slice value, size_t *ret_count)
{
    PYRO_TRY(refresh(store, renewal->error));
    changes_init(&renewal->changes, store);
    enum pyro_status status = pyro_opensearch_each(store, PYRO_OS_WORK, make_new, renewal, renewal->error, form, value);
    status = changes_end(&renewal->changes, status == PYRO_OK ? renewal->status : status, renewal->error);
    if (status == PYRO_OK)
        *ret_count = renewal->changes.count;
    return status;
}

#define FAILED "{'terms':{'state':['failed','dead']}}"
#define ORDER  "'seq_no_primary_term':true,'sort':['end_ms','key']}"

static enum pyro_status retry(void *state, struct pyro_slice source, size_t *ret_count, struct pyro_error *error)
{
    struct renewal renewal = {.from_start = true, .error = error};
    const char *form = source.ptr ? "{'query':{'bool':{'filter':[" FAILED ",{'term':{'source':?t}}]}}," ORDER
                                  : "{'query':{'bool':{'filter':[" FAILED "]}}," ORDER;
    return make_all_new(state, &renewal, form, source, ret_count);
}

static enum pyro_status take_back(void *state, const char *owner, size_t *ret_count, struct pyro_error *error)
{
    struct renewal renewal = {.error = error};
    return make_all_new(state, &renewal,
                        "{'query':{'bool':{'filter':[{'term':{'state':'leased'}},{'term':{'owner':?t}}]}}," ORDER,
                        pyro_slice_from(owner), ret_count);
}

static struct pyro_slice source_id(struct pyro_arena *arena, struct pyro_slice source)
{
    struct pyro_slice whole = pyro_arena_printf(arena, "source#%.*s", (int)source.len, source.ptr);
    return whole.ptr ? pyro_opensearch_id(arena, whole) : whole;
}

struct listing {
    struct pyro_opensearch *store;
    struct pyro_slice source;
};

static void add_listing(const void *row, struct pyro_strbuf *to)
{
    const struct listing *listing = row;
    pyro_compact_text(to, "kind", PYRO_SLICE_LITERAL("source"));
    pyro_compact_text(to, "source", listing->source);
    pyro_compact_int(to, "listed_ms", pyro_opensearch_now_ms(listing->store));
}

static enum pyro_status listed(void *state, struct pyro_slice source, struct pyro_error *error)
{
    struct pyro_opensearch *store = state;
    const struct listing listing = {store, source};
    struct pyro_arena arena;
    pyro_arena_init(&arena, store->allocator);
    const struct pyro_opensearch_target target = {.index = PYRO_OS_WORK,
                                                  .id = source_id(&arena, source),
                                                  .version = PYRO_NONE,
                                                  .seq_no = PYRO_NONE,
                                                  .primary_term = PYRO_NONE};
    pyro_opensearch_now_ms(store); /* asked before the document is begun */
    enum pyro_status status = target.id.ptr ? pyro_opensearch_put(store, &target, add_listing, &listing, error)
                                            : pyro_opensearch_no_memory(error);
    pyro_arena_done(&arena);
    return status;
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

#define COUNTED                                                                                                        \
    "{'size':0,'query':{'term':{'source':?t}},'aggs':{'states':{'terms':{'field':'state','size':10}},"                 \
    "'open':{'filter':{'terms':{'state':['new','leased','failed']}},'aggs':{'first':{'min':{'field':'end_ms'}}}},"     \
    "'last':{'max':{'field':'end_ms'}},'listed':{'max':{'field':'listed_ms'}}}}"

static enum pyro_status counts(void *state, struct pyro_slice source, struct pyro_work_counts *ret,
                               struct pyro_error *error)
{
    json_t *answer = NULL;
    PYRO_TRY(refresh(state, error));
    PYRO_TRY(pyro_opensearch_search(state, PYRO_OS_WORK, &answer, error, COUNTED, source));
    const json_t *all = json_object_get(answer, "aggregations"),
                 *buckets = json_object_get(json_object_get(all, "states"), "buckets");
    *ret = (struct pyro_work_counts){.listed_ms = pyro_opensearch_number(json_object_get(all, "listed"), "value")};
    for (size_t i = 0; i < json_array_size(buckets); i++)
        for (unsigned s = 0; s < STATES; s++)
            if (pyro_slice_is(pyro_opensearch_text(json_array_get(buckets, i), "key"), states[s]))
                ret->items[s] = pyro_opensearch_int(json_array_get(buckets, i), "doc_count");
    int64_t first_ms = pyro_opensearch_number(json_object_get(json_object_get(all, "open"), "first"), "value");
    ret->low_ms = first_ms != PYRO_NONE ? pyro_sub_saturating(first_ms, 1)
                                        : pyro_opensearch_number(json_object_get(all, "last"), "value");
    json_decref(answer);
    return PYRO_OK;
}

const struct pyro_work_backend pyro_opensearch_work = {
    .offer = offer,
    .claim = claim,
    .renew = renew,
    .release = release,
    .skip = skip,
    .fail = fail,
    .retry = retry,
    .take_back = take_back,
    .counts = counts,
    .listed = listed,
    .now_ms = pyro_opensearch_now_ms,
};
