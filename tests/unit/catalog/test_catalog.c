/* The catalog: what an update finds, what changes from update to update, what is kept between starts, what is open. */
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "log_kit.h"

enum { DAY_MS = 86400000 }; /* no update but those that a test asks for */

static const char *log_text(const char *id, const char *attempt, int64_t end_ms)
{
    static char text[8192];
    char attempt_text[64] = "", end[128] = "";
    if (attempt)
        snprintf(attempt_text, sizeof(attempt_text), ",\"App Attempt ID\":\"%s\"", attempt);
    if (end_ms)
        snprintf(end, sizeof(end), "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":%lld}\n",
                 (long long)end_ms);
    snprintf(text, sizeof(text),
             "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}\n"
             "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"name of %s\",\"App ID\":\"%s\","
             "\"Timestamp\":1000,\"User\":\"u\"%s}\n%s",
             id, id, attempt_text, end);
    return text;
}

static void write_log(const struct kit_folder *folder, const char *name, const char *id, int64_t end_ms)
{
    kit_write_text(folder, name, log_text(id, NULL, end_ms));
}

static const char job[] = "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":1200,\"Stage "
                          "Infos\":[],\"Stage IDs\":[]}\n";

static void append_job(const struct kit_folder *folder, const char *name, int id)
{
    FILE *file = fopen(kit_path(folder, name), "ab");
    assert_non_null(file);
    assert_true(fprintf(file, job, id) > 0);
    assert_int_equal(fclose(file), 0);
}

static struct pyro_catalog *open_with(const struct kit_folder *folder, const char *cache, uint64_t memory_bytes)
{
    char place[128];
    const char *folders[] = {place};
    snprintf(place, sizeof(place), "%s/logs", folder->path);
    const struct pyro_catalog_options options = {
        .folders = folders, .folder_count = 1, .cache = cache, .memory_bytes = memory_bytes, .update_ms = DAY_MS};
    struct pyro_catalog *catalog = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_catalog_open(&options, &catalog, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    return catalog;
}

static struct pyro_catalog *open_catalog(const struct kit_folder *folder)
{
    return open_with(folder, NULL, 1 << 30);
}

/* "app:attempt,attempt app" in the order of the list, then " ! NAME" for what is unreadable. */
static void expect_list(struct pyro_catalog *catalog, const char *expected)
{
    char text[4096] = "";
    size_t len = 0, count;
    const struct pyro_catalog_list *list = pyro_catalog_list(catalog);
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i ? " " : "", (int)apps[i].id.len,
                                apps[i].id.ptr);
        for (size_t j = 0; j < apps[i].attempt_count && apps[i].attempts[j].attempt_id.ptr; j++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", j ? "," : ":",
                                    apps[i].attempts[j].attempt_id.ptr);
        assert_ptr_equal(pyro_catalog_list_find(list, apps[i].id), &apps[i]);
    }
    const struct pyro_catalog_unreadable *rows = pyro_catalog_list_unreadable(list, &count);
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, " ! %s", strrchr(rows[i].path.ptr, '/') + 1);
    pyro_catalog_list_release(list);
    assert_string_equal(text, expected);
}

static size_t jobs_of(struct pyro_catalog *catalog, const char *id)
{
    struct pyro_history *history = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    if (pyro_catalog_history(catalog, NULL, pyro_slice_from(id), PYRO_SLICE_NULL, false, &history, &error) != PYRO_OK)
        fail_msg("%s", error.message);
    if (!history)
        return SIZE_MAX;
    size_t jobs = history->jobs.count;
    pyro_history_release(history);
    return jobs;
}

/* ---- Lists ---- */

