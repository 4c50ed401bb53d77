/* Loading files with threads: their number, and where chunks end, do not show. */
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"

enum { KIB = 1024, MIB = 1024 * KIB };

/* Some 7 MiB: newlines at, before and behind multiples of 64 KiB and 1 MiB, short lines around them, long ones over
 * several chunks, lines just within and just beyond `limit`. */
static void make_awkward_log(struct pyro_strbuf *log, size_t limit, bool newline_at_end)
{
    int task = 100;
    pyro_strbuf_add_text(log, kit_small_log);
    for (size_t multiple = 64 * KIB; multiple <= 5 * MIB; multiple += multiple < MIB ? 64 * KIB : MIB)
        for (int shift = -1; shift <= 1; shift++) {
            size_t wanted = multiple + (size_t)(shift + 200 * shift);
            while (log->len + 2000 < wanted)
                kit_add_task(log, task++);
            if (log->len + 100 < wanted)
                kit_add_filler(log, wanted - log->len);
            kit_add_task(log, task++);
            pyro_strbuf_add_text(log, "\n\r\n");
        }
    for (int i = -1; i <= 2; i++) {
        kit_add_filler(log, limit + (size_t)i); /* with its newline: i <= 1 is within */
        kit_add_task(log, task++);
    }
    kit_add_filler(log, 2 * MIB + 77);
    pyro_strbuf_add_text(log, "bad line\n");
    kit_add_filler(log, 64 * KIB);
    kit_add_task(log, task++);
    if (newline_at_end)
        kit_add_filler(log, 300 * KIB);
    else
        pyro_strbuf_add(log, log->data, 300);
}

static void compare(const char *path, const struct pyro_strbuf *log, uint64_t max_record)
{
    struct pyro_strbuf one, other;
    struct kit_options options = {KIT_SIZES, .work.threads = 1, .load.max_record_bytes = max_record};
    pyro_strbuf_init(&one, NULL);
    pyro_strbuf_init(&other, NULL);
    kit_report(kit_load(path, &options), &one);
    for (options.work.threads = 2; options.work.threads <= 4; options.work.threads++) {
        kit_report(kit_load(path, &options), &other);
        assert_string_equal(other.data, one.data);
    }
    static const size_t pieces[] = {1000, 64 * KIB, MIB, 100 * MIB};
    for (size_t i = 0; i < 4; i++) {
        kit_report(kit_feed(path, log->data, log->len, pieces[i], &options), &other);
        assert_string_equal(other.data, one.data);
    }
    pyro_strbuf_done(&one);
    pyro_strbuf_done(&other);
}

static void threads_and_chunks_do_not_show(void **state)
{
    (void)state;
    static const size_t limits[] = {0, 4096, 64 * KIB, 100000, MIB, MIB + 1};
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        struct pyro_strbuf log;
        const char *path = kit_path("awkward");
        pyro_strbuf_init(&log, NULL);
        make_awkward_log(&log, limits[i] ? limits[i] : 5000, i % 2);
        kit_write(path, log.data, log.len);
        compare(path, &log, limits[i]);
        pyro_strbuf_done(&log);
    }
}

static void long_records_are_counted(void **state)
{
    (void)state;
    for (int at_end = 0; at_end < 2; at_end++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            struct pyro_strbuf log, report;
            struct kit_options options = {KIT_SIZES, .work.threads = threads, .load.max_record_bytes = 70000};
            const char *path = kit_path("long");
            pyro_strbuf_init(&log, NULL);
            pyro_strbuf_init(&report, NULL);
            pyro_strbuf_add_text(&log, kit_small_log);
            kit_add_filler(&log, 3 * MIB);
            kit_add_task(&log, 50);
            kit_add_filler(&log, 70002);
            kit_add_filler(&log, 70001); /* this one is read */
            if (at_end) {
                kit_add_filler(&log, 200000);
                log.len -= 3; /* and has no end */
            }
            kit_write(path, log.data, log.len);
            kit_report(kit_load(path, &options), &report);
            char expected[100];
            snprintf(expected, sizeof(expected), "\"bad_lines\": %d,", 1 + 2 + at_end);
            assert_non_null(strstr(report.data, expected));
            snprintf(expected, sizeof(expected), "\"bytes\": %zu, \"lines\": %d,", log.len, 15 + 4 + at_end);
            assert_non_null(strstr(report.data, expected));
            pyro_strbuf_done(&log);
            pyro_strbuf_done(&report);
        }
}

static int refuse(void *context, const struct pyro_progress *progress)
{
    ++*(int *)context;
    assert_true(progress->bytes_total > 2 * MIB);
    return 1;
}

