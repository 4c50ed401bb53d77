/* How much memory SQLite may take. It has one limit for the process, so that only a program can set it, not a library.
 */
#include "loading.h"

#include <sqlite3.h>

void cli_limit_sqlite(uint64_t memory)
{
    static const uint64_t least = UINT64_C(32) << 20, most = UINT64_C(256) << 20;
    uint64_t share = memory / 4;
    sqlite3_hard_heap_limit64((sqlite3_int64)(share < least ? least : share > most ? most : share));
}
