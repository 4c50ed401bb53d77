#include "log_kit.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT "{\"Event\":\"SparkListenerLogStart\"}\n"

typedef const char *const member[2];

static void test_single_members(void **state)
{
    static member MEMBERS[] = {{"local-1_2", EVENT "b\n"},  {"local-1_1", EVENT "a\n"}, {"sub/local-3", EVENT},
                               {"__MACOSX/local-3", EVENT}, {"sub/.hidden", EVENT},     {NULL, NULL}};
    kit_write_zip(*state, "logs", MEMBERS); /* recognized by content, not by name */
    kit_expect_logs(*state, "logs",
                    "logs!local-1_1: local-1_1 | logs!local-1_2: local-1_2 | logs!sub/local-3: local-3");
    struct pyro_log_list list;
    kit_discover(*state, "logs", &list);
    char *text = kit_read(&list.logs[1].parts[0], NULL, NULL, 0);
    assert_string_equal(text, EVENT "b\n");
    free(text);
    pyro_log_list_done(&list);
}

static void test_rolling_folders(void **state)
{
    static member MEMBERS[] = {{"eventlog_v2_a_1/", NULL},
                               {"eventlog_v2_a_1/events_10_a_1", EVENT},
                               {"eventlog_v2_a_1/events_9_a_1.compact", EVENT},
                               {"eventlog_v2_a_1/events_8_a_1", EVENT},
                               {"eventlog_v2_a_1/appstatus_a_1", ""},
                               {"x/eventlog_v2_a_2/events_1_a_2", EVENT},
                               {"x/eventlog_v2_a_2/appstatus_a_2.inprogress", ""},
                               {NULL, NULL}};
    kit_write_zip(*state, "logs.zip", MEMBERS);
    kit_expect_logs(*state, "logs.zip",
                    "logs.zip!eventlog_v2_a_1~: events_9_a_1.compact events_10_a_1 | "
                    "logs.zip!x/eventlog_v2_a_2*: events_1_a_2");
}

static void test_rolling_parts_at_the_root(void **state)
{
    static member MEMBERS[] = {
        {"events_2_a", EVENT}, {"appstatus_a.inprogress", ""},           {"events_1_a", EVENT}, {"events_1_b", EVENT},
        {"eventlog", EVENT},   {"eventlog-2024-01-01--00-00.gz", EVENT}, {NULL, NULL}};
    kit_write(*state, "eventlog_v2_b/x", "", 0); /* a folder with a misleading name */
    kit_write_zip(*state, "eventlog_v2_b/l.zip", MEMBERS);
    kit_expect_logs(*state, "eventlog_v2_b/l.zip",
                    "eventlog_v2_b/l.zip: eventlog-2024-01-01--00-00.gz eventlog | "
                    "eventlog_v2_b/l.zip!events_1_a*: events_1_a events_2_a | "
                    "eventlog_v2_b/l.zip!events_1_b: events_1_b");
}

static void test_archives_in_a_folder(void **state)
{
    static member MEMBERS[] = {{"local-1", EVENT}, {NULL, NULL}};
    kit_write_zip(*state, "b.zip", MEMBERS);
    kit_write_text(*state, "a", EVENT);
    kit_expect_logs(*state, "", "a: a | b.zip!local-1: local-1");
}

static void test_without_logs(void **state)
{
    static member NOTHING[] = {{NULL, NULL}}, EMPTY[] = {{"local-1", ""}, {NULL, NULL}};
    kit_write_zip(*state, "nothing.zip", NOTHING);
    kit_expect_unreadable(*state, "nothing.zip", "without event logs");
    kit_write_zip(*state, "empty.zip", EMPTY);
    kit_expect_unreadable(*state, "empty.zip", "is empty");
    kit_write_text(*state, "false.zip", "PK\003\004 and then something else");
    kit_expect_unreadable(*state, "false.zip", "cannot be read");
}

static void test_archive_inside_archive(void **state)
{
    static member MEMBERS[] = {{"inner.zip", "PK\003\004"}, {NULL, NULL}};
    kit_write_zip(*state, "outer.zip", MEMBERS);
    struct pyro_log_list list;
    struct pyro_reader *reader = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    kit_discover(*state, "outer.zip", &list);
    assert_int_equal(pyro_reader_open(&list.logs[0].parts[0], NULL, &reader, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "inside an archive"));
    pyro_log_list_done(&list);
}