static void progress_cancels(void **state)
{
    (void)state;
    struct pyro_strbuf log;
    const char *path = kit_path("cancelled");
    pyro_strbuf_init(&log, NULL);
    make_awkward_log(&log, 5000, true);
    kit_write(path, log.data, log.len);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct pyro_error error = {.size = sizeof(error)};
        pyro_inputs *inputs = NULL;
        pyro_app *app = NULL;
        int calls = 0;
        struct kit_options options = {KIT_SIZES, .work.threads = threads, .work.progress = refuse,
                                      .work.progress_context = &calls};
        assert_int_equal(pyro_inputs_open(&path, 1, &options.load, &options.work, &inputs, &error), PYRO_OK);
        assert_int_equal(pyro_app_load(inputs, 0, &options.load, &options.work, &app, &error), PYRO_ERROR_CANCELLED);
        assert_int_equal(calls, 1);
        assert_null(app);
        pyro_inputs_close(inputs);
    }
    pyro_strbuf_done(&log);
}

struct shrinking {
    const char *path;
    off_t to;
};

static int shrink(void *context, const struct pyro_progress *progress)
{
    const struct shrinking *shrinking = context;
    if (progress->bytes_done > 0) /* something was read: there will be a report */
        assert_int_equal(truncate(shrinking->path, shrinking->to), 0);
    return 0;
}

static void file_that_shrinks(void **state)
{
    (void)state;
    struct pyro_strbuf log;
    const char *path = kit_path("shrinking");
    static const off_t sizes[] = {0, 1, 64 * KIB, 2 * MIB, 2 * MIB + 333};
    pyro_strbuf_init(&log, NULL);
    make_awkward_log(&log, 5000, true);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            struct shrinking shrinking = {path, sizes[i]};
            struct kit_options options = {KIT_SIZES, .work.threads = threads, .work.progress = shrink,
                                          .work.progress_context = &shrinking};
            struct pyro_strbuf report;
            kit_write(path, log.data, log.len);
            pyro_strbuf_init(&report, NULL);
            kit_report(kit_load(path, &options), &report); /* what was complete is read */
            pyro_strbuf_done(&report);
        }
    pyro_strbuf_done(&log);
}

static void nothing_to_load(void **state)
{
    (void)state;
    static const char *const texts[] = {"\n \n", "no log\n", "{\"Event\":\"Own\"}\n"};
    for (size_t i = 0; i < 3; i++) {
        struct pyro_error error = {.size = sizeof(error)};
        pyro_inputs *inputs = NULL;
        pyro_app *app = NULL;
        const char *path = kit_path("empty");
        kit_write(path, texts[i], strlen(texts[i]));
        assert_int_equal(pyro_inputs_open(&path, 1, NULL, NULL, &inputs, &error), PYRO_OK);
        if (pyro_inputs_count(inputs) == 1) {
            assert_int_equal(pyro_app_load(inputs, 0, NULL, NULL, &app, &error), PYRO_ERROR_INPUT);
            assert_string_equal(error.path, path);
        } else {
            assert_int_equal(pyro_inputs_unreadable_count(inputs), 1);
        }
        assert_int_equal(pyro_app_load(inputs, 7, NULL, NULL, &app, &error), PYRO_ERROR_ARGUMENT);
        pyro_inputs_close(inputs);
    }
}

/* More parts than a process may have files open; each holds a few lines, a line never crosses from one to the next. */
static void thousands_of_parts(void **state)
{
    (void)state;
    enum { PARTS = 3000 };
    struct pyro_strbuf report;
    char folder[300], path[400];
    snprintf(folder, sizeof(folder), "%s", kit_path("eventlog_v2_app-1"));
    assert_int_equal(mkdir(folder, 0700), 0);
    pyro_strbuf_init(&report, NULL);
    for (int i = 1; i <= PARTS; i++) {
        struct pyro_strbuf text;
        pyro_strbuf_init(&text, NULL);
        snprintf(path, sizeof(path), "%s/events_%d_app-1", folder, i);
        if (i == 1)
            pyro_strbuf_add_text(&text, kit_small_log);
        kit_add_task(&text, 100 + i);
        if (i % 1000 == 0)
            pyro_strbuf_add_text(&text, "{\"Event\":"); /* cut: what follows is another part's first line */
        if (i % 7 == 0 && i % 1000 != 0)
            kit_add_filler(&text, 1500);
        kit_write(path, text.data, text.len);
        pyro_strbuf_done(&text);
    }
    struct pyro_strbuf first;
    pyro_strbuf_init(&first, NULL);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct kit_options options = {KIT_SIZES, .work.threads = threads};
        kit_report(kit_load(folder, &options), threads == 1 ? &first : &report);
        if (threads > 1)
            assert_string_equal(report.data, first.data);
    }
    assert_non_null(strstr(first.data, "\"bad_lines\": 4,"));
    assert_non_null(strstr(first.data, "\"tasks_ended\": 3002,"));
    pyro_strbuf_done(&first);
    pyro_strbuf_done(&report);
}

