/* Logs that Spark wrote with each of its codecs: all of the same job, so that they hold the same kinds of lines.
 * argv[1]: the folder with the recorded logs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/files/whole_file.h"
#include "log_kit.h"
#include "source/codecs/zstd_frame.h"

static const char *root;

struct content {
    size_t lines, stages_completed, tasks_ended;
    char codec[16];
};

static void count_lines(char *text, struct content *content)
{
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_true(strncmp(line, "{\"Event\":\"", 10) == 0);
        assert_int_equal(end[-1], '}');
        content->lines++;
        content->stages_completed += strstr(line, "\"SparkListenerStageCompleted\"") != NULL;
        content->tasks_ended += strstr(line, "\"SparkListenerTaskEnd\"") != NULL;
    }
}

static struct content read_log(const char *folder, bool in_progress)
{
    char path[1000];
    struct pyro_log_list list;
    struct content content = {0};
    snprintf(path, sizeof(path), "%s/%s", root, folder);
    const char *paths[] = {path};
    assert_int_equal(pyro_source_discover(paths, 1, NULL, &list, NULL), PYRO_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.unreadable_count, 0);
    assert_int_equal(list.logs[0].in_progress, in_progress);
    assert_true(list.logs[0].missing_parts == 0);
    for (size_t i = 0; i < list.logs[0].part_count; i++) {
        const char *codec = NULL;
        char damage[200], *text = kit_read(&list.logs[0].parts[i], &codec, damage, sizeof(damage));
        snprintf(content.codec, sizeof(content.codec), "%s", codec);
        if (in_progress) { /* the copy may end inside a line */
            char *last = strrchr(text, '\n');
            assert_non_null(last);
            last[1] = '\0';
        } else {
            assert_string_equal(damage, "");
        }
        count_lines(text, &content);
        free(text);
    }
    pyro_log_list_done(&list);
    return content;
}

static void test_every_codec(void **state)
{
    (void)state;
    static const char *const CODECS[] = {"zstd", "lz4", "lzf", "snappy", "uncompressed"};
    for (int rolling = 0; rolling < 2; rolling++) {
        struct content first = {0};
        for (size_t i = 0; i < sizeof(CODECS) / sizeof(CODECS[0]); i++) {
            char folder[100];
            snprintf(folder, sizeof(folder), "codecs/%s-%s", CODECS[i], rolling ? "rolling" : "single");
            struct content content = read_log(folder, false);
            assert_string_equal(content.codec, strcmp(CODECS[i], "uncompressed") == 0 ? "plain" : CODECS[i]);
            if (i == 0)
                first = content;
            assert_true(content.tasks_ended > 0 && content.stages_completed > 0);
            assert_int_equal(content.tasks_ended, first.tasks_ended);
            assert_int_equal(content.stages_completed, first.stages_completed);
        }
    }
}

/* Spark ends a frame with each flush: all of them decompress alone. */
static void test_every_zstd_frame_is_a_unit(void **state)
{
    (void)state;
    enum { LIMIT = 1024 * 1024, FRAMES = 30 };
    char path[1000];
    struct pyro_strbuf log = {0};
    struct pyro_zstd_frame frame = {0};
    size_t frames = 0;
    snprintf(path, sizeof(path), "%s/codecs/zstd-single/local-1795241505716.zstd", root);
    assert_int_equal(pyro_read_whole(path, LIMIT, &log, NULL), PYRO_OK);
    for (size_t at = 0; at < log.len; at += frame.stored, frames++)
        assert_int_equal(pyro_zstd_frame_find((const unsigned char *)log.data + at, log.len - at, &frame),
                         PYRO_ZSTD_FRAME_WHOLE);
    assert_int_equal(frames, FRAMES);
    pyro_strbuf_done(&log);
}

static void test_rolling_parts(void **state)
{
    (void)state;
    assert_true(read_log("codecs/zstd-rolling-parts", false).lines > 0);
}

static void test_in_progress(void **state)
{
    (void)state;
    assert_true(read_log("inprogress/zstd-single", true).lines > 0);
    assert_true(read_log("inprogress/zstd-rolling", true).lines > 0);
    assert_true(read_log("inprogress/uncompressed-single", true).lines > 0);
}

static void test_zip_of_the_history_server(void **state)
{
    (void)state;
    struct content single = read_log("zip/single.zip", false), rolling = read_log("zip/rolling.zip", false);
    assert_string_equal(single.codec, "zstd");
    assert_int_equal(single.lines, read_log("codecs/zstd-single", false).lines);
    assert_int_equal(rolling.lines, read_log("codecs/zstd-rolling", false).lines);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_codec),
        cmocka_unit_test(test_every_zstd_frame_is_a_unit),
        cmocka_unit_test(test_rolling_parts),
        cmocka_unit_test(test_in_progress),
        cmocka_unit_test(test_zip_of_the_history_server),
    };
    if (argc != 2)
        return 77; /* skipped, as Meson understands it */
    root = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
