/* opensearch:https://[NAME:PASSWORD@]HOST[:PORT][/PATH]/PREFIX[?ca=FILE&raw=NAME&agg=NAME&err=NAME&rows=NAME&work=NAME]
 */
#include <string.h>

#include "store/opensearch/opensearch.h"

#define FORM "opensearch:https://HOST:9200/PREFIX"

static const char *const names[PYRO_OS_INDICES] = {"raw", "agg", "err", "rows", "work"};

/* What OpenSearch takes as the name of an index, and needs no escape in a path. */
static bool is_name(struct pyro_slice text)
{
    bool first = true;
    for (size_t i = 0; i < text.len; i++, first = false) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (first || !strchr("-_.", c)))
            return false;
    }
    return text.len > 0 && text.len <= 200;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes %XX in place of a copy; null: no memory. */
static struct pyro_slice decode(struct pyro_arena *arena, struct pyro_slice text)
{
    char *copy = pyro_arena_alloc(arena, text.len + 1), *to = copy;
    for (size_t i = 0; copy && i < text.len; i++) {
        int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        *to++ = low > 0 || high > 0 ? (char)(16 * high + low) : text.ptr[i];
        i += low > 0 || high > 0 ? 2 : 0;
    }
    if (!copy)
        return PYRO_SLICE_NULL;
    *to = '\0';
    return (struct pyro_slice){copy, (size_t)(to - copy)};
}

static enum pyro_status take_parameter(struct pyro_opensearch *store, struct pyro_slice key, struct pyro_slice value,
                                       struct pyro_error *error)
{
    struct pyro_slice text = decode(&store->arena, value);
    if (!text.ptr)
        return pyro_opensearch_no_memory(error);
    if (pyro_slice_is(key, "ca")) {
        store->ca_file = text.ptr;
        return PYRO_OK;
    }
    for (size_t i = 0; i < PYRO_OS_INDICES; i++) {
        if (!pyro_slice_is(key, names[i]))
            continue;
        if (!is_name(text))
            return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                                  "'%.200s' cannot be the name of an index: use lower-case letters, digits and - _ .",
                                  text.ptr);
        store->index[i] = text.ptr;
        return PYRO_OK;
    }
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                          "the address of a store has no parameter '%.*s': give ca, raw, agg, err, rows or work",
                          (int)(key.len < 50 ? key.len : 50), key.ptr);
}

static enum pyro_status take_parameters(struct pyro_opensearch *store, const char *text, struct pyro_error *error)
{
    while (*text) {
        size_t len = strcspn(text, "&"), name = strcspn(text, "=&");
        const struct pyro_slice key = {text, name};
        const struct pyro_slice value = {text + (name < len ? name + 1 : len), len - (name < len ? name + 1 : len)};
        if (len > 0)
            PYRO_TRY(take_parameter(store, key, value, error));
        text += len + (text[len] == '&');
    }
    return PYRO_OK;
}

static enum pyro_status name_indices(struct pyro_opensearch *store, struct pyro_slice prefix, struct pyro_error *error)
{
    for (size_t i = 0; i < PYRO_OS_INDICES; i++) {
        if (store->index[i])
            continue;
        store->index[i] = pyro_arena_printf(&store->arena, "%.*s-%s", (int)prefix.len, prefix.ptr, names[i]).ptr;
        if (!store->index[i])
            return pyro_opensearch_no_memory(error);
    }
    return PYRO_OK;
}

enum pyro_status pyro_opensearch_parse(struct pyro_opensearch *store, const char *place, struct pyro_error *error)
{
    size_t len = strcspn(place, "?");
    if (!pyro_is_url(place) || strchr(place, '#'))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "a store on OpenSearch needs an address: " FORM);
    while (len > 0 && place[len - 1] == '/')
        len--;
    const char *host = strstr(place, "://") + 3, *slash = memrchr(place, '/', len);
    const struct pyro_slice prefix = {slash + 1, len - (size_t)(slash + 1 - place)};
    if (slash < host || !is_name(prefix))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "the address of a store on OpenSearch ends with the prefix of its indices, of lower-case "
                              "letters, digits and - _ .: " FORM);
    const struct pyro_slice server = {place, (size_t)(slash - place)};
    store->server = pyro_arena_copy(&store->arena, server).ptr;
    store->label = pyro_http_label_in(&store->arena, place).ptr;
    if (!store->server || !store->label)
        return pyro_opensearch_no_memory(error);
    const char *parameters = place + strcspn(place, "?");
    PYRO_TRY(take_parameters(store, *parameters ? parameters + 1 : parameters, error));
    return name_indices(store, prefix, error);
}
