/* SQLite's functions that have their own code here, for one another only. */
#ifndef PYRO_QUERY_CALLS_H
#define PYRO_QUERY_CALLS_H

#include "query/sql_query.h"

typedef void pyro_sql_call(sqlite3_context *context, int count, sqlite3_value **values);
pyro_sql_call pyro_sql_like, pyro_sql_glob, pyro_sql_printf;

bool pyro_sql_any_null(int count, sqlite3_value **values);
/* Bytes of an argument; the pointer is not NULL. */
struct pyro_slice pyro_sql_bytes_of(sqlite3_value *value, bool blob);
/* The character at `at` < `end`, whose length goes to *ret_len, at most PYRO_SQL_LAST_CHARACTER. Bytes that are no
 * UTF-8 stand for some character. */
enum { PYRO_SQL_LAST_CHARACTER = 0x1FFFFF };
uint32_t pyro_sql_character(const char *at, const char *end, size_t *ret_len);

#endif
