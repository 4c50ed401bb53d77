#include "log_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "codec_kit.h"

static struct pyro_log_part part_of(const char *path)
{
    return (struct pyro_log_part){.path = pyro_slice_from(path)};
}

static struct pyro_strbuf zstd_of(const struct pyro_strbuf *plain)
{
    struct pyro_strbuf packed = {0};
    assert_true(pyro_strbuf_reserve(&packed, ZSTD_compressBound(plain->len)));
    packed.len = ZSTD_compress(packed.data, packed.capacity, plain->data, plain->len, 1);
    return packed;
}

static void test_plain_file(void **state)
{
    struct pyro_strbuf plain = kit_text(100000);
    kit_write(*state, "log", plain.data, plain.len);
    struct pyro_log_part part = part_of(kit_path(*state, "log"));
    struct pyro_reader *reader = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_reader_open(&part, NULL, &reader, &error), PYRO_OK);
    int fd = -1;
    uint64_t size = 0, consumed = 0;
    char first[10];
    assert_true(pyro_reader_is_plain_file(reader, &fd, &size));
    assert_true(size == plain.len);
    assert_int_equal(pread(fd, first, sizeof(first), 0), sizeof(first));
    assert_memory_equal(first, plain.data, sizeof(first));
    size_t got = 0;
    char buffer[1000];
    assert_int_equal(pyro_reader_read(reader, buffer, sizeof(buffer), &got, &error), PYRO_OK);
    assert_true(got > 0);
    pyro_reader_position(reader, &consumed, &size);
    assert_true(consumed == got && size == plain.len);
    assert_null(pyro_reader_damage(reader));
    pyro_reader_close(reader);
    const char *codec = NULL;
    char *text = kit_read(&part, &codec, NULL, 0);
    assert_string_equal(codec, "plain");
    assert_string_equal(text, plain.data);
    free(text);
    pyro_strbuf_done(&plain);
}

static void test_compressed_file(void **state)
{
    struct pyro_strbuf plain = kit_text(100000), packed = zstd_of(&plain);
    kit_write(*state, "log", packed.data, packed.len);
    struct pyro_log_part part = part_of(kit_path(*state, "log"));
    const char *codec = NULL;
    char *text = kit_read(&part, &codec, NULL, 0), damage[100];
    assert_string_equal(codec, "zstd");
    assert_int_equal(strlen(text), plain.len);
    free(text);
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    assert_int_equal(pyro_reader_open(&part, NULL, &reader, NULL), PYRO_OK);
    assert_false(pyro_reader_is_plain_file(reader, &fd, &size));
    pyro_reader_close(reader);
    for (size_t cut = 1; cut < packed.len; cut += cut < 100 ? 1 : 997) {
        kit_write(*state, "log", packed.data, cut);
        text = kit_read(&part, &codec, damage, sizeof(damage));
        assert_memory_equal(text, plain.data, strlen(text));
        assert_string_equal(codec, "zstd");
        assert_string_equal(damage, "zstd stream ends inside a frame");
        free(text);
    }
    pyro_strbuf_done(&packed);
    pyro_strbuf_done(&plain);
}

/* A child writes `bytes` into the FIFO at `path` in small pieces. */
static pid_t start_writer(const char *path, const struct pyro_strbuf *bytes)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; file && i < bytes->len; i += 10) {
        fwrite(bytes->data + i, 1, bytes->len - i < 10 ? bytes->len - i : 10, file);
        if (i % 1000 == 0)
            fflush(file);
    }
    if (file)
        fclose(file);
    _exit(0);
}