static void logs_come_and_go(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/one", "app-1", 2000);
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "app-1");
    const struct pyro_catalog_list *old = pyro_catalog_list(catalog);
    uint64_t before = pyro_catalog_list_generation(old);
    pyro_catalog_refresh(catalog);
    assert_int_equal(pyro_catalog_wait(catalog, before, 0), before);

    write_log(folder, "logs/two", "app-2", 3000);
    pyro_catalog_refresh(catalog);
    expect_list(catalog, "app-2 app-1");
    assert_true(pyro_catalog_wait(catalog, before, DAY_MS) > before);

    assert_int_equal(unlink(kit_path(folder, "logs/one")), 0);
    pyro_catalog_refresh(catalog);
    expect_list(catalog, "app-2");
    assert_int_equal(jobs_of(catalog, "app-1"), SIZE_MAX);

    size_t count; /* the holder of a list keeps it unchanged */
    assert_true(pyro_slice_is(pyro_catalog_list_apps(old, &count)->id, "app-1"));
    assert_int_equal(count, 1);
    pyro_catalog_list_release(old);
    pyro_catalog_close(catalog);
}

static void attempts_are_joined(void **state)
{
    const struct kit_folder *folder = *state;
    kit_write_text(folder, "logs/a_1", log_text("a", "1", 2000));
    kit_write_text(folder, "logs/a_2", log_text("a", "2", 9000));
    write_log(folder, "logs/b", "b", 5000);
    write_log(folder, "logs/running", "running", 0);
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "a:2,1 b running");
    pyro_catalog_close(catalog);
}

static void one_log_of_each_attempt_is_shown(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a", "a", 2000);
    write_log(folder, "logs/a.inprogress", "a", 0);
    write_log(folder, "logs/copy", "a", 2000);
    assert_int_equal(truncate(kit_path(folder, "logs/copy"), (off_t)strlen(log_text("a", NULL, 2000)) - 1), 0);
    struct pyro_catalog *catalog = open_catalog(folder);
    const struct pyro_catalog_list *list = pyro_catalog_list(catalog);
    size_t count;
    const struct pyro_catalog_app *app = pyro_catalog_list_apps(list, &count);
    assert_int_equal(count, 1);
    assert_int_equal(app->attempt_count, 1);
    assert_true(app->attempts->completed);
    const struct pyro_catalog_unreadable *rows = pyro_catalog_list_unreadable(list, &count);
    assert_int_equal(count, 2);
    assert_non_null(strstr(rows[0].reason.ptr, "which is shown instead"));
    pyro_catalog_list_release(list);
    pyro_catalog_close(catalog);
}

static void what_is_no_log_is_told(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/good", "good", 2000);
    kit_write_text(folder, "logs/empty", "");
    kit_write_text(folder, "logs/notes", "no event log\n");
    kit_write(folder, "logs/binary", "\0\1\2\3", 4);
    kit_write_text(folder, "logs/.hidden", "x");
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "good ! binary ! empty ! notes");
    pyro_catalog_refresh(catalog);
    expect_list(catalog, "good ! binary ! empty ! notes");
    write_log(folder, "logs/empty", "late", 0); /* its first events came */
    pyro_catalog_refresh(catalog);
    expect_list(catalog, "good late ! binary ! notes");
    pyro_catalog_close(catalog);
}

static void hostile_ids(void **state)
{
    const struct kit_folder *folder = *state;
    char id[2001];
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    write_log(folder, "logs/1", id, 2000);
    write_log(folder, "logs/2", "../../etc/passwd", 3000);
    write_log(folder, "logs/3", "\xc3\xa9\xf0\x9f\x94\xa5", 4000);
    write_log(folder, "logs/4", "", 5000);
    struct pyro_catalog *catalog = open_catalog(folder);
    const char *const ids[] = {id, "../../etc/passwd", "\xc3\xa9\xf0\x9f\x94\xa5", ""};
    for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
        assert_int_equal(jobs_of(catalog, ids[i]), 0);
    assert_int_equal(jobs_of(catalog, "x"), SIZE_MAX);
    pyro_catalog_close(catalog);
}

