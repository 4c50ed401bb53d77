/* The HTML report: the web UI in one file, with its data inside. It works from disk, without a network: the page's own
 * policy forbids it every request (docs/web.md). */
#include "report/diagnosis/html_documents.h"
#include "report/diagnosis/html_pack.h"
#include "report/renderers.h"
#include "report/shared/web_assets.h"

static void add_asset(struct pyro_output *output, const char *name, const char *ending)
{
    const struct pyro_web_asset *asset = pyro_web_find(name, ending);
    if (asset)
        pyro_strbuf_add(&output->buffer, (const char *)asset->data, asset->len);
    pyro_output_flush(output, false);
}

/* Everything up to the data, and from its end. */
static void begin_page(struct pyro_output *output)
{
    add_asset(output, "report-1.html", "");
    add_asset(output, "app.", ".css");
    add_asset(output, "report-2.html", "");
}

static void end_page(struct pyro_output *output)
{
    add_asset(output, "report-3.html", "");
    add_asset(output, "app.", ".js");
    add_asset(output, "report-4.html", "");
    pyro_strbuf_add_char(&output->buffer, '\n');
}

/* {"documents": {"report": ...}}, by their addresses below one application's (docs/web.md). */
static void write_documents(struct pyro_output *page, const struct pyro_diagnosis *diagnosis,
                            const struct pyro_report_options *options, bool many)
{
    struct pyro_html_pack pack;
    struct pyro_output inner;
    const struct pyro_writer writer = {sizeof(writer), pyro_html_pack_write, &pack};
    pyro_strbuf_add_text(&page->buffer, "{\"documents\": {\n");
    pyro_html_pack_begin(&pack, page, "", "report");
    pyro_output_init(&inner, &writer, diagnosis->arena.allocator);
    pyro_renderer_json.report(&inner, diagnosis, options, 0, true);
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = pyro_output_done(&inner, &error);
    pyro_html_pack_end(&pack);
    if (page->status == PYRO_OK)
        page->status = status;
    pyro_html_documents(page, diagnosis, options, many);
    pyro_strbuf_add_text(&page->buffer, "\n}}");
}

static void html_begin_many(struct pyro_output *output, const struct pyro_report_options *options)
{
    (void)options;
    begin_page(output);
    pyro_strbuf_add_text(&output->buffer, "{\"reports\": [\n");
}

static void html_report(struct pyro_output *output, const struct pyro_diagnosis *diagnosis,
                        const struct pyro_report_options *options, size_t index, bool many)
{
    if (!many)
        begin_page(output);
    else if (index)
        pyro_strbuf_add_text(&output->buffer, ",\n");
    write_documents(output, diagnosis, options, many);
    if (!many)
        end_page(output);
}

static void html_end_many(struct pyro_output *output, const struct pyro_slice *unreadable_paths,
                          const struct pyro_slice *unreadable_reasons, size_t unreadable_count)
{
    const struct pyro_writer writer = {sizeof(writer), pyro_html_write_escaped, output};
    struct pyro_output inner;
    pyro_output_init(&inner, &writer, NULL);
    pyro_renderer_json.end_many(&inner, unreadable_paths, unreadable_reasons, unreadable_count);
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = pyro_output_done(&inner, &error);
    if (output->status == PYRO_OK)
        output->status = status;
    end_page(output);
}

const struct pyro_renderer pyro_renderer_html = {"html", PYRO_FORMAT_HTML, html_begin_many, html_report, html_end_many};
