/* Writing costs of applications: as text, JSON or CSV. */
#include "report/cost/cost.h"
#include "base/numbers/saturate.h"
#include "base/options.h"

#include "report/shared/draw.h"
#include "text/escape.h"
#include "text/humanize.h"

enum { GROUPS_SHOWN = 30 };

static void add_groups(struct pyro_section *section, const struct pyro_costs *costs,
                       const struct pyro_cost_group *groups, size_t count, bool all)
{
    static const struct pyro_grid_column columns[] = {{"", false, 0, false},
                                                      {"Runs", true, 3, false},
                                                      {"Core hours", true, 0, false},
                                                      {"GiB hours", true, 2, false},
                                                      {"Money", true, 1, false}};
    struct pyro_grid *grid = &section->grid;
    section->title = "Costs";
    pyro_strbuf_add_text(&section->lead, "By ");
    pyro_strbuf_add_slice(&section->lead, costs->by_text);
    pyro_strbuf_add_char(&section->lead, '.');
    grid->columns = columns;
    grid->column_count = 5;
    for (size_t i = 0; i < count && (all || i < GROUPS_SHOWN); i++) {
        const struct pyro_cost_group *group = &groups[i];
        bool parts = costs->by >= PYRO_BY_POOL && costs->by <= PYRO_BY_SQL;
        pyro_strbuf_add_slice(&grid->text, group->key.ptr ? group->key
                                           : parts        ? PYRO_SLICE_LITERAL("(idle, driver, other)")
                                                          : PYRO_SLICE_LITERAL("(unknown)"));
        pyro_grid_next(grid);
        pyro_human_count(&grid->text, group->applications);
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, pyro_cost_core_hours(&group->total));
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, pyro_cost_gib_hours(&group->total));
        pyro_grid_next(grid);
        if (group->currency.ptr) {
            pyro_strbuf_add_text(&grid->text, group->known ? "" : ">= ");
            pyro_human_money(&grid->text, group->total.micros, group->currency);
        }
        pyro_grid_next(grid);
    }
    if (!all && count > GROUPS_SHOWN)
        pyro_strbuf_printf(&section->remarks, "%zu more; --details shows all.\n", count - GROUPS_SHOWN);
}

/* What the nodes of clusters cost, beside what applications did. */
static void add_clusters(struct pyro_section *section, const struct pyro_cluster *clusters, size_t count)
{
    static const struct pyro_grid_column columns[] = {{"Cluster", false, 0, false},   {"Runs", true, 4, false},
                                                      {"Nodes", true, 3, false},      {"Node hours", true, 0, false},
                                                      {"Idle hours", true, 0, false}, {"Money", true, 1, false},
                                                      {"Idle", true, 2, false}};
    struct pyro_grid *grid = &section->grid;
    bool shared = false;
    section->title = "Clusters";
    pyro_strbuf_add_text(&section->lead, "Each node counts from its first application to its last one. Idle: the part "
                                         "of that time without an application.");
    grid->columns = columns;
    grid->column_count = 7;
    for (size_t i = 0; i < count; i++) {
        const struct pyro_cluster *cluster = &clusters[i];
        pyro_strbuf_add_slice(&grid->text, cluster->name);
        pyro_grid_next(grid);
        pyro_human_count(&grid->text, cluster->applications);
        pyro_grid_next(grid);
        pyro_human_count(&grid->text, cluster->nodes);
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, (double)cluster->node_ms / 3600000);
        pyro_grid_next(grid);
        pyro_human_hours(&grid->text, (double)cluster->idle_ms / 3600000);
        pyro_grid_next(grid);
        pyro_human_money(&grid->text, cluster->micros, cluster->known ? cluster->currency : PYRO_SLICE_NULL);
        pyro_grid_next(grid);
        pyro_human_money(&grid->text, cluster->idle_micros, cluster->known ? cluster->currency : PYRO_SLICE_NULL);
        pyro_grid_next(grid);
        shared |= cluster->claimed_ms > pyro_sub_saturating(cluster->node_ms, cluster->idle_ms);
        pyro_strbuf_add_slice(&section->remarks, cluster->name);
        pyro_strbuf_add_text(&section->remarks, ": ");
        pyro_strbuf_add_slice(&section->remarks, cluster->reason);
        pyro_strbuf_add_text(&section->remarks, " (confidence ");
        pyro_human_hundredths(&section->remarks, cluster->confidence);
        pyro_strbuf_add_text(&section->remarks, ").\n");
    }
    if (shared)
        pyro_strbuf_add_text(&section->remarks, "Applications shared nodes: the cost of each application includes such "
                                                "a node in full, this table counts it once.\n");
    pyro_strbuf_add_text(&section->remarks,
                         "Unknown: nodes that none of these applications used, the time of nodes before the first and "
                         "after the last of these applications, and other applications in between.\n");
}

static void draw(struct pyro_page *page, struct pyro_section *section, struct pyro_strbuf *line)
{
    pyro_text_section(page, section, line);
    page->output->buffer.failed |= line->failed || pyro_section_failed(section);
    pyro_section_done(section);
    pyro_output_flush(page->output, false);
}