static void rolling_logs_grow_by_parts(void **state)
{
    const struct kit_folder *folder = *state;
    kit_write_text(folder, "logs/eventlog_v2_a/appstatus_a.inprogress", "");
    kit_write_text(folder, "logs/eventlog_v2_a/events_1_a", log_text("a", NULL, 0));
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "a");
    assert_int_equal(jobs_of(catalog, "a"), 0);
    append_job(folder, "logs/eventlog_v2_a/events_2_a", 1);
    append_job(folder, "logs/eventlog_v2_a/events_2_a", 2);
    pyro_catalog_refresh(catalog);
    assert_int_equal(jobs_of(catalog, "a"), 2);
    kit_write_text(folder, "logs/eventlog_v2_a/events_3_a",
                   "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":7000}\n");
    char to[128];
    snprintf(to, sizeof(to), "%s", kit_path(folder, "logs/eventlog_v2_a/appstatus_a"));
    assert_int_equal(rename(kit_path(folder, "logs/eventlog_v2_a/appstatus_a.inprogress"), to), 0);
    pyro_catalog_refresh(catalog);
    const struct pyro_catalog_list *list = pyro_catalog_list(catalog);
    const struct pyro_catalog_app *app = pyro_catalog_list_find(list, pyro_slice_from("a"));
    assert_true(app->attempts->completed);
    assert_int_equal(app->attempts->end_ms, 7000);
    pyro_catalog_list_release(list);
    pyro_catalog_close(catalog);
}

/* ---- Open applications ---- */

static void growing_logs_are_caught_up_with(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a.inprogress", "a", 0);
    struct pyro_catalog *catalog = open_catalog(folder);
    assert_int_equal(jobs_of(catalog, "a"), 0);
    for (int i = 1; i <= 3; i++) {
        append_job(folder, "logs/a.inprogress", i);
        pyro_catalog_refresh(catalog);
        assert_int_equal(jobs_of(catalog, "a"), i);
    }
    assert_int_equal(pyro_catalog_usage(catalog).open, 1);
    pyro_catalog_close(catalog);
}

/* The log's bytes before the place are overwritten, so that a second reading would see another application. */
static void diagnoses_of_growing_logs_read_on(void **state)
{
    const struct kit_folder *folder = *state;
    const struct pyro_catalog_diagnosis *first = NULL, *second = NULL, *fresh = NULL;
    struct pyro_slice id = PYRO_SLICE_LITERAL("app-a");
    write_log(folder, "logs/a.inprogress", "app-a", 0);
    struct pyro_catalog *catalog = open_catalog(folder);
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &first, NULL), PYRO_OK);
    FILE *file = fopen(kit_path(folder, "logs/a.inprogress"), "r+b");
    const char *text = log_text("app-a", NULL, 0);
    fseek(file, strstr(text, "name of") - text, SEEK_SET);
    assert_int_equal(fwrite("XXXX", 1, 4, file), 4);
    assert_int_equal(fclose(file), 0);
    append_job(folder, "logs/a.inprogress", 1);
    pyro_catalog_refresh(catalog);
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &second, NULL), PYRO_OK);
    assert_ptr_not_equal(first, second);
    assert_string_equal(pyro_app_name(second->app), "name of app-a");
    pyro_catalog_diagnosis_release(first);
    char to[128];
    snprintf(to, sizeof(to), "%s", kit_path(folder, "logs/a"));
    assert_int_equal(rename(kit_path(folder, "logs/a.inprogress"), to), 0);
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &fresh, NULL), PYRO_OK);
    pyro_catalog_refresh(catalog);
    pyro_catalog_diagnosis_release(fresh);
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &fresh, NULL), PYRO_OK);
    assert_string_equal(pyro_app_name(fresh->app), "XXXX of app-a"); /* a finished log is read as a whole */
    pyro_catalog_diagnosis_release(fresh);
    pyro_catalog_close(catalog);
    assert_string_equal(pyro_app_name(second->app), "name of app-a");
    pyro_catalog_diagnosis_release(second);
}

