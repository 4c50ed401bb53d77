/* A sealed history as bytes, and back. What is read may be anything: every count, row and number of a text is checked.
 */
#ifndef PYRO_MODEL_HISTORY_PACK_H
#define PYRO_MODEL_HISTORY_PACK_H

#include "base/strings/strbuf.h"
#include "model/history/history.h"

/* Raised whenever what is packed changes. */
enum { PYRO_HISTORY_PACK_VERSION = 2 };

/* Calls `visit` with every text of a history that is being built, which it may change. Texts that are numbers of the
 * pool, and those of accumulables of single tasks, are not among them. */
typedef void pyro_history_visit(void *context, struct pyro_slice *text);
void pyro_history_each_text(struct pyro_history *history, pyro_history_visit *visit, void *context);

/* False: no memory. */
bool pyro_history_pack(const struct pyro_history *history, struct pyro_strbuf *to);
/* One reference, sealed; NULL: no memory, or these bytes were not made by pyro_history_pack(). */
struct pyro_history *pyro_history_unpack(struct pyro_slice from);

/* ---- Its tasks (task_pack.c) ---- */

bool pyro_task_table_pack(const struct pyro_task_table *table, struct pyro_strbuf *to);
/* Into an empty table; texts must have numbers below `texts`. */
bool pyro_task_table_unpack(struct pyro_task_table *table, struct pyro_slice *from, uint32_t texts);

#endif
