/* log_chunks exact [LEVEL] | templates | chunks: what the mining of text logs makes of many small logs, in one process.
 *
 * Logs come from standard input. A line of a form feed alone ends a log; one of a vertical tab alone ends a file of it
 * (chunks). exact: any lines. templates and chunks: LOGGER, a tab and the message, one record a line.
 *
 * exact and chunks write for each chunk a line "COUNT LINES SHARE" and its lines; templates writes the number of each
 * record's template. A form feed ends each log's output. Tests and bench/log_templates.py read it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/logs/repeats/chunks.h"
#include "decode/logs/repeats/templates.h"
#include "model/column.h"

struct run {
    struct pyro_chunks_options options;
    bool only_templates;
    struct pyro_chunks *chunks;
    struct pyro_templates *templates;
    unsigned file; /* of this log */
    struct pyro_error error;
};

static void stop(const char *what)
{
    fprintf(stderr, "log_chunks: %s\n", what);
    exit(2);
}

static void begin_log(struct run *run)
{
    run->file = 0;
    if (run->only_templates)
        run->templates = pyro_templates_new(NULL);
    else if (pyro_chunks_new(NULL, &run->options, &run->chunks, &run->error) != PYRO_OK)
        stop(run->error.message);
    if (run->only_templates && !run->templates)
        stop("no memory");
}

static void end_log(struct run *run)
{
    const struct pyro_log_chunk *chunks;
    size_t count = 0;
    if (!run->only_templates && pyro_chunks_finish(run->chunks, &chunks, &count, &run->error) != PYRO_OK)
        stop(run->error.message);
    for (size_t i = 0; i < count; i++) {
        printf("%" PRIu64 " %zu %.9f\n", chunks[i].count, chunks[i].line_count, chunks[i].share);
        for (size_t k = 0; k < chunks[i].line_count; k++)
            printf("%.*s\n", (int)chunks[i].lines[k].len, chunks[i].lines[k].ptr);
    }
    puts("\f");
    pyro_templates_free(run->templates);
    pyro_chunks_free(run->chunks);
    run->templates = NULL;
    run->chunks = NULL;
    begin_log(run);
}

static void take_record(struct run *run, struct pyro_slice line)
{
    const char *tab = memchr(line.ptr, '\t', line.len);
    if (!tab)
        stop("a record without a tab");
    char path[16];
    snprintf(path, sizeof(path), "file%u", run->file);
    struct pyro_log_file file = {.path = pyro_slice_from(path)};
    struct pyro_log_record record = {
        .time_ms = PYRO_NONE,
        .level = PYRO_LEVEL_INFO,
        .logger = {line.ptr, (size_t)(tab - line.ptr)},
        .message = {tab + 1, line.len - (size_t)(tab + 1 - line.ptr)},
    };
    if (run->only_templates)
        printf("%" PRId32 "\n", pyro_templates_id(run->templates, &record));
    else if (pyro_chunks_take(run->chunks, &file, &record, &run->error) != PYRO_OK)
        stop(run->error.message);
}

static void take_line(struct run *run, struct pyro_slice line)
{
    if (pyro_slice_is(line, "\f"))
        end_log(run);
    else if (pyro_slice_is(line, "\v"))
        run->file++;
    else if (!run->options.exact)
        take_record(run, line);
    else if (pyro_chunks_take_line(run->chunks, line, &run->error) != PYRO_OK)
        stop(run->error.message);
}

int main(int argc, char **argv)
{
    struct run run = {.error = {.size = sizeof(run.error)}};
    char *text = NULL;
    size_t capacity = 0;
    if (argc < 2)
        stop("exact [LEVEL], templates or chunks?");
    run.options.exact = strcmp(argv[1], "exact") == 0;
    run.options.level = argc > 2 ? pyro_slice_from(argv[2]) : PYRO_SLICE_NULL;
    run.only_templates = strcmp(argv[1], "templates") == 0;
    begin_log(&run);
    for (ssize_t len; (len = getline(&text, &capacity, stdin)) > 0;) {
        if (text[len - 1] == '\n')
            len--;
        take_line(&run, (struct pyro_slice){text, (size_t)len});
    }
    pyro_templates_free(run.templates);
    pyro_chunks_free(run.chunks);
    free(text);
    return 0;
}
