/* Which stage of the run after is which of the run before. */
#include "analyze/row_index.h"
#include "base/memory/allocator.h"
#include "compare/comparing.h"

/* What the keys of a stage are made of. */
struct traits {
    uint64_t site, file, query; /* call site, the same without folder and line number, description of the query */
    uint64_t operations;        /* names of its RDDs' operations, in any order */
    unsigned flow;              /* what it reads and writes: bits */
    bool counts;                /* a first attempt that ran */
};

static unsigned flow_of(const struct pyro_stage *stage)
{
    unsigned flow = 16;
    flow |= (stage->input_bytes > 0 || stage->input_records > 0) * 1u;
    flow |= (stage->shuffle_read_bytes > 0 || stage->shuffle_read_records > 0) * 2u;
    flow |= (stage->shuffle_write_bytes > 0 || stage->shuffle_write_records > 0) * 4u;
    flow |= (stage->output_bytes > 0 || stage->output_records > 0) * 8u;
    return flow;
}

/* "WholeStageCodegen (3)" and "WholeStageCodegen (4)" are one operation. */
static uint64_t operation_of(struct pyro_slice name)
{
    return pyro_match_mix(1, pyro_match_text(name, false));
}

/* "collect at /home/a/job.py:27" and "collect at /home/b/job.py:31" are one call of one file. */
static uint64_t file_of(struct pyro_slice site)
{
    if (!site.ptr)
        site = PYRO_SLICE_LITERAL("");
    size_t name = site.len;
    while (name > 0 && site.ptr[name - 1] != '/' && site.ptr[name - 1] != ' ')
        name--;
    size_t folder = name;
    while (folder > 0 && site.ptr[folder - 1] != ' ')
        folder--;
    uint64_t call = pyro_match_text((struct pyro_slice){site.ptr, folder}, false);
    return pyro_match_mix(call, pyro_match_text((struct pyro_slice){site.ptr + name, site.len - name}, false));
}

static bool read_traits(const struct pyro_app *app, struct traits *traits)
{
    struct pyro_index stages, queries;
    bool good = pyro_index_stages(&stages, app);
    if (!good)
        return false;
    if (!pyro_index_sql(&queries, app)) {
        pyro_index_done(&stages);
        return false;
    }
    for (size_t i = 0; i < app->stages.count; i++) {
        const struct pyro_stage *stage = &app->stages.items[i];
        size_t query;
        traits[i] = (struct traits){.site = pyro_match_text(stage->call_site, true),
                                    .file = stage->call_site.ptr ? file_of(stage->call_site) : 0,
                                    .flow = flow_of(stage),
                                    .counts = stage->attempt <= 0 && !stage->unsubmitted};
        if (stage->sql != PYRO_NONE && pyro_index_find(&queries, stage->sql, &query) > 0)
            traits[i].query = pyro_match_text(app->sql.items[queries.entries[query].row].description, true);
    }
    for (size_t i = 0; i < app->rdds.count; i++) {
        const struct pyro_rdd *rdd = &app->rdds.items[i];
        size_t first;
        if (rdd->stage != PYRO_NONE && rdd->operation.len && pyro_index_find(&stages, rdd->stage, &first) > 0)
            traits[stages.entries[first].row].operations += operation_of(rdd->operation);
    }
    pyro_index_done(&stages);
    pyro_index_done(&queries);
    return true;
}

/* From the most to the least alike. */
enum { BY_OPERATIONS, BY_QUERY, BY_SITE, BY_FILE, PASSES };

static uint64_t key_of(const struct traits *traits, int pass)
{
    uint64_t key = pyro_match_mix((uint64_t)pass + 1, pass == BY_FILE ? traits->file : traits->site);
    if (!traits->counts)
        return 0;
    if (pass == BY_OPERATIONS)
        key = pyro_match_mix(key, traits->operations);
    if (pass == BY_OPERATIONS || pass == BY_QUERY)
        key = pyro_match_mix(key, traits->query);
    key = pyro_match_mix(key, traits->flow);
    return key ? key : 1;
}

bool pyro_compare_match_stages(const struct pyro_app *const apps[2], struct pyro_match *match)
{
    struct traits *traits[2];
    uint64_t *keys[2];
    for (int side = 0; side < 2; side++) {
        traits[side] = pyro_allocate(match->allocator, (match->count[side] + 1) * sizeof(struct traits));
        keys[side] = pyro_allocate(match->allocator, (match->count[side] + 1) * sizeof(uint64_t));
    }
    bool good = traits[0] && traits[1] && keys[0] && keys[1] && read_traits(apps[0], traits[0]) &&
                read_traits(apps[1], traits[1]);
    for (int pass = 0; good && pass < PASSES; pass++) {
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < match->count[side]; i++)
                keys[side][i] = key_of(&traits[side][i], pass);
        good = pyro_match_by(match, (const uint64_t *const[2]){keys[0], keys[1]});
    }
    for (int side = 0; side < 2; side++) {
        pyro_release(match->allocator, traits[side]);
        pyro_release(match->allocator, keys[side]);
    }
    return good;
}
