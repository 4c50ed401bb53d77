/* Waits that messages of real libraries name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/logs/wait.h"
#include "model/column.h"

#define MS 1000000LL

static const struct {
    const char *message;
    int64_t wait_ns;
} samples[] = {
    {"Retrying fetch (1/3) for 12 outstanding blocks after 5000 ms", 5000 * MS},
    {"Retrying __main__.ask in 2.0 seconds as it raised HTTPError: HTTP Error 429: Too Many Requests.", 2000 * MS},
    {"Retrying connect to server: rm/10.0.0.1:8032. Already tried 0 time(s); retry policy is "
     "RetryUpToMaximumCountWithFixedSleep(maxRetries=10, sleepTime=1000 MILLISECONDS)",
     1000 * MS},
    {"Request was throttled, backing off for 1.5s", 1500 * MS},
    {"Sleeping for 250ms before the next attempt", 250 * MS},
    {"Will retry after 2 minutes", 120000 * MS},
    {"retry in 400 hours", PYRO_NONE},
    {"retry in 4000 min", 3600000 * MS},
    {"Failed after 3 retries in 5 s", PYRO_NONE},
    {"Finished task 3.0 in stage 1.0 (TID 7) in 120 ms on 10.0.0.1 (executor 1) (4/8)", PYRO_NONE},
    {"Retrying", PYRO_NONE},
    {"Turned off the cache after 5 s", PYRO_NONE},
    {"", PYRO_NONE},
};

static void test_messages(void **unused)
{
    struct pyro_log_waits *waits = pyro_log_waits_new(NULL);
    (void)unused;
    assert_non_null(waits);
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        int64_t found = pyro_log_wait_ns(waits, pyro_slice_from(samples[i].message));
        if (found != samples[i].wait_ns)
            fail_msg("%s: %lld", samples[i].message, (long long)found);
    }
    pyro_log_waits_free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
