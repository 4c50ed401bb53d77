#include "log_kit.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define EVENT "{\"Event\":\"SparkListenerLogStart\"}\n"

static void test_single_file(void **state)
{
    kit_write_text(*state, "app-1", EVENT);
    kit_write_text(*state, "app-2.zstd.inprogress", EVENT);
    kit_write_text(*state, ".hidden", EVENT);
    kit_expect_logs(*state, "app-1", "app-1: app-1");
    kit_expect_logs(*state, "../../tmp/app-1", " ! ../../tmp/app-1");
    kit_expect_logs(*state, "app-2.zstd.inprogress", "app-2.zstd.inprogress*: app-2.zstd.inprogress");
    kit_expect_logs(*state, ".hidden", ".hidden: .hidden"); /* named itself, so it is meant */
    kit_expect_logs(*state, "././app-1", "././app-1: app-1");
}

static void test_parts_named_themselves(void **state)
{
    kit_write_text(*state, "eventlog_v2_a/events_2_a.compact", EVENT);
    kit_write_text(*state, "db/eventlog-2024-01-01--00-00.gz", EVENT);
    kit_expect_logs(*state, "eventlog_v2_a/events_2_a.compact",
                    "eventlog_v2_a/events_2_a.compact~: events_2_a.compact");
    kit_expect_logs(*state, "db/eventlog-2024-01-01--00-00.gz",
                    "db/eventlog-2024-01-01--00-00.gz: eventlog-2024-01-01--00-00.gz");
}

static void test_folder_of_many(void **state)
{
    static const char *const NAMES[] = {"app-10",
                                        "app-9",
                                        "app-9_2",
                                        "app-9_1",
                                        "app-9.inprogress",
                                        ".app-9.crc",
                                        "_SUCCESS",
                                        "app-10.crc",
                                        "deeper/app-77",
                                        "eventlog_v2_b_1/events_1_b_1.lz4",
                                        "eventlog_v2_b_1/appstatus_b_1",
                                        "eventlog_v2_b_1/.events_1_b_1.lz4.crc",
                                        "eventlog_v2_b_2/events_1_b_2.lz4",
                                        "eventlog_v2_b_2/appstatus_b_2.inprogress",
                                        "db/eventlog",
                                        "db/eventlog-2024-01-01--09-30.gz",
                                        "db/stdout"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        kit_write_text(*state, NAMES[i], EVENT);
    static const char EXPECTED[] = "app-9: app-9 | app-9.inprogress*: app-9.inprogress | app-9_1: app-9_1 | "
                                   "app-9_2: app-9_2 | app-10: app-10 | "
                                   "db: eventlog-2024-01-01--09-30.gz eventlog | "
                                   "eventlog_v2_b_1: events_1_b_1.lz4 | eventlog_v2_b_2*: events_1_b_2.lz4";
    kit_expect_logs(*state, "", EXPECTED);
    kit_expect_logs(*state, "///", EXPECTED);
}

static void test_rolling_order_and_gaps(void **state)
{
    static const char *const NAMES[] = {"events_10_a.zstd", "events_9_a.zstd", "events_1_a.zstd", "events_2_a.zstd",
                                        "appstatus_a"};
    char path[100];
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        strcpy(path, "eventlog_v2_a/");
        kit_write_text(*state, strcat(path, NAMES[i]), EVENT);
    }
    static const char EXPECTED[] = "eventlog_v2_a-6: events_1_a.zstd events_2_a.zstd events_9_a.zstd events_10_a.zstd";
    kit_expect_logs(*state, "eventlog_v2_a", EXPECTED);
    kit_expect_logs(*state, "eventlog_v2_a/", EXPECTED);
    kit_expect_logs(*state, "", EXPECTED);
    unlink(kit_path(*state, "eventlog_v2_a/events_1_a.zstd"));
    kit_expect_logs(*state, "eventlog_v2_a", "eventlog_v2_a-7: events_2_a.zstd events_9_a.zstd events_10_a.zstd");
}

static void test_compaction(void **state)
{
    static const char *const NAMES[] = {"events_1_a.lz4", "events_2_a.lz4.compact", "events_3_a.lz4",
                                        "events_4_a.lz4", "events_4_a.lz4.compact", "events_5_a.lz4",
                                        "events_10_a.lz4"};
    char path[100];
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        strcpy(path, "eventlog_v2_a/");
        kit_write_text(*state, strcat(path, NAMES[i]), EVENT);
    }
    kit_expect_logs(*state, "eventlog_v2_a", "eventlog_v2_a~-4: events_4_a.lz4.compact events_5_a.lz4 events_10_a.lz4");
}

