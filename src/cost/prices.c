#include "cost/prices.h"

#include <math.h>
#include <stdio.h>

#include "base/files/yaml_file.h"
#include "base/options.h"

#define SCHEMA "pyrometer.prices/1"
static const double most = 1e9; /* of a price, a rate, a size: beyond is a slip of the pen */

/* A sheet being read: what it says once for all rows. */
struct sheet {
    struct pyro_prices *prices;
    const char *path;
    struct pyro_error *error;
    struct pyro_price usual;
};

static enum pyro_status refuse(const struct sheet *sheet, unsigned line, const char *format, const char *what)
{
    char text[300];
    snprintf(text, sizeof(text), format, what);
    enum pyro_status status =
        pyro_error_set(sheet->error, PYRO_ERROR_ARGUMENT, "%s, line %u: %s", sheet->path, line, text);
    pyro_error_at(sheet->error, sheet->path, UINT64_MAX);
    return status;
}

static enum pyro_status no_memory(const struct sheet *sheet)
{
    return pyro_error_set(sheet->error, PYRO_ERROR_MEMORY, "no memory for the prices");
}

/* Refuses keys that no row has, naming the nearest. */
static enum pyro_status check_keys(const struct sheet *sheet, const struct pyro_yaml *map, const char *const *known,
                                   size_t count, const char *what)
{
    if (map->kind != PYRO_YAML_MAP)
        return refuse(sheet, map->line, "%s is a list of names with values (KEY: VALUE)", what);
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (k < count && !pyro_slice_is(map->entries[i].key, known[k]))
            k++;
        if (k < count)
            continue;
        const char *nearest = pyro_nearest(map->entries[i].key.ptr, known, count);
        char text[200];
        snprintf(text, sizeof(text), "'%.60s' is not a key of %s; %s%s%s", map->entries[i].key.ptr, what,
                 nearest ? "did you mean '" : "remove it, or see docs/prices.md", nearest ? nearest : "",
                 nearest ? "'?" : "");
        return refuse(sheet, map->entries[i].line, "%s", text);
    }
    return PYRO_OK;
}

static enum pyro_status take_text(const struct sheet *sheet, const struct pyro_yaml *map, const char *key,
                                  struct pyro_slice *ret)
{
    const struct pyro_yaml *node = pyro_yaml_get(map, key);
    const char *text;
    if (!node || pyro_yaml_is_null(node))
        return PYRO_OK;
    if (!pyro_yaml_text(node, &text) || strlen(text) > 400)
        return pyro_yaml_refuse(node, sheet->path, sheet->error, "a short text");
    *ret = pyro_arena_copy(&sheet->prices->arena, pyro_slice_from(text));
    return ret->ptr ? PYRO_OK : no_memory(sheet);
}

static enum pyro_status take_number(const struct sheet *sheet, const struct pyro_yaml *node, bool zero, double *ret)
{
    double value;
    if (!pyro_yaml_number(node, &value) || !(zero ? value >= 0 : value > 0) || value > most)
        return pyro_yaml_refuse(node, sheet->path, sheet->error,
                                zero ? "a number from 0 to 10^9" : "a number greater than 0, up to 10^9");
    *ret = value;
    return PYRO_OK;
}

/* Three capital letters: ISO 4217 in shape. */
static enum pyro_status check_currency(const struct sheet *sheet, unsigned line, struct pyro_slice currency)
{
    bool good = currency.len == 3;
    for (size_t i = 0; good && i < 3; i++)
        good = currency.ptr[i] >= 'A' && currency.ptr[i] <= 'Z';
    return good ? PYRO_OK
                : refuse(sheet, line, "'%.40s' is not a currency; write its three letters, such as USD",
                         currency.ptr ? currency.ptr : "");
}

static enum pyro_status take_common(const struct sheet *sheet, const struct pyro_yaml *map, struct pyro_price *row)
{
    PYRO_TRY(take_text(sheet, map, "service", &row->service));
    PYRO_TRY(take_text(sheet, map, "unit", &row->unit));
    PYRO_TRY(take_text(sheet, map, "region", &row->region));
    PYRO_TRY(take_text(sheet, map, "purchase", &row->purchase));
    PYRO_TRY(take_text(sheet, map, "tier", &row->tier));
    return PYRO_OK;
}

