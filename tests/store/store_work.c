/* store_work URL OPERATION...: what one crawler does with the work of a store, one step after the other.
 *
 *     offer KEY STAMP END          how many items are new now
 *     claim OWNER MOST             a line "KEY STAMP END EPOCH TRIES" for each item
 *     renew|release|skip|fail|lasts KEY STAMP EPOCH    fail, lasts: with an error, which lasts; "held" or "lost" for
 * renew retry                        how many items are new now counts                       items by state, low and
 * when everything was listed listed                       notes that everything was listed record KEY STAMP EPOCH LOG
 * diagnoses a log and records it under the lease: kept, late or conflict
 *
 * The source is /logs. Exit status 1: an error, which is printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

#define SOURCE PYRO_SLICE_LITERAL("/logs")
enum { MOST = 100 };

struct crawler {
    const struct pyro_backend *backend;
    void *store;
    struct pyro_error error;
    struct pyro_arena arena;
};

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

static enum pyro_status offer(struct crawler *crawler, char **words)
{
    const struct pyro_work_item item = {.key = pyro_slice_from(words[0]),
                                        .source = SOURCE,
                                        .stamp = pyro_slice_from(words[1]),
                                        .end_ms = number(words[2])};
    size_t count = 0;
    PYRO_TRY(crawler->backend->work->offer(crawler->store, &item, 1, &count, &crawler->error));
    printf("%zu\n", count);
    return PYRO_OK;
}

static enum pyro_status claim(struct crawler *crawler, char **words)
{
    struct pyro_work_item items[MOST];
    size_t count = 0;
    PYRO_TRY(crawler->backend->work->claim(crawler->store, SOURCE, words[0], (size_t)number(words[1]), &crawler->arena,
                                           items, &count, &crawler->error));
    for (size_t i = 0; i < count; i++)
        printf("%s %s %" PRId64 " %" PRId64 " %" PRId64 "\n", items[i].key.ptr, items[i].stamp.ptr, items[i].end_ms,
               items[i].epoch, items[i].tries);
    return PYRO_OK;
}

static enum pyro_status change(struct crawler *crawler, const char *what, char **words)
{
    const struct pyro_work_backend *work = crawler->backend->work;
    const struct pyro_lease lease = {.key = words[0], .owner = "one", .stamp = words[1], .epoch = number(words[2])};
    const struct pyro_store_error_row row = {
        .time_ms = 1, .application = "app-1", .step = "read", .type = "unreadable", .message = "no", .tries = 1};
    bool held = false;
    if (strcmp(what, "skip") == 0)
        return work->skip(crawler->store, &lease, &crawler->error);
    if (strcmp(what, "release") == 0)
        return work->release(crawler->store, &lease, &crawler->error);
    if (strcmp(what, "renew") != 0)
        return work->fail(crawler->store, &lease, strcmp(what, "lasts") == 0, &row, &crawler->error);
    PYRO_TRY(work->renew(crawler->store, &lease, &held, &crawler->error));
    puts(held ? "held" : "lost");
    return PYRO_OK;
}

static enum pyro_status count(struct crawler *crawler)
{
    struct pyro_work_counts counts;
    PYRO_TRY(crawler->backend->work->counts(crawler->store, SOURCE, &counts, &crawler->error));
    for (size_t i = 0; i <= PYRO_WORK_DEAD; i++)
        printf("%" PRId64 " ", counts.items[i]);
    printf("%" PRId64 " %" PRId64 "\n", counts.low_ms == PYRO_NONE ? -1 : counts.low_ms,
           counts.listed_ms == PYRO_NONE ? -1 : counts.listed_ms);
    return PYRO_OK;
}

static enum pyro_status retry(struct crawler *crawler)
{
    size_t again = 0;
    PYRO_TRY(crawler->backend->work->retry(crawler->store, SOURCE, &again, &crawler->error));
    printf("%zu\n", again);
    return PYRO_OK;
}

static enum pyro_status record_diagnosis(struct crawler *crawler, const pyro_diagnosis *diagnosis,
                                         const struct pyro_lease *lease)
{
    static const char *const names[] = {"kept", "late", "conflict"};
    const struct pyro_run_origin origin = {.source = "/logs"};
    struct pyro_run run;
    enum pyro_record_result result = PYRO_RECORD_KEPT;
    enum pyro_status status = pyro_run_make(diagnosis, &origin, &run, &crawler->error);
    run.lease = lease;
    if (status == PYRO_OK)
        status = crawler->backend->record(crawler->store, (const struct pyro_run *const[]){&run}, 1, &result,
                                          &crawler->error);
    pyro_run_done(&run);
    if (status == PYRO_OK)
        puts(names[result]);
    return status;
}

static enum pyro_status record(struct crawler *crawler, char **words)
{
    const struct pyro_lease lease = {.key = words[0], .owner = "one", .stamp = words[1], .epoch = number(words[2])};
    const char *path = words[3];
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    enum pyro_status status = pyro_inputs_open(&path, 1, NULL, NULL, &inputs, &crawler->error);
    if (status == PYRO_OK)
        status = pyro_app_load(inputs, 0, NULL, NULL, &app, &crawler->error);
    if (status == PYRO_OK)
        status = pyro_diagnose(app, NULL, NULL, &diagnosis, &crawler->error);
    if (status == PYRO_OK)
        status = record_diagnosis(crawler, diagnosis, strcmp(lease.key, "-") == 0 ? NULL : &lease);
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
    pyro_inputs_close(inputs);
    return status;
}

static enum pyro_status step(struct crawler *crawler, int count_of_words, char **words)
{
    const char *what = words[0];
    if (strcmp(what, "offer") == 0 && count_of_words == 4)
        return offer(crawler, words + 1);
    if (strcmp(what, "claim") == 0 && count_of_words == 3)
        return claim(crawler, words + 1);
    if (strcmp(what, "record") == 0 && count_of_words == 5)
        return record(crawler, words + 1);
    if (strcmp(what, "retry") == 0)
        return retry(crawler);
    if (strcmp(what, "counts") == 0)
        return count(crawler);
    if (strcmp(what, "listed") == 0)
        return crawler->backend->work->listed(crawler->store, SOURCE, &crawler->error);
    if (count_of_words == 4)
        return change(crawler, what, words + 1);
    return pyro_error_set(&crawler->error, PYRO_ERROR_ARGUMENT, "no such operation");
}

int main(int argc, char **argv)
{
    struct crawler crawler = {.error = {.size = sizeof(crawler.error)}};
    if (argc < 3) {
        fprintf(stderr, "usage: store_work URL OPERATION...\n");
        return 2;
    }
    crawler.backend = pyro_store_has_file(argv[1]) ? &pyro_backend_sqlite : &pyro_backend_opensearch;
    pyro_arena_init(&crawler.arena, NULL);
    enum pyro_status status =
        crawler.backend->open(pyro_store_place(argv[1]), true, NULL, &crawler.store, &crawler.error);
    if (status == PYRO_OK) {
        status = step(&crawler, argc - 2, argv + 2);
        crawler.backend->close(crawler.store);
    }
    pyro_arena_done(&crawler.arena);
    if (status != PYRO_OK)
        printf("error %d %s\n", (int)status, crawler.error.message);
    return status != PYRO_OK;
}
