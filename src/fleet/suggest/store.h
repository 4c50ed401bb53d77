/* What a store knows about an application, for models and suggestions: by its query form and reports only. */
#ifndef PYRO_FLEET_SUGGEST_STORE_H
#define PYRO_FLEET_SUGGEST_STORE_H

#include "fleet/suggest/suggest.h"
#include "store/answer.h"
#include "store/store.h"

/* Asks a question in its JSON form for `viewer` (NULL: everything); %s in it stands for `text` as a JSON string, once.
 */
enum pyro_status pyro_suggest_ask(pyro_store *store, const struct pyro_query_viewer *viewer, const char *question,
                                  struct pyro_slice text, struct pyro_arena *arena, struct pyro_query_answer *ret,
                                  struct pyro_error *error);

/* The newest runs of an application, ascending by start. */
enum pyro_status pyro_history_read(pyro_store *store, const struct pyro_query_viewer *viewer,
                                   struct pyro_slice application, struct pyro_arena *arena,
                                   struct pyro_suggest_run **ret, size_t *ret_count, struct pyro_error *error);
/* Why an application has no run that counts, in words; a null slice: it has some. `rows` as read, `counted` of them. A
 * name that the store does not have gets the nearest one. */
enum pyro_status pyro_history_explain(pyro_store *store, const struct pyro_query_viewer *viewer,
                                      struct pyro_slice application, const struct pyro_suggest_run *rows, size_t count,
                                      size_t counted, struct pyro_arena *arena, struct pyro_slice *ret,
                                      struct pyro_error *error);
/* Earlier suggestions, how the newest run died, and the plan of its report: fills `asked`. */
enum pyro_status pyro_suggest_read_past(pyro_store *store, const struct pyro_query_viewer *viewer,
                                        struct pyro_slice application, const struct pyro_suggest_run *rows,
                                        size_t count, struct pyro_arena *arena, struct pyro_suggest_asked *asked,
                                        struct pyro_error *error);
/* How a run that failed died, by its findings: "memory", "driver-memory", "result-limit", "preemption", or null. */
enum pyro_status pyro_suggest_read_death(pyro_store *store, const struct pyro_query_viewer *viewer,
                                         const struct pyro_suggest_run *run, struct pyro_arena *arena,
                                         struct pyro_slice *ret, struct pyro_error *error);
/* The settings of plan.settings in a JSON report. PYRO_ERROR_INPUT: it is not one. */
enum pyro_status pyro_plan_read(struct pyro_slice report, struct pyro_arena *arena, struct pyro_suggest_setting **ret,
                                size_t *ret_count, struct pyro_error *error);

#endif