/* A file in place of another, or one that was cut, is no longer what was read. */
static void replaced_logs_are_read_again(void **state)
{
    const struct kit_folder *folder = *state;
    const struct pyro_catalog_diagnosis *diagnosis = NULL;
    write_log(folder, "logs/a.inprogress", "app", 0);
    append_job(folder, "logs/a.inprogress", 1);
    struct pyro_catalog *catalog = open_catalog(folder);
    struct pyro_slice id = PYRO_SLICE_LITERAL("app");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &diagnosis, NULL), PYRO_OK);
        pyro_catalog_diagnosis_release(diagnosis);
        assert_int_equal(jobs_of(catalog, "app"), i == 0);
        if (i == 1)
            assert_int_equal(unlink(kit_path(folder, "logs/a.inprogress")), 0);
        write_log(folder, "logs/a.inprogress", "app", 0);
        pyro_catalog_refresh(catalog);
    }
    pyro_catalog_close(catalog);
}

static bool sees_old(void *context, const struct pyro_catalog_seen *seen)
{
    (void)context;
    return seen->attempt->start_ms < 1500;
}

/* What hides one of two runs with one id must not make the other take its place. */
static void runs_with_one_id_keep_their_ids(void **state)
{
    const struct kit_folder *folder = *state;
    char text[8192];
    write_log(folder, "logs/old", "app", 3000);
    snprintf(text, sizeof(text), "%s", log_text("app", NULL, 5000));
    memcpy(strstr(text, ":1000,"), ":4000,", 6);
    kit_write_text(folder, "logs/new", text);
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "app app~1000");
    const struct pyro_catalog_list *list = pyro_catalog_list(catalog),
                                   *narrow = pyro_catalog_list_visible(list, sees_old, NULL);
    size_t count;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(narrow, &count);
    assert_int_equal(count, 1);
    assert_true(pyro_slice_is(apps[0].id, "app~1000"));
    assert_null(pyro_catalog_list_find(narrow, PYRO_SLICE_LITERAL("app")));
    assert_ptr_equal(pyro_catalog_list_find(list, PYRO_SLICE_LITERAL("app~4000")),
                     pyro_catalog_list_find(list, PYRO_SLICE_LITERAL("app")));
    pyro_catalog_list_release(narrow);
    pyro_catalog_list_release(list);
    assert_int_equal(unlink(kit_path(folder, "logs/new")), 0);
    pyro_catalog_refresh(catalog);
    expect_list(catalog, "app");
    pyro_catalog_close(catalog);
}

/* Between two updates, Spark's last write is a new name. */
static void renamed_logs_are_found_at_once(void **state)
{
    const struct kit_folder *folder = *state;
    char to[128];
    write_log(folder, "logs/a.inprogress", "a", 0);
    write_log(folder, "logs/b", "b", 2000);
    struct pyro_catalog *catalog = open_catalog(folder);
    expect_list(catalog, "b a");
    append_job(folder, "logs/a.inprogress", 1);
    snprintf(to, sizeof(to), "%s", kit_path(folder, "logs/a"));
    assert_int_equal(rename(kit_path(folder, "logs/a.inprogress"), to), 0);
    assert_int_equal(jobs_of(catalog, "a"), 1);
    assert_int_equal(unlink(kit_path(folder, "logs/b")), 0);
    assert_int_equal(jobs_of(catalog, "b"), SIZE_MAX); /* deleted, not read before */
    expect_list(catalog, "a");
    pyro_catalog_close(catalog);
}

static void a_renamed_log_stays_open(void **state)
{
    const struct kit_folder *folder = *state;
    char to[128];
    write_log(folder, "logs/a.inprogress", "a", 0);
    struct pyro_catalog *catalog = open_catalog(folder);
    assert_int_equal(jobs_of(catalog, "a"), 0);
    snprintf(to, sizeof(to), "%s", kit_path(folder, "logs/a"));
    assert_int_equal(rename(kit_path(folder, "logs/a.inprogress"), to), 0);
    pyro_catalog_refresh(catalog);
    assert_int_equal(pyro_catalog_usage(catalog).open, 1);
    assert_int_equal(jobs_of(catalog, "a"), 0);
    assert_int_equal(pyro_catalog_usage(catalog).open, 1);
    pyro_catalog_close(catalog);
}

