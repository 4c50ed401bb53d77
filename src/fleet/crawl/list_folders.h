/* What a source has: one item of work for each log (store/work.h). */
#ifndef PYRO_FLEET_CRAWL_LIST_FOLDERS_H
#define PYRO_FLEET_CRAWL_LIST_FOLDERS_H

#include "base/collections/map.h"
#include "base/collections/vec.h"
#include "base/strings/strbuf.h"
#include "base/threads/stop.h"
#include "fleet/crawl/source_settings.h"
#include "store/work.h"

/* What of a source was offered to the store before, so that unchanged logs are neither opened nor offered again. */
struct pyro_crawl_memory {
    struct pyro_map known; /* hashes of files and of items with their stamps */
};

struct pyro_crawl_list {
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_work_item) items;
    PYRO_VEC(uint64_t) hashes; /* for the memory, once the items are in the store */
    size_t seen;               /* logs that the source has, of those asked for */
    struct pyro_slice version; /* the Spark version of a server; null: unknown */
};

struct pyro_crawl_listing {
    const struct pyro_crawl_settings *settings;
    const struct pyro_crawl_source *source;
    const struct pyro_crawl_memory *memory;
    int64_t from_ms;              /* of a server: only runs that ended since; PYRO_NONE: all */
    bool whole;                   /* also those that have not ended, and are given up */
    const struct pyro_stop *stop; /* may be NULL */
};

/* PYRO_ERROR_INPUT: the source cannot be reached, or does not answer as it should. pyro_crawl_list_done() in every
 * case. */
enum pyro_status pyro_crawl_list(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *ret,
                                 struct pyro_error *error);
void pyro_crawl_list_done(struct pyro_crawl_list *list, const struct pyro_allocator *allocator);
/* False: no memory, and some will be offered again. */
bool pyro_crawl_remember(struct pyro_crawl_memory *memory, const struct pyro_crawl_list *list);

/* list_server.c: of a History Server. */
enum pyro_status pyro_crawl_list_server(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *ret,
                                        struct pyro_error *error);
/* Adds an item, unless the memory has it with that stamp; false: no memory. `name`: behind the source in its key. */
bool pyro_crawl_list_add(const struct pyro_crawl_listing *listing, struct pyro_crawl_list *list, struct pyro_slice name,
                         struct pyro_slice stamp, int64_t end_ms);
/* The key of the item of a server's run. In the arena; null: no memory. */
struct pyro_slice pyro_crawl_server_key(const struct pyro_crawl_source *source, struct pyro_slice app_id,
                                        struct pyro_slice attempt, struct pyro_arena *arena);
/* What pyro_inputs_open() reads for an item; `inside` is the log's name where that has several. Both in the arena. A
 * null slice: no memory. */
struct pyro_slice pyro_crawl_address(const struct pyro_crawl_source *source, struct pyro_slice key,
                                     struct pyro_arena *arena, struct pyro_slice *ret_inside);
/* The application or the path in a key: for people. */
struct pyro_slice pyro_crawl_key_name(const struct pyro_crawl_source *source, struct pyro_slice key);
/* The API of a server without what follows it: "http://HOST/api/v1/applications". */
struct pyro_slice pyro_crawl_api(const struct pyro_crawl_source *source, struct pyro_arena *arena);

#endif