static void test_vanished(void **state)
{
    static member MEMBERS[] = {{"local-1", EVENT}, {NULL, NULL}}, OTHERS[] = {{"local-2", EVENT}, {NULL, NULL}};
    struct pyro_log_list list;
    struct pyro_reader *reader = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    kit_write_zip(*state, "a.zip", MEMBERS);
    kit_discover(*state, "a.zip", &list);
    kit_write_zip(*state, "a.zip", OTHERS);
    assert_int_equal(pyro_reader_open(&list.logs[0].parts[0], NULL, &reader, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "cannot find"));
    assert_string_equal(error.path, kit_path(*state, "a.zip"));
    unlink(kit_path(*state, "a.zip"));
    assert_int_equal(pyro_reader_open(&list.logs[0].parts[0], NULL, &reader, &error), PYRO_ERROR_INPUT);
    pyro_log_list_done(&list);
}

/* Whatever is left of an archive: no crash, what is read is a prefix, and a cut member says so. */
static void test_cut_archive(void **state)
{
    char text[3000];
    size_t len = 0;
    for (unsigned i = 0; len + 40 < sizeof(text); i++)
        len += (size_t)sprintf(text + len, "{\"Event\":\"%u\"}\n", i * 2654435761u);
    member members[] = {{"local-1", text}, {NULL, NULL}};
    kit_write_zip(*state, "whole.zip", members);
    FILE *file = fopen(kit_path(*state, "whole.zip"), "rb");
    char bytes[8000];
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t cut = 4; cut < size; cut++) {
        kit_write(*state, "cut.zip", bytes, cut);
        struct pyro_log_list list;
        kit_discover(*state, "cut.zip", &list);
        assert_int_equal(list.count + list.unreadable_count, 1);
        if (list.count) {
            char damage[200];
            char *read = kit_read(&list.logs[0].parts[0], NULL, damage, sizeof(damage));
            assert_memory_equal(read, text, strlen(read));
            assert_true(damage[0] || strlen(read) == len);
            free(read);
        }
        pyro_log_list_done(&list);
    }
}

/* Any bit flipped: no crash, no endless loop; the sanitizers look on. */
static void test_flipped_bits(void **state)
{
    static member MEMBERS[] = {{"eventlog_v2_a/events_1_a", EVENT EVENT}, {"b", EVENT}, {NULL, NULL}};
    kit_write_zip(*state, "whole.zip", MEMBERS);
    FILE *file = fopen(kit_path(*state, "whole.zip"), "rb");
    char bytes[2000];
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        kit_write(*state, "flipped.zip", bytes, size);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        struct pyro_log_list list;
        kit_discover(*state, "flipped.zip", &list);
        for (size_t i = 0; i < list.count; i++) {
            struct pyro_reader *reader = NULL;
            char buffer[100];
            size_t got = 1, total = 0;
            if (pyro_reader_open(&list.logs[i].parts[0], NULL, &reader, NULL) != PYRO_OK)
                continue;
            for (; got > 0; total += got)
                assert_int_equal(pyro_reader_read(reader, buffer, sizeof(buffer), &got, NULL), PYRO_OK);
            assert_true(total < 100000);
            pyro_reader_close(reader);
        }
        pyro_log_list_done(&list);
    }
}

static void test_encrypted(void **state)
{
    struct archive *zip = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    archive_write_set_format_zip(zip);
    if (archive_write_set_options(zip, "zip:encryption=traditional") != ARCHIVE_OK) /* libarchive without it */
        skip();
    archive_write_set_passphrase(zip, "secret");
    assert_int_equal(archive_write_open_filename(zip, kit_path(*state, "locked.zip")), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "local-1");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, sizeof(EVENT) - 1);
    assert_int_equal(archive_write_header(zip, entry), ARCHIVE_OK);
    archive_write_data(zip, EVENT, sizeof(EVENT) - 1);
    archive_entry_free(entry);
    archive_write_free(zip);
    kit_expect_unreadable(*state, "locked.zip", "is encrypted");
}

/* The process runs in the C locale here. libarchive marks names as UTF-8 when it writes in such a locale; the other
 * kind of archive has the bytes only. */