static void what_is_held_outlives_its_log(void **state)
{
    const struct kit_folder *folder = *state;
    struct pyro_history *history = NULL;
    write_log(folder, "logs/a", "a", 2000);
    append_job(folder, "logs/a", 1);
    struct pyro_catalog *catalog = open_with(folder, NULL, 1);
    assert_int_equal(
        pyro_catalog_history(catalog, NULL, PYRO_SLICE_LITERAL("a"), PYRO_SLICE_NULL, false, &history, NULL), PYRO_OK);
    assert_int_equal(unlink(kit_path(folder, "logs/a")), 0);
    pyro_catalog_refresh(catalog);
    assert_int_equal(pyro_catalog_usage(catalog).open, 0);
    assert_int_equal(history->jobs.count, 1);
    pyro_history_release(history);
    pyro_catalog_close(catalog);
}

static void little_memory_closes_what_was_not_asked_for_longest(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a", "a", 2000);
    write_log(folder, "logs/b", "b", 2000);
    write_log(folder, "logs/c", "c", 2000);
    struct pyro_catalog *catalog = open_with(folder, NULL, 1);
    const char *const ids[] = {"a", "b", "c", "a"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(jobs_of(catalog, ids[i]), 0);
    const struct pyro_catalog_usage usage = pyro_catalog_usage(catalog);
    assert_int_equal(usage.loads, 4);
    assert_int_equal(usage.open, 1);
    pyro_catalog_close(catalog);
}

static void diagnoses_are_open_beside_histories(void **state)
{
    const struct kit_folder *folder = *state;
    const struct pyro_catalog_diagnosis *first = NULL, *second = NULL;
    write_log(folder, "logs/a", "a", 2000);
    struct pyro_catalog *catalog = open_catalog(folder);
    struct pyro_slice id = PYRO_SLICE_LITERAL("a");
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &first, NULL), PYRO_OK);
    assert_int_equal(pyro_catalog_diagnosis(catalog, NULL, id, PYRO_SLICE_NULL, &second, NULL), PYRO_OK);
    assert_ptr_equal(first, second);
    assert_string_equal(pyro_app_name(first->app), "name of a");
    assert_int_equal(jobs_of(catalog, "a"), 0);
    const struct pyro_catalog_usage usage = pyro_catalog_usage(catalog);
    assert_int_equal(usage.open, 2);
    assert_int_equal(usage.loads, 2);
    assert_true(usage.memory_bytes > 1000);
    pyro_catalog_diagnosis_release(first);
    pyro_catalog_close(catalog);
    assert_int_equal(pyro_diagnosis_finding_count(second->diagnosis), 0);
    pyro_catalog_diagnosis_release(second);
}

/* ---- Many at once ---- */

enum { THREADS = 8, LOGS = 24, ROUNDS = 60 };

struct crowd {
    struct pyro_catalog *catalog;
    atomic_size_t missing;
};

static void *ask(void *context)
{
    struct crowd *crowd = context;
    static atomic_uint numbers;
    unsigned seed = atomic_fetch_add(&numbers, 1);
    for (int i = 0; i < ROUNDS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "app-%u", (seed * 7 + (unsigned)i * 5) % LOGS);
        if (i % 3 == 0) {
            const struct pyro_catalog_diagnosis *diagnosis = NULL;
            enum pyro_status status =
                pyro_catalog_diagnosis(crowd->catalog, NULL, pyro_slice_from(id), PYRO_SLICE_NULL, &diagnosis, NULL);
            atomic_fetch_add(&crowd->missing, status != PYRO_OK || diagnosis == NULL);
            if (diagnosis)
                pyro_catalog_diagnosis_release(diagnosis);
        } else {
            atomic_fetch_add(&crowd->missing, jobs_of(crowd->catalog, id) == SIZE_MAX);
        }
    }
    return NULL;
}