static void test_status_files(void **state)
{
    kit_write_text(*state, "eventlog_v2_a/events_1_a", EVENT);
    kit_write_text(*state, "eventlog_v2_a/appstatus_a.inprogress", "");
    kit_expect_logs(*state, "eventlog_v2_a", "eventlog_v2_a*: events_1_a");
    kit_write_text(*state, "eventlog_v2_a/appstatus_a", "");
    kit_expect_logs(*state, "eventlog_v2_a", "eventlog_v2_a: events_1_a");
    kit_write_text(*state, "eventlog_v2_b/appstatus_b", "");
    kit_write_text(*state, "eventlog_v2_c/stray", EVENT);
    kit_expect_logs(*state, "", "eventlog_v2_a: events_1_a ! eventlog_v2_b ! eventlog_v2_c");
    kit_expect_unreadable(*state, "eventlog_v2_b", "none of its events_* parts");
}

static void test_renamed_rolling_folder(void **state)
{
    kit_write_text(*state, "mine/events_1_a", EVENT);
    kit_write_text(*state, "mine/events_2_a", EVENT);
    kit_write_text(*state, "mine/events_1_b", EVENT);
    kit_expect_logs(*state, "mine", "mine/events_1_a: events_1_a events_2_a | mine/events_1_b: events_1_b");
    kit_expect_logs(*state, "", "mine/events_1_a: events_1_a events_2_a | mine/events_1_b: events_1_b");
}

static void test_repeated_part_number(void **state)
{
    kit_write_text(*state, "eventlog_v2_a/events_1_a", EVENT);
    kit_write_text(*state, "eventlog_v2_a/events_1_a.zstd", EVENT);
    kit_write_text(*state, "eventlog_v2_a/events_2_a", EVENT);
    kit_expect_logs(*state, "eventlog_v2_a", "eventlog_v2_a: events_1_a events_2_a ! eventlog_v2_a/events_1_a.zstd");
}

static void test_databricks_order(void **state)
{
    kit_write_text(*state, "c/eventlog", EVENT);
    kit_write_text(*state, "c/eventlog-2024-01-02--00-00.gz", EVENT);
    kit_write_text(*state, "c/eventlog-2024-01-01--23-00.gz", EVENT);
    kit_write_text(*state, "c/log4j-active.log", "24/01/01 INFO\n");
    kit_expect_logs(*state, "", "c: eventlog-2024-01-01--23-00.gz eventlog-2024-01-02--00-00.gz eventlog");
    kit_expect_logs(*state, "c",
                    "c: eventlog-2024-01-01--23-00.gz eventlog-2024-01-02--00-00.gz eventlog | "
                    "c/log4j-active.log: log4j-active.log");
    kit_write_text(*state, "alone/eventlog", EVENT);
    kit_expect_logs(*state, "alone", "alone/eventlog: eventlog");
}

