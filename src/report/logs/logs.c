/* The calls of pyrometer.h about text logs. */
#include "report/logs/logs.h"
#include "base/options.h"
#include "decode/logs/named_task.h"
#include "report/shared/draw.h"

enum { TOP_SHOWN = 20, ERRORS_SHOWN = 20 };

/* What a call is to read: paths or parts. */
struct sources {
    const char *const *paths;
    const struct pyro_log_part *parts;
    size_t count;
};

/* One call: what was asked for, and what it needs while it runs. */
struct call {
    struct pyro_logs_options asked;
    struct pyro_report_options report;
    struct pyro_options options;
    struct pyro_log_filter filter;
    struct pyro_log_pattern *pattern;
    struct pyro_log_reading reading;
    struct pyro_log_input input;
    enum pyro_format format;
    const struct pyro_writer *writer;
    struct pyro_error *error;
};

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static enum pyro_status take_level(struct call *call)
{
    char word[16];
    size_t len = 0;
    const char *given = call->asked.level;
    for (; given && given[len] && len + 1 < sizeof(word); len++)
        word[len] = (char)(given[len] >= 'a' && given[len] <= 'z' ? given[len] - 'a' + 'A' : given[len]);
    call->filter.level = given ? pyro_log_level_of((struct pyro_slice){word, len}) : PYRO_LEVEL_NONE;
    if (given && call->filter.level == PYRO_LEVEL_NONE)
        return pyro_error_set(call->error, PYRO_ERROR_ARGUMENT,
                              "'%s' is not a level: trace, debug, info, warn, error or fatal", given);
    return PYRO_OK;
}

static enum pyro_status take_time(struct call *call, const char *text, int64_t *ret_ms)
{
    if (!text || pyro_log_filter_time(text, call->asked.utc_offset_s, ret_ms))
        return PYRO_OK;
    return pyro_error_set(call->error, PYRO_ERROR_ARGUMENT,
                          "'%s' is not a time such as 2024-03-01T10:15:00 or 2024-03-01T10:15:00+01:00", text);
}

static enum pyro_status take_stage(struct call *call)
{
    struct pyro_slice text = pyro_slice_from(call->asked.stage);
    if (!text.ptr || (text.len > 0 && pyro_log_number_read(text, &call->filter.stage) == text.len))
        return PYRO_OK;
    return pyro_error_set(call->error, PYRO_ERROR_ARGUMENT, "'%s' is not the number of a stage", text.ptr);
}

static enum pyro_status take_options(struct call *call, const struct pyro_logs_options *asked,
                                     const struct pyro_options *options)
{
    struct pyro_error *error = call->error;
    call->asked = (struct pyro_logs_options){.size = sizeof(call->asked)};
    PYRO_TRY(PYRO_TAKE(&call->asked, asked, error));
    PYRO_TRY(pyro_options_resolve(options, &call->options, error));
    PYRO_TRY(pyro_report_options_read(call->asked.report, &call->report, error));
    PYRO_TRY(take_level(call));
    PYRO_TRY(take_time(call, call->asked.since, &call->filter.since_ms));
    PYRO_TRY(take_time(call, call->asked.until, &call->filter.until_ms));
    PYRO_TRY(take_stage(call));
    call->filter.executor = pyro_slice_from(call->asked.executor);
    if (call->asked.grep)
        PYRO_TRY(pyro_log_filter_grep(&call->filter, call->asked.grep, error));
    if (call->asked.pattern)
        PYRO_TRY(pyro_log_pattern_new(call->asked.pattern, call->options.allocator, &call->pattern, error));
    return PYRO_OK;
}

static enum pyro_status begin(struct call *call, const struct sources *sources, const struct pyro_logs_options *asked,
                              enum pyro_format format, const struct pyro_options *options,
                              const struct pyro_writer *writer, struct pyro_error *error)
{
    *call = (struct call){.format = format, .writer = writer, .error = error};
    pyro_error_clear(error);
    pyro_log_filter_init(&call->filter);
    if ((!sources->paths && !sources->parts) || sources->count == 0 || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the paths or the writer are missing");
    if (format != PYRO_FORMAT_TEXT && format != PYRO_FORMAT_JSON && format != PYRO_FORMAT_CSV)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "text logs are reported as text, json or csv");
    PYRO_TRY(take_options(call, asked, options));
    call->reading = (struct pyro_log_reading){.paths = sources->paths,
                                              .path_count = sources->paths ? sources->count : 0,
                                              .parts = sources->parts,
                                              .part_count = sources->parts ? sources->count : 0,
                                              .options = &call->options,
                                              .unlimited = call->asked.unlimited != 0,
                                              .pattern = call->pattern,
                                              .has_zone = call->asked.has_zone != 0,
                                              .offset_s = call->asked.utc_offset_s,
                                              .filter = &call->filter};
    return PYRO_OK;
}