static enum pyro_status check_unit(const struct sheet *sheet, unsigned line, const struct pyro_price *row)
{
    static const char *const units[] = {"hour", "core-hour", "gib-hour", "dbu", "dbu-per-hour", "dpu-hour"};
    if (!row->service.ptr)
        return refuse(sheet, line, "this price has no service, such as ec2%s", "");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (pyro_slice_is(row->unit, units[i])) {
            bool typed = i == 0 || i == 4;
            if (typed && !row->instance.ptr)
                return refuse(sheet, line, "a price with unit %.40s is of an instance type: add instance: TYPE",
                              row->unit.ptr);
            return PYRO_OK;
        }
    return refuse(sheet, line, "'%.40s' is not a unit; it is hour, core-hour, gib-hour, dbu, dbu-per-hour or dpu-hour",
                  row->unit.ptr ? row->unit.ptr : "");
}

static enum pyro_status take_price(const struct sheet *sheet, const struct pyro_yaml *map)
{
    static const char *const known[] = {"service", "unit",  "instance", "region", "purchase",
                                        "tier",    "price", "source",   "dated"};
    struct pyro_price row = sheet->usual;
    PYRO_TRY(check_keys(sheet, map, known, sizeof(known) / sizeof(known[0]), "a price"));
    PYRO_TRY(take_common(sheet, map, &row));
    PYRO_TRY(take_text(sheet, map, "instance", &row.instance));
    PYRO_TRY(take_text(sheet, map, "source", &row.source));
    PYRO_TRY(take_text(sheet, map, "dated", &row.dated));
    const struct pyro_yaml *price = pyro_yaml_get(map, "price");
    if (!price)
        return refuse(sheet, map->line, "this row has no price%s", "");
    PYRO_TRY(take_number(sheet, price, true, &row.price));
    PYRO_TRY(check_unit(sheet, map->line, &row));
    struct pyro_price *added = pyro_vec_push(&sheet->prices->rows, sheet->prices->arena.allocator);
    if (!added)
        return no_memory(sheet);
    *added = row;
    return PYRO_OK;
}

static enum pyro_status take_instance(const struct sheet *sheet, const struct pyro_yaml *map)
{
    static const char *const known[] = {"name", "cores", "memory_gib"};
    struct pyro_instance row = {.source = sheet->usual.source};
    double cores = 0, memory = 0;
    PYRO_TRY(check_keys(sheet, map, known, 3, "an instance type"));
    PYRO_TRY(take_text(sheet, map, "name", &row.name));
    const struct pyro_yaml *has = pyro_yaml_get(map, "cores"), *holds = pyro_yaml_get(map, "memory_gib");
    if (!row.name.ptr || !has || !holds)
        return refuse(sheet, map->line, "an instance type has name, cores and memory_gib%s", "");
    PYRO_TRY(take_number(sheet, has, false, &cores));
    PYRO_TRY(take_number(sheet, holds, false, &memory));
    if (cores > 100000 || cores != floor(cores) || memory > 1e6)
        return refuse(sheet, map->line, "'%.60s' has more cores or memory than a machine can have", row.name.ptr);
    row.cores = (int64_t)cores;
    row.memory_mib = (int64_t)(memory * 1024 + 0.5);
    struct pyro_instance *added = pyro_vec_push(&sheet->prices->instances, sheet->prices->arena.allocator);
    if (!added)
        return no_memory(sheet);
    *added = row;
    return PYRO_OK;
}

static enum pyro_status take_rates(const struct sheet *sheet, const struct pyro_yaml *map)
{
    if (map->kind != PYRO_YAML_MAP)
        return refuse(sheet, map->line, "%s", "rates is a list such as EUR: 0.92, in units of the sheet's currency");
    for (size_t i = 0; i < map->count; i++) {
        struct pyro_rate *added = pyro_vec_push(&sheet->prices->rates, sheet->prices->arena.allocator);
        if (!added)
            return no_memory(sheet);
        added->from = sheet->usual.currency;
        PYRO_TRY(check_currency(sheet, map->entries[i].line, map->entries[i].key));
        PYRO_TRY(take_number(sheet, map->entries[i].value, false, &added->rate));
        added->to = pyro_arena_copy(&sheet->prices->arena, map->entries[i].key);
        if (!added->to.ptr)
            return no_memory(sheet);
    }
    return PYRO_OK;
}

static enum pyro_status take_list(const struct sheet *sheet, const struct pyro_yaml *root, const char *key,
                                  enum pyro_status (*take)(const struct sheet *, const struct pyro_yaml *))
{
    const struct pyro_yaml *list = pyro_yaml_get(root, key);
    if (!list || pyro_yaml_is_null(list))
        return PYRO_OK;
    if (list->kind != PYRO_YAML_LIST)
        return refuse(sheet, list->line, "%s is a list: each row begins with '- '", key);
    for (size_t i = 0; i < list->count; i++)
        PYRO_TRY(take(sheet, list->entries[i].value));
    return PYRO_OK;
}

