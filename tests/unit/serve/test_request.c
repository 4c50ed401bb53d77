/* What services ask of a request. */
#include <stdio.h>

#include "log_kit.h"
#include "serve/request.h"

static struct pyro_catalog *open_catalog(const struct kit_folder *folder)
{
    char place[128];
    const char *folders[] = {place};
    snprintf(place, sizeof(place), "%s/logs", folder->path);
    const struct pyro_catalog_options options = {
        .folders = folders, .folder_count = 1, .memory_bytes = 1 << 30, .update_ms = 86400000};
    struct pyro_catalog *catalog = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_catalog_open(&options, &catalog, &error), PYRO_OK);
    return catalog;
}

static bool sees_all(void *context, const struct pyro_catalog_seen *seen)
{
    (void)context;
    return seen->identity != 0;
}

/* Who may see a part of the list only, for which there was no memory, sees nothing, however often it is asked for. */
static void no_memory_shows_nothing(void **state)
{
    const struct kit_folder *folder = *state;
    size_t count;
    kit_write_text(folder, "logs/a",
                   "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}\n"
                   "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"app-1\","
                   "\"Timestamp\":1000,\"User\":\"u\"}\n");
    struct pyro_catalog *catalog = open_catalog(folder);
    struct serve_request request = {.catalog = catalog, .visible = sees_all, .narrowed = true};
    assert_null(pyro_serve_list(&request));
    assert_null(pyro_serve_list(&request));
    request.narrowed = false;
    pyro_catalog_list_apps(pyro_serve_list(&request), &count);
    assert_int_equal(count, 1);
    pyro_catalog_list_release(request.list);
    pyro_catalog_close(catalog);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, kit_folder_setup, kit_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(no_memory_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