/* A zstd frame of raw blocks. */
static void add_frame(struct pyro_strbuf *log, const char *text, size_t len, bool damaged)
{
    enum { BLOCK = 100000 };
    pyro_strbuf_add(log, "\x28\xb5\x2f\xfd\x00\x50", 6);
    for (size_t done = 0, size; done < len || done == 0; done += size) {
        size = len - done < BLOCK ? len - done : BLOCK;
        bool last = done + size == len && !damaged;
        unsigned header = (unsigned)size << 3 | last;
        for (int i = 0; i < 3; i++)
            pyro_strbuf_add_char(log, (char)(header >> 8 * i));
        pyro_strbuf_add(log, text + done, size);
        if (size == 0)
            break;
    }
    if (damaged)
        pyro_strbuf_add(log, "\x2d\x00\x00garbage", 10); /* a compressed block that is none, and the last */
}

/* Frames are decompressed side by side: where they end does not show, in the middle of lines or of records that are too
 * long, nor what follows a damaged one. */
static void frames_do_not_show(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 700, 30000, 0, 99999, 250000, 5 * MIB};
    for (int damaged = 0; damaged < 2; damaged++) {
        struct pyro_strbuf text, stored, kept, expected, report;
        pyro_strbuf_init(&text, NULL);
        pyro_strbuf_init(&stored, NULL);
        pyro_strbuf_init(&kept, NULL);
        pyro_strbuf_init(&expected, NULL);
        pyro_strbuf_init(&report, NULL);
        make_awkward_log(&text, 70000, true);
        for (size_t at = 0, i = 0, size; at < text.len; at += size, i++) {
            size_t wanted = sizes[i % (sizeof(sizes) / sizeof(*sizes))];
            size = text.len - at < wanted ? text.len - at : wanted;
            bool here = damaged && i == 11;
            if (i <= 11 || !damaged)
                pyro_strbuf_add(&kept, text.data + at, size);
            add_frame(&stored, text.data + at, size, here);
        }
        struct kit_options options = {KIT_SIZES, .load.max_record_bytes = 70000, .work.threads = 1};
        const char *path = kit_path("frames");
        kit_write(path, kept.data, kept.len);
        kit_report(kit_load(path, &options), &expected);
        kit_write(path, stored.data, stored.len);
        for (options.work.threads = 1; options.work.threads <= 4; options.work.threads++) {
            kit_report(kit_load(path, &options), &report);
            const char *note = strstr(report.data, "zstd stream is damaged");
            assert_int_equal(note != NULL, damaged);
            if (!damaged)
                assert_string_equal(report.data, expected.data);
            char counted[100];
            snprintf(counted, sizeof(counted), "\"bytes\": %zu, \"lines\": ", kept.len);
            assert_non_null(strstr(report.data, counted));
            assert_non_null(strstr(expected.data, counted));
        }
        pyro_strbuf_done(&text);
        pyro_strbuf_done(&stored);
        pyro_strbuf_done(&kept);
        pyro_strbuf_done(&expected);
        pyro_strbuf_done(&report);
    }
}

static void add_phase(void *context, const struct pyro_phase *phase)
{
    struct pyro_strbuf *names = context;
    if (phase->part_of)
        pyro_strbuf_add_char(names, '.');
    pyro_strbuf_add_text(names, phase->name);
    pyro_strbuf_add_char(names, ' ');
    assert_in_range(phase->threads, 1, 2);
}

/* Phases come on the calling thread, parts behind the phase that they are parts of; a caller that asks for none gets
 * none. */
static void phases_are_reported(void **state)
{
    (void)state;
    struct pyro_strbuf names;
    pyro_strbuf_init(&names, NULL);
    const char *path = kit_path("phases.log");
    kit_write(path, kit_small_log, strlen(kit_small_log));
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct kit_options options = {KIT_SIZES, .work.threads = threads, .work.phase = add_phase,
                                      .work.phase_context = &names};
        pyro_app *app = kit_load(path, &options);
        pyro_diagnosis *diagnosis = NULL;
        assert_int_equal(pyro_diagnose(app, NULL, &options.work, &diagnosis, NULL), PYRO_OK);
        assert_string_equal(names.data, "open load .read .decode .build finish analyze judge price recommend ");
        pyro_strbuf_clear(&names);
        pyro_diagnosis_free(diagnosis);
        pyro_app_release(app);
    }
    struct kit_options silent = {KIT_SIZES, .work.phase_context = &names};
    pyro_app_release(kit_load(path, &silent));
    assert_int_equal(names.len, 0);
    pyro_strbuf_done(&names);
}

static int clean(void **state)
{
    (void)state;
    kit_clean();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_chunks_do_not_show),
        cmocka_unit_test(long_records_are_counted),
        cmocka_unit_test(progress_cancels),
        cmocka_unit_test(file_that_shrinks),
        cmocka_unit_test(nothing_to_load),
        cmocka_unit_test(thousands_of_parts),
        cmocka_unit_test(phases_are_reported),
        cmocka_unit_test(frames_do_not_show),
    };
    return cmocka_run_group_tests_name("load", tests, NULL, clean);
}
