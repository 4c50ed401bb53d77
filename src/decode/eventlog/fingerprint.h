/* What an operator of a physical plan computes, as numbers that are equal for the same computation in any query. */
#ifndef PYRO_DECODE_EVENTLOG_FINGERPRINT_H
#define PYRO_DECODE_EVENTLOG_FINGERPRINT_H

#include "decode/builder.h"

/* Of the operator alone, from its name and the raw contents of its text: ids of expressions and plans are left out. */
struct pyro_operator_print {
    uint64_t exact;                     /* 0: not known from its text */
    uint64_t columnless;                /* leaves out which columns a scan reads and a projection keeps */
    bool clear_exact, clear_columnless; /* it computes nothing of its own: its child stands for it */
    bool computes;                      /* a projection with computed columns */
    bool distinct;                      /* an aggregate that only groups */
    uint32_t condition_length;          /* of a filter, in UTF-16 units and without ids of expressions */
    bool ends;                          /* what is below was computed elsewhere */
};

struct pyro_operator_print pyro_operator_print(struct pyro_slice name, struct pyro_slice text);

/* Joins the operator's print with those of its children, which follow it in plan->nodes. */
void pyro_plan_print(struct pyro_sql_plan *plan, size_t node, const struct pyro_operator_print *print);

#endif
