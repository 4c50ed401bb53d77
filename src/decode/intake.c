#include "decode/intake.h"

#include <string.h>

#include "base/collections/hash.h"

/* What is looked at behind a cut: enough to know a secret whose beginning is kept. */
enum { BEHIND_CUT = 512 };

enum kind { KIND_TEXT = 1, KIND_PLAN = 2 };

static uint64_t hash_of(struct pyro_slice text, enum kind kind, size_t limit)
{
    return pyro_hash_mix(pyro_hash_slice(text) + (uint64_t)kind) ^ pyro_hash_mix(limit + 1);
}

static struct pyro_slice look(struct pyro_intake *intake, struct pyro_slice text, bool plan, struct pyro_strbuf *buffer)
{
    struct pyro_slice shown =
        plan ? pyro_secrets_plan(&intake->secrets, text, buffer) : pyro_secrets_text(&intake->secrets, text, buffer);
    intake->failed |= buffer->failed;
    return buffer->failed ? PYRO_SLICE_LITERAL(PYRO_REDACTED) : shown;
}

static struct pyro_slice gate(void *context, struct pyro_slice text, uint32_t number)
{
    struct pyro_intake *intake = context;
    return look(intake, text, number != UINT32_MAX && pyro_id_set_has(&intake->plans, number), &intake->gate_buffer);
}

void pyro_intake_init(struct pyro_intake *intake, struct pyro_string_pool *pool, enum pyro_redaction how,
                      const struct pyro_allocator *allocator)
{
    *intake = (struct pyro_intake){.pool = pool, .secrets.how = how};
    pyro_strbuf_init(&intake->buffer, allocator);
    pyro_strbuf_init(&intake->gate_buffer, allocator);
    pyro_map_init(&intake->seen, allocator);
    pyro_id_set_init(&intake->plans, allocator);
    pyro_string_pool_set_gate(pool, gate, intake);
}

void pyro_intake_leave(struct pyro_intake *intake)
{
    pyro_string_pool_set_gate(intake->pool, NULL, NULL);
    intake->pool = NULL;
}

void pyro_intake_done(struct pyro_intake *intake)
{
    pyro_secrets_done(&intake->secrets);
    pyro_strbuf_done(&intake->buffer);
    pyro_strbuf_done(&intake->gate_buffer);
    pyro_map_done(&intake->seen);
    pyro_id_set_done(&intake->plans);
}

bool pyro_is_count(struct pyro_slice text)
{
    size_t i = 0;
    while (i < text.len && text.ptr[i] && strchr("0123456789+-.eE", text.ptr[i]))
        i++;
    return i == text.len;
}

struct pyro_slice pyro_build_cut(struct pyro_slice text, size_t limit)
{
    if (text.len <= limit)
        return text;
    while (limit > 0 && ((unsigned char)text.ptr[limit] & 0xc0) == 0x80)
        limit--;
    return (struct pyro_slice){text.ptr, limit};
}

size_t pyro_intake_window(size_t limit)
{
    return limit + BEHIND_CUT;
}

static struct pyro_slice prefix(struct pyro_intake *intake, struct pyro_slice text, size_t limit, bool plan)
{
    struct pyro_slice whole = limit ? pyro_build_cut(text, pyro_intake_window(limit)) : text;
    struct pyro_slice shown = look(intake, whole, plan, &intake->buffer);
    return limit ? pyro_build_cut(shown, limit) : shown;
}

static uint32_t keep(struct pyro_intake *intake, struct pyro_slice text, size_t limit, bool plan)
{
    struct pyro_slice whole = limit ? pyro_build_cut(text, pyro_intake_window(limit)) : text;
    uint64_t *place = pyro_map_put(&intake->seen, hash_of(whole, plan ? KIND_PLAN : KIND_TEXT, limit), NULL);
    if (place && *place)
        return (uint32_t)(*place - 1);
    uint32_t number = place ? pyro_intern(intake->pool, prefix(intake, whole, limit, plan)) : UINT32_MAX;
    if (number == UINT32_MAX || (plan && pyro_id_set_add(&intake->plans, number) < 0)) {
        intake->failed = true;
        return UINT32_MAX;
    }
    *place = (uint64_t)number + 1;
    return number;
}

uint32_t pyro_intake_plan(struct pyro_intake *intake, struct pyro_slice text)
{
    return text.ptr ? keep(intake, text, 0, true) : UINT32_MAX;
}

struct pyro_slice pyro_intake_prefix(struct pyro_intake *intake, struct pyro_slice text, size_t limit, bool plan)
{
    if (!text.ptr)
        return text;
    return pyro_string_pool_text(intake->pool, keep(intake, text, limit, plan));
}

void pyro_intake_add_prefix(struct pyro_intake *intake, struct pyro_slice text, size_t limit, struct pyro_strbuf *to)
{
    pyro_strbuf_add_slice(to, prefix(intake, text, limit, true));
}

bool pyro_intake_forbids(struct pyro_intake *intake, struct pyro_slice key, struct pyro_slice value, bool as_spark)
{
    if (!value.ptr)
        return false;
    return as_spark ? pyro_secrets_property(&intake->secrets, key, value)
                    : pyro_secrets_name(&intake->secrets, key, value);
}

struct pyro_slice pyro_intake_value(struct pyro_intake *intake, struct pyro_slice key, struct pyro_slice value,
                                    bool as_spark)
{
    if (pyro_intake_forbids(intake, key, value, as_spark))
        value = PYRO_SLICE_LITERAL(PYRO_REDACTED);
    return pyro_intern_slice(intake->pool, value);
}

struct pyro_slice pyro_intake_clean(struct pyro_intake *intake, struct pyro_slice text)
{
    return look(intake, text, false, &intake->buffer);
}

bool pyro_intake_suspects(struct pyro_intake *intake, struct pyro_slice bytes)
{
    return pyro_secrets_suspects(&intake->secrets, bytes);
}

bool pyro_intake_look_again(struct pyro_intake *intake, struct pyro_renewal **ret)
{
    const struct pyro_allocator *allocator = intake->seen.allocator;
    pyro_map_done(&intake->seen);
    pyro_map_init(&intake->seen, allocator);
    bool ok = pyro_string_pool_renew(intake->pool, ret);
    intake->failed |= !ok;
    return ok;
}

struct pyro_slice pyro_intake_excerpt(struct pyro_intake *intake, struct pyro_slice text, size_t limit)
{
    if (pyro_secrets_own_name(&intake->secrets, text))
        return pyro_intern_slice(intake->pool, PYRO_SLICE_LITERAL(PYRO_REDACTED));
    return pyro_intake_prefix(intake, text, limit, false);
}