static void run_crowd(struct crowd *crowd, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, crowd), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void write_many(const struct kit_folder *folder)
{
    for (int i = 0; i < LOGS; i++) {
        char name[32], id[32];
        snprintf(name, sizeof(name), "logs/log-%d", i);
        snprintf(id, sizeof(id), "app-%d", i);
        write_log(folder, name, id, 2000 + i);
    }
}

/* With updates, growing logs and hardly any memory, so that everything is closed and opened all the time. */
static void a_crowd_with_little_memory(void **state)
{
    const struct kit_folder *folder = *state;
    write_many(folder);
    struct crowd crowd = {.catalog = open_with(folder, NULL, 1)};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &crowd), 0);
    for (int i = 0; i < 20; i++) {
        append_job(folder, "logs/log-3", i);
        pyro_catalog_refresh(crowd.catalog);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.missing, 0);
    assert_int_equal(jobs_of(crowd.catalog, "app-3"), 20);
    pyro_catalog_close(crowd.catalog);
}

static void *ask_one(void *context)
{
    struct crowd *crowd = context;
    atomic_fetch_add(&crowd->missing, jobs_of(crowd->catalog, "app-5") == SIZE_MAX);
    return NULL;
}

static void what_many_ask_for_is_loaded_once(void **state)
{
    const struct kit_folder *folder = *state;
    write_many(folder);
    struct crowd crowd = {.catalog = open_catalog(folder)};
    run_crowd(&crowd, ask_one); /* some of them before the first update is done */
    assert_int_equal(crowd.missing, 0);
    assert_int_equal(pyro_catalog_usage(crowd.catalog).loads, 1);
    pyro_catalog_close(crowd.catalog);
}

static void *wait_long(void *context)
{
    struct crowd *crowd = context;
    pyro_catalog_wait(crowd->catalog, pyro_catalog_wait(crowd->catalog, UINT64_MAX, 0), DAY_MS);
    return NULL;
}

static void stopping_wakes_who_waits(void **state)
{
    const struct kit_folder *folder = *state;
    pthread_t thread;
    write_many(folder);
    struct crowd crowd = {.catalog = open_catalog(folder)};
    pyro_catalog_list_release(pyro_catalog_list(crowd.catalog));
    assert_int_equal(pthread_create(&thread, NULL, wait_long, &crowd), 0);
    pyro_catalog_stop(crowd.catalog);
    pthread_join(thread, NULL);
    assert_true(pyro_catalog_stopping(crowd.catalog));
    pyro_catalog_close(crowd.catalog);
}

/* ---- Between starts ---- */