static enum pyro_status take_sheet(struct sheet *sheet, const struct pyro_yaml *root)
{
    static const char *const known[] = {"schema", "currency", "source",    "dated", "read",
                                        "usual",  "prices",   "instances", "rates", "nodes"};
    static const char *const common[] = {"service", "unit", "region", "purchase", "tier"};
    struct pyro_slice schema = PYRO_SLICE_NULL, read = PYRO_SLICE_NULL;
    const struct pyro_yaml *usual = pyro_yaml_get(root, "usual"), *rates = pyro_yaml_get(root, "rates");
    PYRO_TRY(check_keys(sheet, root, known, sizeof(known) / sizeof(known[0]), "a price sheet"));
    PYRO_TRY(take_text(sheet, root, "schema", &schema));
    if (!pyro_slice_is(schema, SCHEMA))
        return refuse(sheet, root->line, "a price sheet begins with schema: %s", SCHEMA);
    PYRO_TRY(take_text(sheet, root, "currency", &sheet->usual.currency));
    PYRO_TRY(take_text(sheet, root, "source", &sheet->usual.source));
    PYRO_TRY(take_text(sheet, root, "dated", &sheet->usual.dated));
    PYRO_TRY(take_text(sheet, root, "read", &read));
    if (!sheet->usual.dated.ptr)
        sheet->usual.dated = read;
    if (sheet->usual.currency.ptr || pyro_yaml_get(root, "prices") || rates)
        PYRO_TRY(check_currency(sheet, root->line, sheet->usual.currency));
    if (usual) {
        PYRO_TRY(check_keys(sheet, usual, common, sizeof(common) / sizeof(common[0]), "usual"));
        PYRO_TRY(take_common(sheet, usual, &sheet->usual));
    }
    static const char *const of_nodes[] = {"instance", "driver", "region"};
    const struct pyro_yaml *nodes = pyro_yaml_get(root, "nodes");
    if (nodes) {
        PYRO_TRY(check_keys(sheet, nodes, of_nodes, 3, "nodes"));
        PYRO_TRY(take_text(sheet, nodes, "instance", &sheet->prices->node_instance));
        PYRO_TRY(take_text(sheet, nodes, "driver", &sheet->prices->driver_instance));
        PYRO_TRY(take_text(sheet, nodes, "region", &sheet->prices->node_region));
    }
    PYRO_TRY(take_list(sheet, root, "prices", take_price));
    PYRO_TRY(take_list(sheet, root, "instances", take_instance));
    return rates ? take_rates(sheet, rates) : PYRO_OK;
}

static enum pyro_status take_tree(struct pyro_prices *prices, const char *path, const struct pyro_yaml *root, bool own,
                                  struct pyro_error *error)
{
    struct sheet sheet = {
        prices,
        path,
        error,
        {.purchase = PYRO_SLICE_LITERAL("on-demand"), .unit = PYRO_SLICE_LITERAL("hour"), .own = own}};
    return take_sheet(&sheet, root);
}

enum pyro_status pyro_prices_parse(struct pyro_prices *prices, const char *name, const char *text, size_t len, bool own,
                                   struct pyro_error *error)
{
    struct pyro_arena scratch;
    const struct pyro_yaml *root = NULL;
    pyro_arena_init(&scratch, prices->arena.allocator);
    enum pyro_status status = pyro_yaml_parse(&scratch, name, text, len, &root, error);
    if (status == PYRO_OK)
        status = take_tree(prices, name, root, own, error);
    pyro_arena_done(&scratch);
    return status;
}

enum pyro_status pyro_prices_new(const struct pyro_options *options, struct pyro_prices **ret, struct pyro_error *error)
{
    struct pyro_options own;
    pyro_error_clear(error);
    if (!ret)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the place for the prices is missing");
    PYRO_TRY(pyro_options_resolve(options, &own, error));
    const struct pyro_allocator *allocator = own.allocator;
    struct pyro_prices *prices = pyro_allocate(allocator, sizeof(*prices));
    if (!prices)
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the prices");
    memset(prices, 0, sizeof(*prices));
    pyro_arena_init(&prices->arena, allocator);
    for (size_t i = 0; i < pyro_price_sheet_count; i++) {
        const struct pyro_price_sheet *sheet = &pyro_price_sheets[i];
        enum pyro_status status =
            pyro_prices_parse(prices, sheet->name, sheet->text, strlen(sheet->text), false, error);
        if (status != PYRO_OK) {
            pyro_prices_free(prices);
            return status == PYRO_ERROR_MEMORY ? status : PYRO_ERROR_INTERNAL;
        }
    }
    *ret = prices;
    return PYRO_OK;
}

