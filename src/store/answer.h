/* What cells of answers hold. */
#ifndef PYRO_STORE_ANSWER_H
#define PYRO_STORE_ANSWER_H

#include <math.h>

#include "model/column.h"
#include "store/query.h"

/* NaN: it is not a number. */
static inline double pyro_value_number(const struct pyro_query_value *value)
{
    return value->kind == PYRO_VALUE_INT    ? (double)value->integer
           : value->kind == PYRO_VALUE_REAL ? value->real
                                            : (double)NAN;
}

/* Without the digits behind the point. PYRO_NONE: it is not a number, or has more than 63 bits. */
static inline int64_t pyro_value_int(const struct pyro_query_value *value)
{
    if (value->kind == PYRO_VALUE_REAL && value->real > -9e18 && value->real < 9e18)
        return (int64_t)value->real;
    return value->kind == PYRO_VALUE_INT ? value->integer : PYRO_NONE;
}

/* Null: it is not a text. */
static inline struct pyro_slice pyro_value_text(const struct pyro_query_value *value)
{
    return value->kind == PYRO_VALUE_TEXT ? value->text : PYRO_SLICE_NULL;
}

static inline const struct pyro_query_value *pyro_answer_value(const struct pyro_query_answer *answer, size_t row,
                                                               size_t column)
{
    return &answer->values[row * answer->column_count + column];
}

static inline double pyro_answer_number(const struct pyro_query_answer *answer, size_t row, size_t column)
{
    return pyro_value_number(pyro_answer_value(answer, row, column));
}

static inline int64_t pyro_answer_int(const struct pyro_query_answer *answer, size_t row, size_t column)
{
    return pyro_value_int(pyro_answer_value(answer, row, column));
}

static inline struct pyro_slice pyro_answer_text(const struct pyro_query_answer *answer, size_t row, size_t column)
{
    return pyro_value_text(pyro_answer_value(answer, row, column));
}

#endif
