/* Costs as JSON: the object of one application, and the document pyrometer.cost/1. */
#include <math.h>

#include "report/cost/cost.h"

static void write_amount(struct pyro_json_writer *json, const struct pyro_cost_amount *amount)
{
    pyro_json_int(json, "core_ms", amount->core_ms);
    pyro_json_int(json, "memory_mib_ms", amount->memory_mib_ms);
    pyro_json_int(json, "cost_micros", amount->micros);
}

static void write_recognised(struct pyro_json_writer *json, const char *key, const struct pyro_recognised *what)
{
    pyro_json_line(json);
    if (!what->text.ptr) {
        pyro_json_null(json, key);
        return;
    }
    pyro_json_begin(json, key, '{');
    pyro_json_text(json, "name", what->text);
    pyro_json_real(json, "confidence", what->confidence);
    pyro_json_text(json, "reason", what->reason);
    pyro_json_end(json, '}');
}

static void write_place(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    const struct pyro_cost_place *place = &cost->place;
    struct pyro_recognised platform = {pyro_slice_from(pyro_platform_name(place->platform)), place->confidence,
                                       place->reason};
    pyro_json_line(json);
    pyro_json_begin(json, "place", '{');
    write_recognised(json, "platform", &platform);
    write_recognised(json, "cloud", &place->cloud);
    write_recognised(json, "region", &place->region);
    write_recognised(json, "instance", &place->instance);
    write_recognised(json, "driver_instance", &place->driver_instance);
    write_recognised(json, "workload", &place->workload);
    write_recognised(json, "cluster", &place->cluster);
    pyro_json_line(json);
    pyro_json_string(json, "resource_manager", pyro_manager_name(cost->manager));
    pyro_json_string(json, "deploy_mode", cost->client_mode ? "client" : "cluster");
    pyro_json_end(json, '}');
}

static void write_container(struct pyro_json_writer *json, const struct pyro_container *given)
{
    pyro_json_int(json, "cores", given->cores);
    pyro_json_int(json, "cpu_request_milli", given->cpu_milli);
    pyro_json_int(json, "heap_mib", given->heap_mib);
    pyro_json_int(json, "overhead_mib", given->overhead_mib);
    pyro_json_int(json, "offheap_mib", given->offheap_mib);
    pyro_json_int(json, "pyspark_mib", given->pyspark_mib);
    pyro_json_int(json, "container_mib", given->container_mib);
}

static void write_driver(struct pyro_json_writer *json, const char *key, const struct pyro_container *given, bool there)
{
    pyro_json_line(json);
    if (!there) {
        pyro_json_null(json, key);
        return;
    }
    pyro_json_begin(json, key, '{');
    write_container(json, given);
    pyro_json_end(json, '}');
}

static void write_allocation(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    pyro_json_line(json);
    pyro_json_begin(json, "allocation", '{');
    pyro_json_line(json);
    pyro_json_begin(json, "executors", '[');
    for (size_t i = 0; i < cost->shape_count; i++) {
        const struct pyro_cost_shape *shape = &cost->shapes[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "resource_profile", shape->resource_profile);
        pyro_json_int(json, "executors", shape->executors);
        pyro_json_int(json, "lifetime_ms", shape->lifetime_ms);
        write_container(json, &shape->container);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    write_driver(json, "driver", &cost->driver, cost->has_driver);
    write_driver(json, "application_master", &cost->master, cost->has_master);
    pyro_json_line(json);
    pyro_json_begin(json, "nodes", '[');
    for (size_t i = 0; i < cost->node_count; i++) {
        const struct pyro_cost_node *node = &cost->nodes[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "host", node->host);
        pyro_json_int(json, "from_ms", node->from_ms);
        pyro_json_int(json, "to_ms", node->to_ms);
        pyro_json_int(json, "executors", node->executors);
        pyro_json_int(json, "cores_peak", node->core_peak);
        pyro_json_bool(json, "driver_only", node->driver);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    pyro_json_end(json, '}');
}

static void write_units(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    const struct pyro_cost_amount *total = &cost->total;
    pyro_json_line(json);
    pyro_json_begin(json, "units", '{');
    pyro_json_real(json, "core_hours", pyro_cost_core_hours(total));
    pyro_json_real(json, "gib_hours", pyro_cost_gib_hours(total));
    pyro_json_int(json, "mb_seconds", pyro_cost_mb_seconds(total));
    pyro_json_int(json, "vcore_seconds", pyro_cost_vcore_seconds(total));
    pyro_json_real(json, "dcu", pyro_cost_dcu(total));
    pyro_json_real(json, "dbu", cost->money.dbu);
    pyro_json_end(json, '}');
}

static void write_texts(struct pyro_json_writer *json, const char *key, const struct pyro_slice *texts, size_t count)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < count; i++)
        pyro_json_text(json, NULL, texts[i]);
    pyro_json_end(json, ']');
}