enum pyro_status pyro_prices_read(struct pyro_prices *prices, const char *path, struct pyro_error *error)
{
    struct pyro_arena scratch;
    const struct pyro_yaml *root = NULL;
    pyro_error_clear(error);
    if (!prices || !path)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the prices or the path is missing");
    pyro_arena_init(&scratch, prices->arena.allocator);
    enum pyro_status status = pyro_yaml_load(&scratch, path, &root, error);
    if (status == PYRO_OK)
        status = take_tree(prices, path, root, true, error);
    pyro_arena_done(&scratch);
    return status;
}

static bool keep(struct pyro_prices *prices, const char *text, struct pyro_slice *ret)
{
    if (!text)
        return true;
    *ret = pyro_arena_copy(&prices->arena, pyro_slice_from(text));
    return ret->ptr != NULL;
}

enum pyro_status pyro_prices_choose_nodes(struct pyro_prices *prices, const char *instance, const char *region,
                                          struct pyro_error *error)
{
    pyro_error_clear(error);
    if (!prices)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the prices are missing");
    return keep(prices, instance, &prices->chosen_instance) && keep(prices, region, &prices->chosen_region)
               ? PYRO_OK
               : pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the prices");
}

void pyro_prices_free(struct pyro_prices *prices)
{
    if (!prices)
        return;
    const struct pyro_allocator *allocator = prices->arena.allocator;
    pyro_vec_done(&prices->rows, allocator);
    pyro_vec_done(&prices->instances, allocator);
    pyro_vec_done(&prices->rates, allocator);
    pyro_arena_done(&prices->arena);
    pyro_release(allocator, prices);
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

static bool fits(const struct pyro_price *row, const struct pyro_price_query *query)
{
    if (!pyro_slice_is(row->service, query->service) || !pyro_slice_is(row->unit, query->unit) ||
        !pyro_slice_is(row->purchase, query->purchase ? query->purchase : "on-demand"))
        return false;
    if (!pyro_slice_eq(row->instance, query->instance) && row->instance.ptr)
        return false;
    if (row->tier.ptr && !pyro_slice_eq(row->tier, query->tier))
        return false;
    return !row->region.ptr || !query->region.ptr || pyro_slice_eq(row->region, query->region);
}

const struct pyro_price *pyro_prices_find(const struct pyro_prices *prices, const struct pyro_price_query *query)
{
    for (size_t i = prices ? prices->rows.count : 0; i > 0; i--)
        if (fits(&prices->rows.items[i - 1], query))
            return &prices->rows.items[i - 1];
    return NULL;
}

const struct pyro_instance *pyro_prices_instance(const struct pyro_prices *prices, struct pyro_slice name)
{
    for (size_t i = prices && name.len ? prices->instances.count : 0; i > 0; i--)
        if (pyro_slice_eq(prices->instances.items[i - 1].name, name))
            return &prices->instances.items[i - 1];
    return NULL;
}

const struct pyro_price *pyro_prices_seller(const struct pyro_prices *prices, struct pyro_slice instance)
{
    for (size_t i = prices && instance.len ? prices->rows.count : 0; i > 0; i--) {
        const struct pyro_price *row = &prices->rows.items[i - 1];
        if (pyro_slice_is(row->unit, "hour") && pyro_slice_eq(row->instance, instance) &&
            !pyro_slice_is(row->service, "emr"))
            return row;
    }
    return NULL;
}

double pyro_prices_rate(const struct pyro_prices *prices, struct pyro_slice from, struct pyro_slice to)
{
    if (pyro_slice_eq(from, to))
        return 1;
    for (size_t i = prices ? prices->rates.count : 0; i > 0; i--) {
        const struct pyro_rate *rate = &prices->rates.items[i - 1];
        if (pyro_slice_eq(rate->from, from) && pyro_slice_eq(rate->to, to))
            return rate->rate;
        if (pyro_slice_eq(rate->from, to) && pyro_slice_eq(rate->to, from))
            return 1 / rate->rate;
    }
    return 0;
}