static void end(struct call *call)
{
    pyro_log_input_done(&call->input);
    pyro_log_filter_done(&call->filter);
    pyro_log_pattern_free(call->pattern);
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

static void tell(const struct call *call, const struct pyro_log_problem *problems, size_t count)
{
    for (size_t i = 0; call->asked.note && i < count; i++)
        call->asked.note(call->asked.note_context, problems[i].path.ptr ? problems[i].path.ptr : "",
                         problems[i].reason.ptr);
}

static enum pyro_status read_logs(struct call *call, pyro_log_consumer *take, pyro_log_line_consumer *take_line,
                                  void *context)
{
    call->reading.take = take;
    call->reading.take_line = take_line;
    call->reading.context = context;
    return pyro_logs_read(&call->reading, &call->input, call->error);
}

/* `usual`: rows of a text if the caller asks for no number of them. */
static struct pyro_log_document begin_document(const struct call *call, struct pyro_output *output, size_t usual)
{
    tell(call, call->input.files.unreadable.items, call->input.files.unreadable.count);
    tell(call, call->input.notes.items, call->input.notes.count);
    pyro_output_init(output, call->writer, call->options.allocator);
    struct pyro_log_document document = {.output = output,
                                         .input = &call->input,
                                         .report = &call->report,
                                         .format = call->format,
                                         .limit = call->asked.limit == 0          ? usual
                                                  : call->asked.limit == SIZE_MAX ? 0
                                                                                  : call->asked.limit,
                                         .redaction = call->asked.redaction};
    pyro_strbuf_init(&document.line, call->options.allocator);
    return document;
}

static enum pyro_status end_document(struct pyro_log_document *document, struct pyro_error *error)
{
    document->output->buffer.failed |= document->line.failed;
    pyro_strbuf_done(&document->line);
    return pyro_output_done(document->output, error);
}

static enum pyro_status report_errors(struct call *call, struct pyro_log_errors *errors)
{
    const struct pyro_log_error *rows;
    size_t count;
    uint64_t other;
    struct pyro_output output;
    PYRO_TRY(read_logs(call, pyro_log_errors_take, NULL, errors));
    PYRO_TRY(pyro_log_errors_finish(errors, &rows, &count, &other, call->error));
    struct pyro_log_document document =
        begin_document(call, &output, call->format == PYRO_FORMAT_TEXT ? ERRORS_SHOWN : 0);
    pyro_log_errors_write(&document, rows, count, other);
    return end_document(&document, call->error);
}

static enum pyro_status write_errors(const struct sources *sources, const struct pyro_logs_options *asked,
                                     enum pyro_format format, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    struct call call;
    struct pyro_log_errors *errors = NULL;
    enum pyro_status status = begin(&call, sources, asked, format, options, writer, error);
    if (status == PYRO_OK)
        status = pyro_log_errors_new(call.options.allocator, call.asked.redaction, &errors, error);
    if (status == PYRO_OK)
        status = report_errors(&call, errors);
    pyro_log_errors_free(errors);
    end(&call);
    return status;
}

static enum pyro_status report_timeline(struct call *call, struct pyro_line_timeline *timeline)
{
    const struct pyro_line_filter filter = {.executor = call->filter.executor, .stage = call->filter.stage};
    struct pyro_line_result result;
    struct pyro_output output;
    call->filter.whole_runs = true;
    PYRO_TRY(read_logs(call, pyro_line_timeline_take, NULL, timeline));
    PYRO_TRY(pyro_line_timeline_finish(timeline, &filter, &result, call->error));
    struct pyro_log_document document = begin_document(call, &output, 0);
    pyro_log_timeline_write(&document, timeline, &result);
    return end_document(&document, call->error);
}

static enum pyro_status write_timeline(const struct sources *sources, const struct pyro_logs_options *asked,
                                       enum pyro_format format, const struct pyro_options *options,
                                       const struct pyro_writer *writer, struct pyro_error *error)
{
    struct call call;
    struct pyro_line_timeline *timeline = NULL;
    enum pyro_status status = begin(&call, sources, asked, format, options, writer, error);
    if (status == PYRO_OK)
        status = pyro_line_timeline_new(call.options.allocator, call.asked.redaction, &timeline, error);
    if (status == PYRO_OK)
        status = report_timeline(&call, timeline);
    pyro_line_timeline_free(timeline);
    end(&call);
    return status;
}

static enum pyro_status take_line(void *context, struct pyro_slice line, struct pyro_error *error)
{
    return pyro_chunks_take_line(context, line, error);
}

static enum pyro_status report_top(struct call *call, struct pyro_chunks *chunks)
{
    const struct pyro_log_chunk *rows;
    size_t count;
    struct pyro_output output;
    bool exact = call->asked.exact != 0;
    PYRO_TRY(read_logs(call, exact ? NULL : pyro_chunks_take, exact ? take_line : NULL, chunks));
    PYRO_TRY(pyro_chunks_finish(chunks, &rows, &count, call->error));
    struct pyro_log_document document = begin_document(call, &output, TOP_SHOWN);
    pyro_log_chunks_write(&document, rows, count, exact);
    return end_document(&document, call->error);
}

static enum pyro_status chunk_options(const struct call *call, struct pyro_chunks_options *ret)
{
    const struct pyro_logs_options *asked = &call->asked;
    struct pyro_slice by = pyro_slice_from(asked->by);
    *ret = (struct pyro_chunks_options){.exact = asked->exact != 0};
    if (by.ptr && pyro_slice_is(by, "container"))
        ret->by = PYRO_CHUNKS_BY_CONTAINER;
    else if (by.ptr && pyro_slice_is(by, "stage"))
        ret->by = PYRO_CHUNKS_BY_STAGE;
    else if (by.ptr)
        return pyro_error_set(call->error, PYRO_ERROR_ARGUMENT, "'%s' is neither container nor stage", by.ptr);
    if (!ret->exact)
        return PYRO_OK;
    ret->level = pyro_slice_from(asked->level);
    if (asked->since || asked->until || asked->executor || asked->stage || asked->grep || asked->pattern)
        return pyro_error_set(call->error, PYRO_ERROR_ARGUMENT,
                              "exact chunks are made of all lines: of the filters they take the level only");
    return PYRO_OK;
}

static enum pyro_status write_top(const struct sources *sources, const struct pyro_logs_options *asked,
                                  enum pyro_format format, const struct pyro_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error)
{
    struct call call;
    struct pyro_chunks *chunks = NULL;
    struct pyro_chunks_options wanted;
    enum pyro_status status = begin(&call, sources, asked, format, options, writer, error);
    if (status == PYRO_OK)
        status = chunk_options(&call, &wanted);
    if (status == PYRO_OK)
        status = pyro_chunks_new(call.options.allocator, &wanted, &chunks, error);
    if (status == PYRO_OK)
        status = report_top(&call, chunks);
    pyro_chunks_free(chunks);
    end(&call);
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

enum pyro_status pyro_logs_errors(const char *const *paths, size_t path_count, const struct pyro_logs_options *asked,
                                  enum pyro_format format, const struct pyro_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_errors(&(struct sources){.paths = paths, .count = path_count}, asked, format, options, writer, error);
}

enum pyro_status pyro_logs_errors_of(const struct pyro_log_parts *parts, const struct pyro_logs_options *asked,
                                     enum pyro_format format, const struct pyro_options *options,
                                     const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_errors(&(struct sources){.parts = parts->items, .count = parts->count}, asked, format, options, writer,
                        error);
}

enum pyro_status pyro_logs_top(const char *const *paths, size_t path_count, const struct pyro_logs_options *asked,
                               enum pyro_format format, const struct pyro_options *options,
                               const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_top(&(struct sources){.paths = paths, .count = path_count}, asked, format, options, writer, error);
}

enum pyro_status pyro_logs_top_of(const struct pyro_log_parts *parts, const struct pyro_logs_options *asked,
                                  enum pyro_format format, const struct pyro_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_top(&(struct sources){.parts = parts->items, .count = parts->count}, asked, format, options, writer,
                     error);
}

enum pyro_status pyro_logs_timeline(const char *const *paths, size_t path_count, const struct pyro_logs_options *asked,
                                    enum pyro_format format, const struct pyro_options *options,
                                    const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_timeline(&(struct sources){.paths = paths, .count = path_count}, asked, format, options, writer,
                          error);
}

enum pyro_status pyro_logs_timeline_of(const struct pyro_log_parts *parts, const struct pyro_logs_options *asked,
                                       enum pyro_format format, const struct pyro_options *options,
                                       const struct pyro_writer *writer, struct pyro_error *error)
{
    return write_timeline(&(struct sources){.parts = parts->items, .count = parts->count}, asked, format, options,
                          writer, error);
}
