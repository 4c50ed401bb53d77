#include "report/diagnosis/sections.h"

#include <stdlib.h>

#include "text/humanize.h"

pyro_section_builder *const pyro_section_builders[] = {
    pyro_section_money,     pyro_section_profile,   pyro_section_configuration, pyro_section_wall,
    pyro_section_core,      pyro_section_bounds,    pyro_section_memory,        pyro_section_stages,
    pyro_section_executors, pyro_section_artefacts, pyro_section_quality,
};
const size_t pyro_section_count = sizeof(pyro_section_builders) / sizeof(*pyro_section_builders);

void pyro_section_init(struct pyro_section *section, const struct pyro_allocator *allocator)
{
    section->title = NULL;
    pyro_strbuf_init(&section->lead, allocator);
    pyro_grid_init(&section->grid, allocator);
    pyro_strbuf_init(&section->remarks, allocator);
}

void pyro_section_done(struct pyro_section *section)
{
    pyro_strbuf_done(&section->lead);
    pyro_grid_done(&section->grid);
    pyro_strbuf_done(&section->remarks);
}

bool pyro_section_failed(const struct pyro_section *section)
{
    return section->lead.failed || section->grid.text.failed || section->remarks.failed;
}

struct keyed_row {
    int64_t key;
    uint32_t row;
};

static int compare_rows(const void *a, const void *b)
{
    const struct keyed_row *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

uint32_t *pyro_rows_by_key(const struct pyro_allocator *allocator, size_t count, int64_t (*key)(const void *, size_t),
                           const void *rows)
{
    if (count == 0 || count > UINT32_MAX)
        return NULL;
    struct keyed_row *keyed = pyro_allocate(allocator, count * sizeof(*keyed));
    uint32_t *sorted = pyro_allocate(allocator, count * sizeof(*sorted));
    for (size_t i = 0; keyed && sorted && i < count; i++)
        keyed[i] = (struct keyed_row){key(rows, i), (uint32_t)i};
    if (keyed && sorted) {
        qsort(keyed, count, sizeof(*keyed), compare_rows);
        for (size_t i = 0; i < count; i++)
            sorted[i] = keyed[i].row;
    } else {
        pyro_release(allocator, sorted);
        sorted = NULL;
    }
    pyro_release(allocator, keyed);
    return sorted;
}

/* Parts that add up to `total`, the empty ones left out. */
static void add_account(struct pyro_section *section, const char *const *names, const int64_t *parts, size_t count)
{
    static const struct pyro_grid_column columns[] = {
        {"Part", false, 0, false}, {"Time", true, 0, false}, {"Share", true, 0, false}, {"", false, 1, true}};
    static const char full[] = "##################################################";
    struct pyro_grid *grid = &section->grid;
    unsigned permille[32];
    pyro_permille_parts(parts, count, permille);
    grid->columns = columns;
    grid->column_count = sizeof(columns) / sizeof(*columns);
    grid->headless = true;
    for (size_t i = 0; i < count; i++) {
        if (parts[i] <= 0)
            continue;
        for (const char *p = names[i]; *p; p++)
            pyro_strbuf_add_char(&grid->text, *p == '_' ? ' ' : *p);
        pyro_grid_next(grid);
        pyro_human_ms(&grid->text, parts[i]);
        pyro_grid_next(grid);
        pyro_human_permille(&grid->text, permille[i]);
        pyro_grid_next(grid);
        size_t bar = (permille[i] * 40 + 500) / 1000;
        pyro_strbuf_add(&grid->text, full, bar ? bar : 1);
        pyro_grid_next(grid);
    }
}

void pyro_section_wall(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_report_options *options)
{
    (void)options;
    const struct pyro_numbers *numbers = &diagnosis->app->numbers;
    section->title = "Time account";
    pyro_strbuf_add_text(&section->lead, "Wall time ");
    pyro_human_ms(&section->lead, numbers->wall_total_ms);
    pyro_strbuf_add_text(&section->lead, ": what the application did or waited for, at each moment.");
    add_account(section, pyro_wall_part_names, numbers->wall_ms, PYRO_WALL_PARTS);
    pyro_strbuf_add_text(&section->remarks, "Phases: waiting for the first executor ");
    pyro_human_ms(&section->remarks, numbers->phase_wait_ms);
    pyro_strbuf_add_text(&section->remarks, ", computing ");
    pyro_human_ms(&section->remarks, numbers->phase_compute_ms);
    pyro_strbuf_add_text(&section->remarks, ", writing output ");
    pyro_human_ms(&section->remarks, numbers->phase_write_ms);
    pyro_strbuf_add_text(&section->remarks, ".\n");
}

void pyro_section_core(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                       const struct pyro_report_options *options)
{
    (void)options;
    const struct pyro_numbers *numbers = &diagnosis->app->numbers;
    section->title = "Core account";
    if (numbers->core_total_ms <= 0) {
        pyro_strbuf_add_text(&section->lead, "The log has no executors: the allocated core time is unknown.");
        return;
    }
    pyro_strbuf_add_text(&section->lead, "Core time ");
    pyro_human_ms(&section->lead, numbers->core_total_ms);
    pyro_strbuf_add_text(&section->lead, ": how the allocated cores were used.");
    add_account(section, pyro_core_part_names, numbers->core_ms, PYRO_CORE_PARTS);
}

static void add_bound(struct pyro_grid *grid, const char *name, int64_t ms, const char *meaning)
{
    pyro_grid_add(grid, name);
    pyro_human_ms(&grid->text, ms);
    pyro_grid_next(grid);
    pyro_grid_add(grid, meaning);
}

void pyro_section_bounds(struct pyro_section *section, const struct pyro_diagnosis *diagnosis,
                         const struct pyro_report_options *options)
{
    (void)options;
    static const struct pyro_grid_column columns[] = {
        {"Bound", false, 0, false}, {"Time", true, 0, false}, {"Meaning", false, 1, false}};
    const struct pyro_numbers *numbers = &diagnosis->app->numbers;
    section->title = "Bounds";
    section->grid.columns = columns;
    section->grid.column_count = 3;
    section->grid.headless = true;
    add_bound(&section->grid, "measured", diagnosis->app->application.duration_ms, "this run");
    add_bound(&section->grid, "driver", numbers->driver_ms, "without a running stage: driver and resource wait");
    add_bound(&section->grid, "critical path", numbers->critical_path_ms, "the same work with unlimited cores");
    add_bound(&section->grid, "ideal", numbers->ideal_ms, "the task time spread evenly over these cores");
    add_bound(&section->grid, "one core", numbers->one_core_ms, "the same work on one core");
}