static void write_money(struct pyro_json_writer *json, const struct pyro_money *money)
{
    pyro_json_line(json);
    pyro_json_begin(json, "money", '{');
    pyro_json_bool(json, "known", money->known);
    pyro_json_text(json, "currency", money->currency);
    pyro_json_real(json, "total", money->known ? (double)money->micros / 1e6 : (double)NAN);
    pyro_json_int(json, "total_micros", money->micros);
    pyro_json_text(json, "instance", money->instance);
    pyro_json_line(json);
    pyro_json_begin(json, "lines", '[');
    for (size_t i = 0; i < money->line_count; i++) {
        const struct pyro_cost_line *line = &money->lines[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "text", line->text);
        pyro_json_real(json, "quantity", line->quantity);
        pyro_json_text(json, "unit", line->unit);
        pyro_json_real(json, "price", line->price);
        pyro_json_int(json, "micros", line->micros);
        pyro_json_text(json, "source", line->source);
        pyro_json_text(json, "dated", line->dated);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    write_texts(json, "missing", money->missing, money->missing_count);
    write_texts(json, "notes", money->notes, money->note_count);
    pyro_json_end(json, '}');
}

static void write_stages(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    pyro_json_line(json);
    pyro_json_begin(json, "stages", '[');
    for (size_t i = 0; i < cost->stages.count; i++) {
        const struct pyro_cost_row *row = &cost->stages.items[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "id", row->id);
        pyro_json_int(json, "attempt", row->attempt);
        pyro_json_text(json, "name", row->name);
        pyro_json_int(json, "job", cost->stage_jobs[i]);
        pyro_json_int(json, "sql", cost->stage_sql[i]);
        write_amount(json, &row->total);
        pyro_json_begin(json, "parts", '{');
        for (unsigned k = 0; k < PYRO_COST_TASK_PARTS; k++)
            pyro_json_int(json, pyro_cost_part_names[k], cost->stage_parts[i * PYRO_COST_TASK_PARTS + k].core_ms);
        pyro_json_end(json, '}');
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_range(struct pyro_json_writer *json, const char *key, int64_t low, int64_t expected, int64_t high)
{
    pyro_json_begin(json, key, '{');
    pyro_json_int(json, "low", low);
    pyro_json_int(json, "expected", expected);
    pyro_json_int(json, "high", high);
    pyro_json_end(json, '}');
}

static void write_spot(struct pyro_json_writer *json, const struct pyro_cost_spot *spot)
{
    pyro_json_begin(json, "spot", '{');
    pyro_json_real(json, "interruptions_per_hour", spot->rate);
    pyro_json_int(json, "simulated_runs", spot->replays);
    write_range(json, "wall_ms", spot->wall_low_ms, spot->wall_ms, spot->wall_high_ms);
    write_range(json, "cost_micros", spot->low_micros, spot->micros, spot->high_micros);
    pyro_json_int(json, "limit_ms", spot->limit_ms);
    pyro_json_real(json, "late_share", spot->late_share);
    pyro_json_real(json, "task_limit_share", spot->task_limit_share);
    pyro_json_real(json, "stage_limit_share", spot->stage_limit_share);
    pyro_json_real(json, "interruptions", spot->interruptions);
    pyro_json_real(json, "tasks_lost", spot->tasks);
    pyro_json_real(json, "partitions_again", spot->partitions);
    pyro_json_bool(json, "keeps_output", spot->keeps_output);
    pyro_json_int(json, "notice_ms", spot->notice_ms);
    pyro_json_int(json, "replaced_ms", spot->replaced_ms);
    pyro_json_bool(json, "recommended", spot->safe);
    pyro_json_end(json, '}');
}

static void write_advice(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    pyro_json_line(json);
    pyro_json_begin(json, "recommendations", '[');
    for (size_t i = 0; i < cost->advice_count; i++) {
        const struct pyro_cost_advice *advice = &cost->advice[i];
        bool advised = advice->text.ptr && advice->micros != PYRO_NONE;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "kind", advice->kind);
        pyro_json_text(json, "text", advice->text);
        pyro_json_text(json, "safety", advice->safety);
        pyro_json_int(json, "executors", advice->executors);
        pyro_json_int(json, "wall_ms", advice->wall_ms);
        pyro_json_int(json, "cost_micros", advice->micros);
        pyro_json_int(json, "saves_micros", advised ? advice->saves_micros : PYRO_NONE);
        pyro_json_real(json, "saves_share", advice->saves_share);
        if (advice->spot)
            write_spot(json, advice->spot);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_rows(struct pyro_json_writer *json, const char *key, const struct pyro_cost_rows *rows, bool named)
{
    pyro_json_line(json);
    pyro_json_begin(json, key, '[');
    for (size_t i = 0; i < rows->count; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        if (named)
            pyro_json_text(json, "name", rows->items[i].name);
        else
            pyro_json_int(json, "id", rows->items[i].id);
        write_amount(json, &rows->items[i].total);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_json_cost(struct pyro_json_writer *json, const char *key, const struct pyro_cost *cost)
{
    pyro_json_begin(json, key, '{');
    write_amount(json, &cost->total);
    pyro_json_line(json);
    pyro_json_begin(json, "parts", '[');
    for (unsigned i = 0; i < PYRO_COST_PARTS; i++) {
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "name", pyro_cost_part_names[i]);
        write_amount(json, &cost->parts[i]);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
    write_units(json, cost);
    write_money(json, &cost->money);
    write_place(json, cost);
    write_allocation(json, cost);
    write_rows(json, "jobs", &cost->jobs, false);
    write_rows(json, "sql", &cost->sql, false);
    write_rows(json, "pools", &cost->pools, true);
    write_rows(json, "groups", &cost->groups, true);
    write_stages(json, cost);
    write_advice(json, cost);
    pyro_json_end(json, '}');
}

static void write_application(struct pyro_json_writer *json, const struct pyro_cost *cost)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_line(json);
    pyro_json_begin(json, "application", '{');
    pyro_json_text(json, "id", cost->id);
    pyro_json_text(json, "name", cost->name);
    pyro_json_text(json, "attempt", cost->attempt);
    pyro_json_text(json, "user", cost->user);
    pyro_json_text(json, "queue", cost->queue);
    pyro_json_int(json, "start_ms", cost->start_ms);
    pyro_json_int(json, "end_ms", cost->end_ms);
    pyro_json_text(json, "path", cost->path);
    pyro_json_end(json, '}');
    pyro_json_line(json);
    pyro_json_cost(json, "cost", cost);
    pyro_json_end(json, '}');
}

static void write_cluster(struct pyro_json_writer *json, const struct pyro_cluster *cluster)
{
    pyro_json_line(json);
    pyro_json_begin(json, NULL, '{');
    pyro_json_text(json, "name", cluster->name);
    pyro_json_real(json, "confidence", cluster->confidence);
    pyro_json_text(json, "reason", cluster->reason);
    pyro_json_int(json, "applications", cluster->applications);
    pyro_json_int(json, "nodes", cluster->nodes);
    pyro_json_int(json, "from_ms", cluster->from_ms);
    pyro_json_int(json, "to_ms", cluster->to_ms);
    pyro_json_int(json, "node_ms", cluster->node_ms);
    pyro_json_int(json, "idle_ms", cluster->idle_ms);
    pyro_json_int(json, "claimed_ms", cluster->claimed_ms);
    pyro_json_text(json, "currency", cluster->known ? cluster->currency : PYRO_SLICE_NULL);
    pyro_json_int(json, "cost_micros", cluster->known ? cluster->micros : PYRO_NONE);
    pyro_json_int(json, "idle_micros", cluster->known ? cluster->idle_micros : PYRO_NONE);
    pyro_json_int(json, "applications_micros", cluster->known ? cluster->applications_micros : PYRO_NONE);
    pyro_json_end(json, '}');
}

void pyro_costs_json(struct pyro_output *output, const struct pyro_costs *costs, const struct pyro_cost_group *groups,
                     size_t count, const struct pyro_cluster *clusters, size_t cluster_count)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_json_begin(&json, NULL, '{');
    pyro_json_line(&json);
    pyro_json_string(&json, "schema", "pyrometer.cost/1");
    pyro_json_line(&json);
    pyro_json_text(&json, "by", costs->by_text);
    pyro_json_line(&json);
    pyro_json_begin(&json, "groups", '[');
    for (size_t i = 0; i < count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "key", groups[i].key);
        pyro_json_int(&json, "applications", groups[i].applications);
        write_amount(&json, &groups[i].total);
        pyro_json_text(&json, "currency", groups[i].currency);
        pyro_json_bool(&json, "known", groups[i].known);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "clusters", '[');
    for (size_t i = 0; i < cluster_count; i++)
        write_cluster(&json, &clusters[i]);
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "applications", '[');
    for (size_t i = 0; i < costs->entries.count; i++)
        write_application(&json, costs->entries.items[i].cost);
    pyro_json_end(&json, ']');
    pyro_json_line(&json);
    pyro_json_begin(&json, "unreadable", '[');
    for (size_t i = 0; i < costs->unreadable.count; i++) {
        pyro_json_line(&json);
        pyro_json_begin(&json, NULL, '{');
        pyro_json_text(&json, "path", costs->unreadable.items[i].path);
        pyro_json_text(&json, "error", costs->unreadable.items[i].reason);
        pyro_json_end(&json, '}');
    }
    pyro_json_end(&json, ']');
    pyro_json_end(&json, '}');
    pyro_strbuf_add_char(&output->buffer, '\n');
}