/* A file whose bytes change but neither size nor time: only who reads it again would notice. */
static void change_unseen(const struct kit_folder *folder, const char *name, const char *id)
{
    struct stat status;
    assert_int_equal(stat(kit_path(folder, name), &status), 0);
    int fd = open(kit_path(folder, name), O_WRONLY);
    const char *text = log_text(id, NULL, 2000);
    assert_int_equal(write(fd, text, strlen(text)), status.st_size);
    const struct timespec times[2] = {status.st_mtim, status.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static const char *cache_of(const struct kit_folder *folder)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/new/cache", folder->path);
    return path;
}

static void start(const struct kit_folder *folder, const char *expected)
{
    struct pyro_catalog *catalog = open_with(folder, cache_of(folder), 1 << 30);
    expect_list(catalog, expected);
    pyro_catalog_close(catalog);
}

static void what_has_not_changed_is_not_read_again(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a", "app-a", 2000);
    kit_write_text(folder, "logs/eventlog_v2_r/events_1_r", log_text("rolled", "7", 1000));
    kit_write_text(folder, "logs/notes", "no event log\n");
    start(folder, "app-a rolled:7 ! notes");
    change_unseen(folder, "logs/a", "app-x");
    start(folder, "app-a rolled:7 ! notes");
    write_log(folder, "logs/a", "app-y", 2001); /* another time */
    assert_int_equal(unlink(kit_path(folder, "logs/notes")), 0);
    start(folder, "app-y rolled:7");
    start(folder, "app-y rolled:7");
}

static void damage(const struct kit_folder *folder, const char *sql)
{
    char path[160];
    sqlite3 *db = NULL;
    snprintf(path, sizeof(path), "%s/applications.sqlite", cache_of(folder));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void damaged_rows_are_read_again(void **state)
{
    static const char *const damages[] = {
        "UPDATE log SET app_id = CAST('other' AS BLOB)",
        "UPDATE log SET end_ms = 'text'",
        "UPDATE log SET layout = 77",
        "UPDATE log SET path = CAST('/../a' AS BLOB); UPDATE part SET path = CAST('/../a' AS BLOB)",
        "UPDATE part SET file = CAST('/etc/passwd' AS BLOB)",
        "UPDATE part SET file = zeroblob(100)",
        "UPDATE part SET number = 9, bytes = -1",
        "DELETE FROM part",
        "DELETE FROM log",
        "UPDATE log SET parts = 1000000000000",
        "PRAGMA user_version = 999",
        "PRAGMA application_id = 1",
        "DROP TABLE part",
        "UPDATE build SET version = 'another'",
    };
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a", "app-a", 2000);
    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        start(folder, "app-a");
        damage(folder, damages[i]);
        start(folder, "app-a");
    }
}

static void a_damaged_file_is_made_anew(void **state)
{
    const struct kit_folder *folder = *state;
    write_log(folder, "logs/a", "app-a", 2000);
    start(folder, "app-a");
    kit_write_text(folder, "new/cache/applications.sqlite",
                   "this is no database, and longer than a header of one is: "
                   "some one hundred bytes would do for that already");
    start(folder, "app-a");
    change_unseen(folder, "logs/a", "app-x");
    start(folder, "app-a"); /* what was made again is used */
    assert_int_equal(truncate(kit_path(folder, "new/cache/applications.sqlite"), 5000), 0);
    start(folder, "app-x");
}

static void a_cache_that_cannot_be_made_is_an_error(void **state)
{
    const struct kit_folder *folder = *state;
    char path[128];
    kit_write_text(folder, "logs/a", "x");
    snprintf(path, sizeof(path), "%s/logs/a/below", folder->path);
    const char *folders[] = {folder->path};
    const struct pyro_catalog_options options = {
        .folders = folders, .folder_count = 1, .cache = path, .update_ms = DAY_MS};
    struct pyro_catalog *catalog = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_catalog_open(&options, &catalog, &error), PYRO_ERROR_OUTPUT);
    assert_non_null(strstr(error.message, path));
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, kit_folder_setup, kit_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(logs_come_and_go),
        IN_A_FOLDER(attempts_are_joined),
        IN_A_FOLDER(one_log_of_each_attempt_is_shown),
        IN_A_FOLDER(runs_with_one_id_keep_their_ids),
        IN_A_FOLDER(what_is_no_log_is_told),
        IN_A_FOLDER(hostile_ids),
        IN_A_FOLDER(rolling_logs_grow_by_parts),
        IN_A_FOLDER(growing_logs_are_caught_up_with),
        IN_A_FOLDER(diagnoses_of_growing_logs_read_on),
        IN_A_FOLDER(replaced_logs_are_read_again),
        IN_A_FOLDER(renamed_logs_are_found_at_once),
        IN_A_FOLDER(a_renamed_log_stays_open),
        IN_A_FOLDER(what_is_held_outlives_its_log),
        IN_A_FOLDER(little_memory_closes_what_was_not_asked_for_longest),
        IN_A_FOLDER(diagnoses_are_open_beside_histories),
        IN_A_FOLDER(a_crowd_with_little_memory),
        IN_A_FOLDER(what_many_ask_for_is_loaded_once),
        IN_A_FOLDER(stopping_wakes_who_waits),
        IN_A_FOLDER(what_has_not_changed_is_not_read_again),
        IN_A_FOLDER(damaged_rows_are_read_again),
        IN_A_FOLDER(a_damaged_file_is_made_anew),
        IN_A_FOLDER(a_cache_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