static void test_fifo(void **state)
{
    struct pyro_strbuf plain = kit_text(100000), packed = zstd_of(&plain);
    const char *path = kit_path(*state, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    struct pyro_log_part part = part_of(path);
    for (int i = 0; i < 2; i++) {
        assert_true(start_writer(path, i ? &packed : &plain) > 0);
        const char *codec = NULL;
        char *text = kit_read(&part, &codec, NULL, 0);
        assert_string_equal(codec, i ? "zstd" : "plain");
        assert_string_equal(text, plain.data);
        free(text);
    }
    pyro_strbuf_done(&packed);
    pyro_strbuf_done(&plain);
}

static void test_archive_through_pipe(void **state)
{
    struct pyro_strbuf zip = {0};
    pyro_strbuf_add_text(&zip, "PK\003\004 and so on");
    const char *path = kit_path(*state, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(start_writer(path, &zip) > 0);
    struct pyro_log_part part = part_of(path);
    struct pyro_reader *reader = NULL;
    struct pyro_error error = {.size = sizeof(error)};
    assert_int_equal(pyro_reader_open(&part, NULL, &reader, &error), PYRO_ERROR_INPUT);
    assert_non_null(strstr(error.message, "save it to a file"));
    assert_string_equal(error.path, path);
    pyro_strbuf_done(&zip);
}

static void test_standard_input(void **state)
{
    struct pyro_strbuf plain = kit_text(5000);
    kit_write(*state, "log", plain.data, plain.len);
    struct pyro_log_part part = part_of("-");
    int saved = dup(STDIN_FILENO);
    FILE *log = fopen(kit_path(*state, "log"), "rb");
    assert_int_equal(dup2(fileno(log), STDIN_FILENO), STDIN_FILENO);
    char *text = kit_read(&part, NULL, NULL, 0);
    assert_string_equal(text, plain.data);
    free(text);
    /* Standard input at another offset than 0 is not a file to pread() from. */
    assert_int_equal(lseek(STDIN_FILENO, 100, SEEK_SET), 100);
    struct pyro_reader *reader = NULL;
    int fd;
    uint64_t size;
    assert_int_equal(pyro_reader_open(&part, NULL, &reader, NULL), PYRO_OK);
    assert_false(pyro_reader_is_plain_file(reader, &fd, &size));
    pyro_reader_close(reader);
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO); /* closing the reader left it open */
    close(saved);
    fclose(log);
    pyro_strbuf_done(&plain);
}

static void test_cannot_open(void **state)
{
    static const struct {
        const char *path, *message;
    } CASES[] = {{"missing", "No such file"}, {"", "is a folder"}, {"../../dev/null", "is a device"}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct pyro_log_part part = part_of(kit_path(*state, CASES[i].path));
        struct pyro_reader *reader = NULL;
        struct pyro_error error = {.size = sizeof(error)};
        assert_int_equal(pyro_reader_open(&part, NULL, &reader, &error), PYRO_ERROR_INPUT);
        assert_non_null(strstr(error.message, CASES[i].message));
        assert_string_equal(error.path, part.path.ptr);
        assert_null(reader);
        assert_int_equal(pyro_reader_open(&part, NULL, &reader, NULL), PYRO_ERROR_INPUT);
    }
}

/* ---- Memory that runs out ---------------------------------------------------------------------------------------- */

struct meter {
    long left, live;
};

static void *metered_allocate(void *context, size_t size)
{
    struct meter *meter = context;
    if (meter->left-- <= 0)
        return NULL;
    meter->live++;
    return malloc(size);
}

static void *metered_reallocate(void *context, void *memory, size_t size)
{
    struct meter *meter = context;
    if (meter->left-- <= 0)
        return NULL;
    meter->live += memory == NULL;
    return realloc(memory, size);
}

static void metered_release(void *context, void *memory)
{
    ((struct meter *)context)->live--;
    free(memory);
}

static enum pyro_status discover_and_read(const char *path, const struct pyro_allocator *allocator)
{
    struct pyro_log_list list;
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_reader *reader = NULL;
    char buffer[512];
    size_t got = 1;
    enum pyro_status status = pyro_source_discover(&path, 1, allocator, &list, &error);
    for (size_t i = 0; i < list.count && status == PYRO_OK; i++) {
        status = pyro_reader_open(&list.logs[i].parts[0], allocator, &reader, &error);
        for (got = 1; got > 0 && status == PYRO_OK;)
            status = pyro_reader_read(reader, buffer, sizeof(buffer), &got, &error);
        pyro_reader_close(reader);
        reader = NULL;
    }
    pyro_log_list_done(&list);
    return status;
}

static void test_out_of_memory(void **state)
{
    struct pyro_strbuf plain = kit_text(100000), packed = zstd_of(&plain);
    kit_write(*state, "logs/a.zstd", packed.data, packed.len);
    kit_write(*state, "logs/eventlog_v2_b/events_1_b", plain.data, plain.len);
    kit_write_text(*state, "logs/c.gz", "\x1f\x8b\x08 cut");
    kit_write_text(*state, "logs/d.lzf", "ZV");
    kit_write(*state, "logs/e", "LZ4Block\x15\5\0\0\0\5\0\0\0\1\2\3\4hello", 26);
    kit_write(*state, "logs/f", "\x82SNAPPY\0\0\0\0\1\0\0\0\1\0\0\0\4\xa8\x0a\4h", 24);
    kit_write_text(*state, "logs/empty", "");
    static const char *const MEMBERS[][2] = {{"x", "{}\n"}, {"y", ""}, {NULL, NULL}};
    kit_write_zip(*state, "logs/z.zip", MEMBERS);
    char path[100];
    snprintf(path, sizeof(path), "%s", kit_path(*state, "logs"));
    struct meter meter = {0, 0};
    struct pyro_allocator allocator = {sizeof(allocator), metered_allocate, metered_reallocate, metered_release,
                                       &meter};
    enum pyro_status status = PYRO_ERROR_MEMORY;
    long allowed = 0;
    for (; status == PYRO_ERROR_MEMORY && allowed < 1000; allowed++) {
        meter.left = allowed;
        status = discover_and_read(path, &allocator);
        assert_int_equal(meter.live, 0);
    }
    assert_int_equal(status, PYRO_OK);
    assert_true(allowed > 10);
    pyro_strbuf_done(&packed);
    pyro_strbuf_done(&plain);
}

#define FOLDER_TEST(function) cmocka_unit_test_setup_teardown(function, kit_folder_setup, kit_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(test_plain_file),           FOLDER_TEST(test_compressed_file), FOLDER_TEST(test_fifo),
        FOLDER_TEST(test_archive_through_pipe), FOLDER_TEST(test_standard_input),  FOLDER_TEST(test_cannot_open),
        FOLDER_TEST(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
