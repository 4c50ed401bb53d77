/* The work of crawlers in SQLite: leases between two connections, failures and what is due again. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/database.h"
#include "store/store.h"

static char folder[] = "/tmp/pyrometer-work-XXXXXX";
static char place[128];
/* Two crawlers. */
static void *first, *second;
static const struct pyro_work_backend *work;

#define SOURCE PYRO_SLICE_LITERAL("/logs")

static int open_both(void **state)
{
    (void)state;
    work = pyro_backend_sqlite.work;
    if (!mkdtemp(folder))
        return -1;
    snprintf(place, sizeof(place), "%s/runs.db", folder);
    return pyro_backend_sqlite.open(place, true, NULL, &first, NULL) ||
           pyro_backend_sqlite.open(place, true, NULL, &second, NULL);
}

static int close_both(void **state)
{
    (void)state;
    pyro_backend_sqlite.close(first);
    pyro_backend_sqlite.close(second);
    unlink(place);
    return rmdir(folder);
}

/* What no crawler does: to let time pass. */
static void change(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int64_t number(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
    int64_t value = pyro_database_number(db, text);
    sqlite3_close(db);
    return value;
}

static int empty(void **state)
{
    (void)state;
    change("DELETE FROM work; DELETE FROM work_source; DELETE FROM error");
    return 0;
}

static size_t offer(void *store, const char *key, const char *stamp, int64_t end_ms)
{
    const struct pyro_work_item item = {
        .key = pyro_slice_from(key), .source = SOURCE, .stamp = pyro_slice_from(stamp), .end_ms = end_ms};
    size_t taken = 99;
    assert_int_equal(work->offer(store, &item, 1, &taken, NULL), PYRO_OK);
    return taken;
}

struct claimed {
    struct pyro_arena arena;
    struct pyro_work_item items[8];
    size_t count;
};

static struct claimed claim(void *store, const char *owner, size_t most)
{
    struct claimed ret = {.count = 99};
    pyro_arena_init(&ret.arena, NULL);
    assert_int_equal(work->claim(store, SOURCE, owner, most, &ret.arena, ret.items, &ret.count, NULL), PYRO_OK);
    return ret;
}

static struct pyro_lease lease_of(const struct pyro_work_item *item)
{
    return (struct pyro_lease){
        .key = item->key.ptr, .owner = item->owner.ptr, .stamp = item->stamp.ptr, .epoch = item->epoch};
}

static const struct pyro_store_error_row row = {
    .time_ms = 1, .application = "app-1", .step = "read", .type = "unreadable", .message = "no", .tries = 1};

static struct pyro_work_counts count_all(void)
{
    struct pyro_work_counts ret;
    assert_int_equal(work->counts(first, SOURCE, &ret, NULL), PYRO_OK);
    return ret;
}

static void test_items_are_claimed_once(void **state)
{
    (void)state;
    assert_int_equal(offer(first, "b", "1", 20), 1);
    assert_int_equal(offer(second, "a", "1", 10), 1);
    assert_int_equal(offer(second, "b", "1", 20), 0);
    assert_int_equal(offer(second, "c", "1", 30), 1);
    struct claimed mine = claim(first, "one", 2), theirs = claim(second, "two", 8), none = claim(first, "one", 8);
    assert_int_equal(mine.count, 2);
    assert_int_equal(mine.items[0].end_ms + mine.items[1].end_ms, 30); /* the earliest */
    assert_string_equal(mine.items[0].owner.ptr, "one");
    assert_int_equal(mine.items[0].epoch, 1);
    assert_int_equal(theirs.count, 1);
    assert_string_equal(theirs.items[0].key.ptr, "c");
    assert_int_equal(none.count, 0);
    pyro_arena_done(&mine.arena);
    pyro_arena_done(&theirs.arena);
    pyro_arena_done(&none.arena);
}

static void test_a_lease_that_ended_goes_to_another(void **state)
{
    (void)state;
    offer(first, "a", "1", 10);
    struct claimed mine = claim(first, "one", 1);
    struct pyro_lease lease = lease_of(&mine.items[0]);
    bool held = false;
    change("UPDATE work SET until_ms = 0");
    /* Its holder may renew it as long as no other has taken it. */
    assert_int_equal(work->renew(first, &lease, &held, NULL), PYRO_OK);
    assert_true(held);
    struct claimed none = claim(second, "two", 1);
    assert_int_equal(none.count, 0);
    change("UPDATE work SET until_ms = 0");
    struct claimed theirs = claim(second, "two", 1);
    assert_int_equal(theirs.count, 1);
    assert_int_equal(theirs.items[0].epoch, 2);
    /* The first one is late: nothing that it does counts. */
    assert_int_equal(work->renew(first, &lease, &held, NULL), PYRO_OK);
    assert_false(held);
    assert_int_equal(work->release(first, &lease, NULL), PYRO_OK);
    assert_int_equal((work->skip)(first, &lease, NULL), PYRO_OK);
    assert_int_equal((work->fail)(first, &lease, true, &row, NULL), PYRO_OK);
    assert_int_equal(number("SELECT count(*) FROM work WHERE state = 1 AND owner = 'two' AND epoch = 2"), 1);
    assert_int_equal(number("SELECT count(*) FROM error"), 0);
    struct pyro_lease other = lease_of(&theirs.items[0]);
    assert_int_equal(work->release(second, &other, NULL), PYRO_OK);
    assert_int_equal(count_all().items[PYRO_WORK_NEW], 1);
    pyro_arena_done(&mine.arena);
    pyro_arena_done(&none.arena);
    pyro_arena_done(&theirs.arena);
}

static void test_failures_are_due_later_and_then_dead(void **state)
{
    (void)state;
    offer(first, "a", "1", 10);
    for (int tried = 1; tried <= PYRO_WORK_TRIES; tried++) {
        struct claimed got = claim(first, "one", 1);
        assert_int_equal(got.count, 1);
        assert_int_equal(got.items[0].tries, tried - 1);
        struct pyro_lease lease = lease_of(&got.items[0]);
        int64_t before = work->now_ms(first);
        assert_int_equal((work->fail)(first, &lease, false, &row, NULL), PYRO_OK);
        int64_t pause = (int64_t)PYRO_WORK_FIRST_PAUSE_MS << (2 * (tried - 1));
        if (tried < PYRO_WORK_TRIES) {
            int64_t due = number("SELECT next_ms FROM work");
            assert_true(due >= before + pause && due <= work->now_ms(first) + pause);
        }
        pyro_arena_done(&got.arena);
        got = claim(second, "two", 1);
        assert_int_equal(got.count, 0); /* not yet */
        pyro_arena_done(&got.arena);
        change("UPDATE work SET next_ms = 0");
    }
    assert_int_equal(count_all().items[PYRO_WORK_DEAD], 1);
    assert_int_equal(number("SELECT count(*) FROM error"), PYRO_WORK_TRIES);
    /* A log that has changed is new; so is everything if that is asked for. */
    assert_int_equal(offer(first, "a", "1", 10), 0);
    assert_int_equal(offer(first, "a", "2", 10), 1);
    struct claimed got = claim(first, "one", 1);
    struct pyro_lease lease = lease_of(&got.items[0]);
    assert_int_equal(got.items[0].tries, 0);
    assert_string_equal(lease.stamp, "2");
    assert_int_equal((work->fail)(first, &lease, true, &row, NULL), PYRO_OK); /* permanently */
    assert_int_equal(count_all().items[PYRO_WORK_DEAD], 1);
    size_t again = 0;
    assert_int_equal(work->retry(first, SOURCE, &again, NULL), PYRO_OK);
    assert_int_equal(again, 1);
    assert_int_equal(count_all().items[PYRO_WORK_NEW], 1);
    pyro_arena_done(&got.arena);
}

static void test_leases_that_are_not_known_are_taken_back(void **state)
{
    (void)state;
    offer(first, "a", "1", 10);
    offer(first, "b", "1", 20);
    offer(first, "c", "1", 30);
    struct claimed lost = claim(first, "one", 2), other = claim(second, "two", 1);
    size_t count = 0;
    assert_int_equal(work->take_back(first, "one", &count, NULL), PYRO_OK);
    assert_int_equal(count, 2);
    assert_int_equal(count_all().items[PYRO_WORK_NEW], 2);
    assert_int_equal(count_all().items[PYRO_WORK_LEASED], 1);
    assert_int_equal(work->take_back(first, "one", &count, NULL), PYRO_OK);
    assert_int_equal(count, 0);
    struct claimed again = claim(first, "one", 2);
    assert_int_equal(again.count, 2);
    assert_int_equal(again.items[0].epoch, 2);
    pyro_arena_done(&lost.arena);
    pyro_arena_done(&other.arena);
    pyro_arena_done(&again.arena);
}

static void test_what_is_done_is_known_by_its_stamp(void **state)
{
    (void)state;
    assert_int_equal(count_all().low_ms, PYRO_NONE);
    assert_int_equal(count_all().listed_ms, PYRO_NONE);
    offer(first, "a", "1", 10);
    offer(first, "b", "1", 20);
    struct claimed got = claim(first, "one", 1);
    struct pyro_lease lease = lease_of(&got.items[0]);
    assert_int_equal(count_all().low_ms, 9);
    assert_int_equal((work->skip)(first, &lease, NULL), PYRO_OK);
    assert_int_equal(count_all().low_ms, 19);
    assert_int_equal(offer(second, "a", "1", 10), 0);
    assert_int_equal(offer(second, "a", "2", 40), 1);
    change("UPDATE work SET state = 2");
    assert_int_equal(count_all().low_ms, 40);
    assert_int_equal(work->listed(first, SOURCE, NULL), PYRO_OK);
    assert_true(count_all().listed_ms > 0);
    assert_int_equal(count_all().items[PYRO_WORK_DONE], 2);
    pyro_arena_done(&got.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_items_are_claimed_once, empty),
        cmocka_unit_test_setup(test_a_lease_that_ended_goes_to_another, empty),
        cmocka_unit_test_setup(test_failures_are_due_later_and_then_dead, empty),
        cmocka_unit_test_setup(test_leases_that_are_not_known_are_taken_back, empty),
        cmocka_unit_test_setup(test_what_is_done_is_known_by_its_stamp, empty),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