static void write_text(struct pyro_output *output, const struct pyro_costs *costs, const struct pyro_cost_group *groups,
                       size_t count, const struct pyro_cluster *clusters, size_t cluster_count,
                       const struct pyro_report_options *options)
{
    struct pyro_page page;
    struct pyro_strbuf line;
    struct pyro_section section;
    pyro_page_init(&page, output, options);
    pyro_strbuf_init(&line, output->buffer.allocator);
    pyro_page_heading(&page, PYRO_SLICE_LITERAL("SPARK COST REPORT"), '=');
    bool single = costs->entries.count == 1;
    for (size_t i = 0; i < costs->entries.count && (single || options->details); i++) {
        const struct pyro_cost *cost = costs->entries.items[i].cost;
        pyro_strbuf_clear(&line);
        pyro_strbuf_add_text(&line, "Job: ");
        pyro_strbuf_add_slice(&line, cost->name.len ? cost->name : cost->id.len ? cost->id : cost->path);
        pyro_strbuf_add_text(&line, "    Duration: ");
        pyro_human_ms(&line, cost->duration_ms);
        if (i)
            pyro_page_blank(&page);
        pyro_page_wrap(&page, PYRO_STYLE_NONE, "", pyro_strbuf_slice(&line));
        pyro_section_init(&section, output->buffer.allocator);
        pyro_cost_section(&section, cost);
        draw(&page, &section, &line);
    }
    if (!single || costs->by != PYRO_BY_APPLICATION) {
        pyro_section_init(&section, output->buffer.allocator);
        add_groups(&section, costs, groups, count, options->details != 0);
        draw(&page, &section, &line);
    }
    if (cluster_count > 0) {
        pyro_section_init(&section, output->buffer.allocator);
        add_clusters(&section, clusters, cluster_count);
        draw(&page, &section, &line);
    }
    for (size_t i = 0; i < costs->unreadable.count; i++) {
        pyro_strbuf_clear(&line);
        pyro_strbuf_add_text(&line, "Not readable: ");
        pyro_strbuf_add_slice(&line, costs->unreadable.items[i].path);
        pyro_strbuf_add_text(&line, ": ");
        pyro_strbuf_add_slice(&line, costs->unreadable.items[i].reason);
        pyro_page_wrap(&page, PYRO_STYLE_WARN, "", pyro_strbuf_slice(&line));
    }
    output->buffer.failed |= line.failed;
    pyro_strbuf_done(&line);
    pyro_page_done(&page);
}

/* One row a group. */
static void write_csv(struct pyro_output *output, const struct pyro_cost_group *groups, size_t count)
{
    struct pyro_strbuf *out = &output->buffer;
    pyro_strbuf_add_text(out, "key,applications,core_hours,gib_hours,core_ms,memory_mib_ms,cost,currency,known\r\n");
    for (size_t i = 0; i < count; i++) {
        const struct pyro_cost_group *group = &groups[i];
        if (group->key.ptr)
            pyro_add_csv(out, group->key);
        pyro_strbuf_printf(out, ",%lld,", (long long)group->applications);
        pyro_add_json_real(out, pyro_cost_core_hours(&group->total));
        pyro_strbuf_add_char(out, ',');
        pyro_add_json_real(out, pyro_cost_gib_hours(&group->total));
        pyro_strbuf_printf(out, ",%lld,%lld,", (long long)group->total.core_ms, (long long)group->total.memory_mib_ms);
        if (group->currency.ptr) {
            pyro_add_json_real(out, (double)group->total.micros / 1e6);
            pyro_strbuf_add_char(out, ',');
            pyro_add_csv(out, group->currency);
        } else {
            pyro_strbuf_add_char(out, ',');
        }
        pyro_strbuf_add_text(out, group->known ? ",1\r\n" : ",0\r\n");
        pyro_output_flush(output, false);
    }
}

enum pyro_status pyro_costs_write(const pyro_costs *costs, enum pyro_format format,
                                  const struct pyro_report_options *options, const struct pyro_writer *writer,
                                  struct pyro_error *error)
{
    struct pyro_report_options own;
    struct pyro_output output;
    struct pyro_arena arena;
    size_t count = 0, cluster_count = 0;
    pyro_error_clear(error);
    if (!costs || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the costs or the writer is missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON && format != PYRO_FORMAT_CSV)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "costs are written as text, json or csv");
    PYRO_TRY(pyro_report_options_read(options, &own, error));
    pyro_arena_init(&arena, costs->arena.allocator);
    struct pyro_cost_group *groups = pyro_costs_group(costs, &arena, &count);
    struct pyro_cluster *clusters = pyro_costs_clusters(costs, &arena, &cluster_count);
    if (!groups || !clusters) {
        pyro_arena_done(&arena);
        return pyro_error_set(error, PYRO_ERROR_MEMORY, "no memory for the costs");
    }
    pyro_output_init(&output, writer, costs->arena.allocator);
    if (format == PYRO_FORMAT_JSON)
        pyro_costs_json(&output, costs, groups, count, clusters, cluster_count);
    else if (format == PYRO_FORMAT_CSV)
        write_csv(&output, groups, count);
    else
        write_text(&output, costs, groups, count, clusters, cluster_count, &own);
    pyro_arena_done(&arena);
    return pyro_output_done(&output, error);
}
