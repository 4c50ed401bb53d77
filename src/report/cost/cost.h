/* What documents say about cost, in the same words and numbers. */
#ifndef PYRO_REPORT_COST_COST_H
#define PYRO_REPORT_COST_COST_H

#include "advice/cost/costs.h"
#include "report/diagnosis/sections.h"
#include "report/report.h"
#include "text/json_write.h"

/* "$12.50", "EUR 12.50"; small sums with as many decimals as they need. "-" where it is unknown. */
void pyro_human_money(struct pyro_strbuf *buffer, int64_t micros, struct pyro_slice currency);
/* "12.5", one to three decimals: hours. */
void pyro_human_hours(struct pyro_strbuf *buffer, double hours);

/* The document pyrometer.cost/1. */
void pyro_costs_json(struct pyro_output *output, const struct pyro_costs *costs, const struct pyro_cost_group *groups,
                     size_t count, const struct pyro_cluster *clusters, size_t cluster_count);
/* The cost of one application as a JSON object. */
void pyro_json_cost(struct pyro_json_writer *json, const char *key, const struct pyro_cost *cost);
/* The same as a section of a report: current bill, what it was spent on, what is not known. */
void pyro_cost_section(struct pyro_section *section, const struct pyro_cost *cost);

#endif
