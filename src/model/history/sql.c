#include "model/history/sql.h"

void pyro_history_sql_init(struct pyro_history_sql *sql, int64_t id)
{
    *sql = (struct pyro_history_sql){.id = id, .submitted_ms = -1};
    pyro_map_init(&sql->values, NULL);
}

void pyro_history_sql_done(struct pyro_history_sql *sql)
{
    pyro_vec_done(&sql->jobs, NULL);
    pyro_vec_done(&sql->stages, NULL);
    pyro_vec_done(&sql->nodes, NULL);
    pyro_vec_done(&sql->metrics, NULL);
    pyro_vec_done(&sql->edges, NULL);
    pyro_map_done(&sql->values);
}

/* Its hash tries spread a number's bits so, and branch on five of them at a time, the lowest first. */
static uint32_t spread(int64_t number)
{
    uint32_t hash = (uint32_t)number;
    hash += ~(hash << 9);
    hash ^= hash >> 14;
    hash += hash << 4;
    return hash ^ hash >> 10;
}

int pyro_scala_order(int64_t a, int64_t b)
{
    uint32_t x = spread(a), y = spread(b);
    for (unsigned shift = 0; shift < 32; shift += 5) {
        uint32_t left = x >> shift & 31, right = y >> shift & 31;
        if (left != right)
            return left < right ? -1 : 1;
    }
    return 0;
}