static void test_names_beyond_ascii(void **state)
{
    static member MEMBERS[] = {{"logs-\xc3\xa9t\xc3\xa9/local-1", EVENT}, {NULL, NULL}};
    for (int marked = 0; marked < 2; marked++) {
        locale_t own = marked ? newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0) : (locale_t)0;
        locale_t previous = own ? uselocale(own) : (locale_t)0;
        kit_write_zip(*state, "a.zip", MEMBERS);
        if (own) {
            uselocale(previous);
            freelocale(own);
        }
        kit_expect_logs(*state, "a.zip", "a.zip!logs-\xc3\xa9t\xc3\xa9/local-1: local-1");
        struct pyro_log_list list;
        kit_discover(*state, "a.zip", &list);
        char *text = kit_read(&list.logs[0].parts[0], NULL, NULL, 0);
        assert_string_equal(text, EVENT);
        free(text);
        pyro_log_list_done(&list);
    }
}

static bool never_known(void *context, const char *path, const struct stat *status)
{
    (void)context;
    (void)path;
    (void)status;
    return false;
}

/* The file decides what may be decompressed, and divided among an archive's members. */
static void test_untrusted_folders(void **state)
{
    static member MEMBERS[] = {{"a", EVENT}, {"b", EVENT EVENT EVENT}, {"empty", ""}, {NULL, NULL}};
    const struct kit_folder *folder = *state;
    enum { ALL = 64 << 20 };
    kit_write_text(*state, "sent/b", EVENT);
    kit_write_zip(*state, "sent/a.zip", MEMBERS);
    kit_write_text(*state, "sent2/c", EVENT);
    kit_write_zip(*state, "sent2/d.zip", MEMBERS);
    const char *paths[] = {kit_path(folder, "sent"), kit_path(folder, "sent2")};
    const struct pyro_known known = {.unchanged = never_known, .untrusted = paths[0], .unlimited = true};
    struct pyro_log_list list;
    assert_int_equal(pyro_source_discover_again(paths, 2, &known, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count, 6);
    uint64_t a = list.logs[0].parts[0].most_bytes, b = list.logs[1].parts[0].most_bytes;
    /* A third of the one half, and by size of the other. */
    assert_in_range(a, ALL / 6 + ALL / 8 - ALL / 100, ALL / 6 + ALL / 8);
    assert_in_range(b, ALL / 6 + 3 * (ALL / 8) - ALL / 100, ALL / 6 + 3 * (ALL / 8));
    assert_in_range(a + b, 0, ALL - ALL / 6);
    assert_int_equal(list.logs[2].parts[0].most_bytes, ALL);
    for (size_t i = 3; i < list.count; i++)
        assert_int_equal(list.logs[i].parts[0].most_bytes, 0);
    pyro_log_list_done(&list);
    const struct pyro_known limited = {.unchanged = never_known, .untrusted = paths[0], .untrusted_ratio = 1 << 20};
    assert_int_equal(pyro_source_discover_again(paths, 2, &limited, NULL, &list, NULL), PYRO_OK);
    assert_in_range(list.logs[2].parts[0].most_bytes, ALL - 1, (uint64_t)1 << 40);
    assert_int_equal(list.logs[3].parts[0].most_bytes, ALL);
    assert_string_equal(list.logs[3].parts[0].limit_option, "--no-input-limits");
    pyro_log_list_done(&list);
}

static void expect_refused(const char *path, const char *why)
{
    const struct pyro_known known = {.untrusted = path};
    char file[300];
    const char *paths[] = {file};
    struct pyro_log_list list;
    snprintf(file, sizeof(file), "%s/x.zip", path);
    assert_int_equal(pyro_source_discover_again(paths, 1, &known, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.unreadable_count, 1);
    assert_non_null(strstr(list.unreadable[0].message.ptr, why));
    pyro_log_list_done(&list);
}

/* What anybody sent has one directory, and members that are read where they lie: else listing it, or reading each
 * member, would go through all of it. */
static void test_untrusted_directories(void **state)
{
    static member MEMBERS[] = {{"a", EVENT}, {"b", EVENT}, {NULL, NULL}};
    char bytes[8000], made[24000];
    kit_write_zip(*state, "whole.zip", MEMBERS);
    FILE *file = fopen(kit_path(*state, "whole.zip"), "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    kit_write_text(*state, "sent/other", EVENT);
    const char *folder = kit_path(*state, "sent");
    kit_write(*state, "sent/x.zip", bytes, size - 30); /* without its end */
    expect_refused(folder, "inconsistent");
    memcpy(made, bytes, size); /* another end in the comment */
    made[size - 2] = 22;
    memcpy(made + size, bytes + size - 22, 22);
    kit_write(*state, "sent/x.zip", made, size + 22);
    expect_refused(folder, "inconsistent");
    enum { COMMENT = 12000 }; /* further from the end than some look */
    memset(made + size, ' ', COMMENT);
    made[size - 2] = (char)(COMMENT & 0xff);
    made[size - 1] = COMMENT >> 8;
    kit_write(*state, "sent/x.zip", made, size + COMMENT);
    expect_refused(folder, "inconsistent");
    memcpy(made, bytes, size); /* another method, in the directory */
    for (size_t at = 0; at + 12 < size; at++)
        if (memcmp(made + at, "PK\001\002", 4) == 0)
            made[at + 10] = 12;
    kit_write(*state, "sent/x.zip", made, size);
    expect_refused(folder, "neither stored nor deflated");
}

/* ---- Archives other than zip ---- */

static const struct {
    const char *format, *filter;
    bool sequential; /* members are found by going through all before them */
} FORMS[] = {{"gnutar", "none", false}, {"pax", "none", false},    {"ustar", "none", false},
             {"gnutar", "gzip", true},  {"gnutar", "bzip2", true}, {"gnutar", "xz", true},
             {"gnutar", "zstd", true},  {"gnutar", "lz4", true},   {"7zip", "none", true}};
enum { FORM_COUNT = sizeof(FORMS) / sizeof(*FORMS) };

static void discover_knowing(const char *path, const struct pyro_known *known, struct pyro_log_list *ret)
{
    assert_int_equal(pyro_source_discover_again(&path, 1, known, NULL, ret, NULL), PYRO_OK);
}

/* Unpacked or not, by its place or by its name: the same bytes, also of copies of parts, which outlive the list. */
static void test_other_formats(void **state)
{
    static member MEMBERS[] = {{"local-1_2", EVENT "b\n"}, {"./local-1_1", EVENT "a\n"},
                               {"sub/local-3", EVENT},     {"empty", ""},
                               {"sub/.hidden", EVENT},     {NULL, NULL}};
    static const char *const TEXTS[] = {EVENT "a\n", EVENT "b\n", EVENT};
    for (size_t i = 0; i < (size_t)FORM_COUNT * 2; i++) {
        const struct pyro_known known = {.unpack = i >= FORM_COUNT};
        struct pyro_log_list list;
        kit_write_archive(*state, "logs", FORMS[i % FORM_COUNT].format, FORMS[i % FORM_COUNT].filter, MEMBERS);
        discover_knowing(kit_path(*state, "logs"), &known, &list);
        assert_int_equal(list.count, 3);
        assert_int_equal(list.unreadable_count, 1);
        for (size_t k = 0; k < list.count; k++) {
            struct pyro_log_part part = list.logs[k].parts[0];
            assert_int_equal(part.unpacked != NULL, known.unpack && FORMS[i % FORM_COUNT].sequential);
            for (int copy = 0; copy < 3; copy++) {
                char *text = kit_read(&part, NULL, NULL, 0);
                assert_string_equal(text, TEXTS[k]);
                free(text);
                part.unpacked = NULL;
                part.place = copy ? 0 : part.place;
            }
        }
        pyro_log_list_done(&list);
    }
}

/* One that was replaced since it was listed is not read from where the members were. */
static void test_replaced(void **state)
{
    static member MEMBERS[] = {{"local-1", EVENT}, {NULL, NULL}}, OTHERS[] = {{"local-2", EVENT}, {NULL, NULL}};
    for (size_t i = 0; i < FORM_COUNT; i++) {
        struct pyro_log_list list;
        struct pyro_reader *reader = NULL;
        struct pyro_error error = {.size = sizeof(error)};
        kit_write_archive(*state, "a", FORMS[i].format, FORMS[i].filter, MEMBERS);
        kit_discover(*state, "a", &list);
        kit_write_archive(*state, "a", FORMS[i].format, FORMS[i].filter, OTHERS);
        assert_int_equal(pyro_reader_open(&list.logs[0].parts[0], NULL, &reader, &error), PYRO_ERROR_INPUT);
        assert_non_null(strstr(error.message, "cannot find"));
        pyro_log_list_done(&list);
    }
}

/* What anybody sent is not unpacked, and has few members if each is found by going through all before it. */
static void test_untrusted_formats(void **state)
{
    enum { MANY = 101 };
    static char names[MANY][16];
    static const char *members[MANY + 1][2];
    char folder[300];
    snprintf(folder, sizeof(folder), "%s", kit_path(*state, "sent"));
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "log-%zu", i);
        members[i][0] = names[i];
        members[i][1] = EVENT;
    }
    kit_write_text(*state, "sent/other", EVENT);
    for (size_t i = 0; i < FORM_COUNT; i++) {
        const struct pyro_known known = {.untrusted = folder, .unpack = true};
        struct pyro_log_list list;
        kit_write_archive(*state, "sent/x.zip", FORMS[i].format, FORMS[i].filter, (const char *const(*)[2])members);
        discover_knowing(kit_path(*state, "sent/x.zip"), &known, &list);
        assert_int_equal(list.count, FORMS[i].sequential ? 0 : MANY);
        assert_null(list.unpack);
        if (FORMS[i].sequential)
            assert_non_null(strstr(list.unreadable[0].message.ptr, "more than 100 files"));
        pyro_log_list_done(&list);
    }
}

/* Any byte changed or cut off: no crash, no endless loop; the sanitizers look on. */
static void test_damaged_formats(void **state)
{
    static member MEMBERS[] = {{"eventlog_v2_a/events_1_a", EVENT EVENT}, {"b", EVENT}, {NULL, NULL}};
    static char bytes[20000];
    for (size_t i = 0; i < FORM_COUNT; i++) {
        kit_write_archive(*state, "whole", FORMS[i].format, FORMS[i].filter, MEMBERS);
        FILE *file = fopen(kit_path(*state, "whole"), "rb");
        size_t size = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        for (size_t at = 0; at<size; at += size> 2000 ? 31 : 1) {
            bool cut = at % 2;
            bytes[at] = (char)(bytes[at] ^ (cut ? 0 : 1 << at / 2 % 8));
            kit_write(*state, "changed", bytes, cut ? at : size);
            bytes[at] = (char)(bytes[at] ^ (cut ? 0 : 1 << at / 2 % 8));
            const struct pyro_known known = {.unpack = at / 2 % 2};
            struct pyro_log_list list;
            discover_knowing(kit_path(*state, "changed"), &known, &list);
            for (size_t k = 0; k < list.count; k++) {
                struct pyro_reader *reader = NULL;
                char buffer[100];
                size_t got = 1, total = 0;
                if (pyro_reader_open(&list.logs[k].parts[0], NULL, &reader, NULL) != PYRO_OK)
                    continue;
                while (got > 0 && pyro_reader_read(reader, buffer, sizeof(buffer), &got, NULL) == PYRO_OK)
                    total += got;
                assert_true(total < 100000);
                pyro_reader_close(reader);
            }
            pyro_log_list_done(&list);
        }
    }
}

#define FOLDER_TEST(function) cmocka_unit_test_setup_teardown(function, kit_folder_setup, kit_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_single_members),
        FOLDER_TEST(test_rolling_folders),
        FOLDER_TEST(test_rolling_parts_at_the_root),
        FOLDER_TEST(test_archives_in_a_folder),
        FOLDER_TEST(test_without_logs),
        FOLDER_TEST(test_archive_inside_archive),
        FOLDER_TEST(test_vanished),
        FOLDER_TEST(test_cut_archive),
        FOLDER_TEST(test_flipped_bits),
        FOLDER_TEST(test_encrypted),
        FOLDER_TEST(test_names_beyond_ascii),
        FOLDER_TEST(test_untrusted_folders),
        FOLDER_TEST(test_untrusted_directories),
        FOLDER_TEST(test_other_formats),
        FOLDER_TEST(test_replaced),
        FOLDER_TEST(test_untrusted_formats),
        FOLDER_TEST(test_damaged_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
