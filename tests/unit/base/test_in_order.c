/* Pieces done side by side are taken in their order, and no more of them are under way than allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/threads/in_order.h"
#include "base/threads/thread.h"

enum { PIECES = 200, MOST = 5, NEVER = PIECES };

struct pieces {
    atomic_size_t begun, under_way, most_under_way;
    atomic_bool done[PIECES], wrong;
    size_t taken, fails_at;
    pthread_t caller;
    bool alone;
};

static void work(void *context, size_t index, const struct pyro_stop *stop)
{
    struct pieces *pieces = context;
    size_t now = atomic_fetch_add(&pieces->under_way, 1) + 1, most = atomic_load(&pieces->most_under_way);
    while (now > most && !atomic_compare_exchange_weak(&pieces->most_under_way, &most, now))
        continue;
    atomic_fetch_add(&pieces->begun, 1);
    bool on_caller = pthread_equal(pthread_self(), pieces->caller) != 0;
    if (pieces->alone != (stop == NULL) || pieces->alone != on_caller)
        atomic_store(&pieces->wrong, true);
    atomic_store(&pieces->done[index], true);
}

static enum pyro_status take(void *context, size_t index, struct pyro_error *error)
{
    struct pieces *pieces = context;
    assert_true(pthread_equal(pthread_self(), pieces->caller));
    assert_int_equal(index, pieces->taken++);
    assert_true(atomic_load(&pieces->done[index]));
    atomic_fetch_sub(&pieces->under_way, 1);
    return index == pieces->fails_at ? pyro_error_set(error, PYRO_ERROR_OUTPUT, "full") : PYRO_OK;
}

static void run(struct pieces *pieces, unsigned threads, size_t count, size_t fails_at)
{
    struct pyro_error error = {.size = sizeof(error)};
    *pieces = (struct pieces){.fails_at = fails_at, .caller = pthread_self(), .alone = threads == 1 || count < 2};
    const struct pyro_in_order order = {
        .count = count, .threads = threads, .most = MOST, .context = pieces, .work = work, .take = take};
    enum pyro_status expected = fails_at < count ? PYRO_ERROR_OUTPUT : PYRO_OK;
    assert_int_equal(pyro_in_order_run(&order, &error), expected);
    assert_false(atomic_load(&pieces->wrong));
    assert_int_equal(pieces->taken, fails_at < count ? fails_at + 1 : count);
}

static void taken_in_order(void **state)
{
    static struct pieces pieces;
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        run(&pieces, threads, PIECES, NEVER);
        assert_int_equal(atomic_load(&pieces.begun), PIECES);
        assert_in_range(atomic_load(&pieces.most_under_way), 1, MOST);
    }
    run(&pieces, 4, 1, NEVER);
    run(&pieces, 4, 0, NEVER);
}

static void stops_at_a_failure(void **state)
{
    static struct pieces pieces;
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        run(&pieces, threads, PIECES, 50);
        assert_in_range(atomic_load(&pieces.begun), 51, 51 + MOST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_in_order),
        cmocka_unit_test(stops_at_a_failure),
    };
    return cmocka_run_group_tests_name("in_order", tests, NULL, NULL);
}