static void test_empty_and_binary(void **state)
{
    static const char PICTURE[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    kit_write_text(*state, "empty", "");
    kit_write_text(*state, "app-1", EVENT);
    kit_write_text(*state, "eventlog_v2_a/events_1_a", "");
    kit_write_text(*state, "eventlog_v2_b/events_1_b", EVENT);
    kit_write_text(*state, "eventlog_v2_b/events_2_b", ""); /* just begun */
    kit_write(*state, "picture.png", PICTURE, sizeof(PICTURE));
    kit_expect_logs(*state, "",
                    "app-1: app-1 | eventlog_v2_b: events_1_b events_2_b ! empty ! eventlog_v2_a ! picture.png");
    kit_expect_unreadable(*state, "empty", "is empty");
    kit_expect_unreadable(*state, "eventlog_v2_a", "is empty");
}

static void test_nothing_there(void **state)
{
    kit_expect_unreadable(*state, "missing", "No such file");
    kit_expect_unreadable(*state, "", "has no event log");
    kit_write_text(*state, "deep/deeper/app-1", EVENT);
    kit_expect_unreadable(*state, "", "subfolders are not searched");
    assert_int_equal(symlink("nowhere", kit_path(*state, "broken")), 0);
    kit_expect_unreadable(*state, "", "symbolic link");
}

static void test_special_files(void **state)
{
    assert_int_equal(mkfifo(kit_path(*state, "pipe"), 0600), 0);
    kit_expect_logs(*state, "pipe", "pipe: pipe"); /* and this did not wait for a writer */
    kit_expect_unreadable(*state, "", "is a pipe");
    kit_expect_unreadable(*state, "../../dev/null", "is a device or socket");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, kit_path(*state, "socket"), sizeof(address.sun_path) - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    kit_expect_unreadable(*state, "socket", "is a device or socket");
    close(fd);
}

static void test_symbolic_links(void **state)
{
    kit_write_text(*state, "real/app-1", EVENT);
    kit_write_text(*state, "eventlog_v2_a/events_1_a", EVENT);
    assert_int_equal(mkdir(kit_path(*state, "logs"), 0700), 0);
    assert_int_equal(symlink("../real/app-1", kit_path(*state, "logs/app-1")), 0);
    assert_int_equal(symlink("../eventlog_v2_a", kit_path(*state, "logs/eventlog_v2_a")), 0);
    kit_expect_logs(*state, "logs", "logs/app-1: app-1");
    assert_int_equal(symlink("logs", kit_path(*state, "link")), 0);
    kit_expect_logs(*state, "link", "link/app-1: app-1");
}

static void test_order_of_paths(void **state)
{
    kit_write_text(*state, "b", EVENT);
    kit_write_text(*state, "a", EVENT);
    const char *paths[] = {kit_path(*state, "b"), "-", kit_path(*state, "missing"),
                           kit_path(*state, "a"), "-", kit_path(*state, "b")};
    struct pyro_log_list list;
    assert_int_equal(pyro_source_discover(paths, 6, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.logs[0].path.ptr, paths[0]);
    assert_string_equal(list.logs[1].path.ptr, "-");
    assert_string_equal(list.logs[2].path.ptr, paths[3]);
    assert_string_equal(list.logs[3].path.ptr, paths[0]);
    assert_int_equal(list.unreadable_count, 2);
    assert_string_equal(list.unreadable[0].path.ptr, paths[2]);
    assert_string_equal(list.unreadable[1].path.ptr, "-");
    pyro_log_list_done(&list);
    assert_int_equal(pyro_source_discover(NULL, 0, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count + list.unreadable_count, 0);
    pyro_log_list_done(&list);
}

static bool is_known(void *context, const char *path, const struct stat *status)
{
    (void)status;
    return strstr(context, strrchr(path, '/')) != NULL;
}

/* Logs that are unchanged are the caller's already; parts of logs are not, and are not opened. */
static void test_known_files(void **state)
{
    const struct kit_folder *folder = *state;
    kit_write_text(*state, "logs/old", "\0 would not be taken for a log");
    kit_write_text(*state, "logs/new", EVENT);
    kit_write_text(*state, "logs/eventlog_v2_r/events_1_r", EVENT);
    kit_write(*state, "logs/eventlog_v2_r/events_2_r", "\0\1", 2);
    const char *paths[] = {kit_path(folder, "logs")};
    char names[] = "/old /events_1_r /events_2_r";
    const struct pyro_known known = {.unchanged = is_known, .context = names};
    struct pyro_log_list list;
    assert_int_equal(pyro_source_discover_again(paths, 1, &known, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.logs[0].part_count, 2);
    assert_string_equal(list.logs[1].path.ptr, kit_path(folder, "logs/new"));
    assert_int_equal(list.unreadable_count, 0);
    pyro_log_list_done(&list);

    assert_int_equal(unlink(kit_path(folder, "logs/new")), 0);
    assert_int_equal(unlink(kit_path(folder, "logs/eventlog_v2_r/events_1_r")), 0);
    assert_int_equal(unlink(kit_path(folder, "logs/eventlog_v2_r/events_2_r")), 0);
    assert_int_equal(rmdir(kit_path(folder, "logs/eventlog_v2_r")), 0);
    assert_int_equal(pyro_source_discover_again(paths, 1, &known, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count + list.unreadable_count, 0); /* but the folder is not empty */
    pyro_log_list_done(&list);
}

#define FOLDER_TEST(function) cmocka_unit_test_setup_teardown(function, kit_folder_setup, kit_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_single_file),
        FOLDER_TEST(test_parts_named_themselves),
        FOLDER_TEST(test_folder_of_many),
        FOLDER_TEST(test_rolling_order_and_gaps),
        FOLDER_TEST(test_compaction),
        FOLDER_TEST(test_status_files),
        FOLDER_TEST(test_renamed_rolling_folder),
        FOLDER_TEST(test_repeated_part_number),
        FOLDER_TEST(test_databricks_order),
        FOLDER_TEST(test_empty_and_binary),
        FOLDER_TEST(test_nothing_there),
        FOLDER_TEST(test_special_files),
        FOLDER_TEST(test_symbolic_links),
        FOLDER_TEST(test_order_of_paths),
        FOLDER_TEST(test_known_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
