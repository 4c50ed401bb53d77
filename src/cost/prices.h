/* Price sheets: rows with their source and date, from the files in prices/ and from a user's own. docs/prices.md
 *
 * A price that is in no sheet is unknown; nothing is guessed from another region, size or family. */
#ifndef PYRO_COST_PRICES_H
#define PYRO_COST_PRICES_H

#include "base/collections/vec.h"
#include "base/error.h"
#include "base/memory/arena.h"

struct pyro_price {
    struct pyro_slice service;  /* "ec2", "emr", "databricks", "kubernetes", ... */
    struct pyro_slice unit;     /* "hour" of an instance, "core-hour", "gib-hour", "dbu", "dbu-per-hour", "dpu-hour" */
    struct pyro_slice instance; /* null where the price is not of an instance type */
    struct pyro_slice region;   /* null: everywhere */
    struct pyro_slice purchase; /* "on-demand", "spot", "reserved-1y", ... */
    struct pyro_slice tier;     /* "jobs", "all-purpose", ...; null: any */
    struct pyro_slice currency, source, dated;
    double price;
    bool own; /* from a file of the user's */
};

struct pyro_instance {
    struct pyro_slice name;
    int64_t cores, memory_mib;
    struct pyro_slice source;
};

struct pyro_rate {
    struct pyro_slice from, to;
    double rate; /* how much of `to` one of `from` is */
};

struct pyro_prices {
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_price) rows; /* later ones win */
    PYRO_VEC(struct pyro_instance) instances;
    PYRO_VEC(struct pyro_rate) rates;
    /* What nodes are if the log does not say; null: not known. */
    struct pyro_slice node_instance, driver_instance, node_region;
    /* What they are taken for whatever the log says; null: nothing was chosen. */
    struct pyro_slice chosen_instance, chosen_region;
};

/* Adds the rows of a sheet; `name` stands for it in errors. */
enum pyro_status pyro_prices_parse(struct pyro_prices *prices, const char *name, const char *text, size_t len, bool own,
                                   struct pyro_error *error);

/* What is asked for; null slices match rows that say nothing, and `region` null also the sheet's own region. */
struct pyro_price_query {
    const char *service, *unit;
    struct pyro_slice instance, region, tier;
    const char *purchase;
};
/* The newest row that fits, a user's before the library's; NULL: unknown. */
const struct pyro_price *pyro_prices_find(const struct pyro_prices *prices, const struct pyro_price_query *query);

/* Cores and memory of an instance type; NULL: in no sheet. */
const struct pyro_instance *pyro_prices_instance(const struct pyro_prices *prices, struct pyro_slice name);
/* The service that sells an instance type by the hour ("ec2", "gce", "azure"), or NULL. */
const struct pyro_price *pyro_prices_seller(const struct pyro_prices *prices, struct pyro_slice instance);
/* How much of `to` one of `from` is; 0: unknown. */
double pyro_prices_rate(const struct pyro_prices *prices, struct pyro_slice from, struct pyro_slice to);

/* Sheets that come with the library, made from prices/ when it is built. */
struct pyro_price_sheet {
    const char *name, *text;
};
extern const struct pyro_price_sheet pyro_price_sheets[];
extern const size_t pyro_price_sheet_count;

#endif
