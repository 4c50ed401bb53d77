/* What is answered where there is no answer: the texts of Spark, and the error pages of the server around it. */
#include <stdarg.h>
#include <stdio.h>

#include "serve/spark/spark_request.h"
#include "source/http/http.h"
#include "text/escape.h"

/* As Jetty names the servlet that answers, without the number that it draws at each start. */
static const char servlet[] = "org.glassfish.jersey.servlet.ServletContainer";

void pyro_spark_error(struct spark_request *request, unsigned status, const char *format, ...)
{
    va_list arguments;
    pyro_strbuf_clear(request->http->out);
    struct pyro_strbuf *out = request->http->out;
    va_start(arguments, format);
    char text[1024];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    /* The request's own words may be in it: lines as Spark has them, without what acts on terminals. */
    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, '\n');
        pyro_add_plain(out, (struct pyro_slice){at, (size_t)(end - at)});
        if (*end)
            pyro_strbuf_add_char(out, '\n');
    }
    request->http->status = status;
    request->http->type = "text/plain";
}

/* The path as in a URI. */
static void add_path(struct pyro_strbuf *out, const struct spark_request *request)
{
    pyro_strbuf_add_text(out, "/api/v1/");
    pyro_http_escape_but(out, request->http->path, "!$'()*+,;=:@/");
}

void pyro_spark_no_such_path(struct spark_request *request)
{
    pyro_spark_error(request, 404, "%s", "");
    add_path(request->http->out, request);
}

void pyro_spark_no_such_app(struct spark_request *request)
{
    bool attempt = request->attempt_id.ptr != NULL;
    pyro_spark_error(request, 404, "no such app: %.*s%s%.*s", (int)request->app_id.len, request->app_id.ptr,
                     attempt ? "/" : "", attempt ? (int)request->attempt_id.len : 0,
                     attempt ? request->attempt_id.ptr : "");
}

static const char *word_of(unsigned status)
{
    return status == 404 ? "Not Found" : status == 405 ? "Method Not Allowed" : "Request failed.";
}

static void add_html(struct pyro_strbuf *out, const struct spark_request *request, unsigned status)
{
    const char *word = word_of(status);
    pyro_strbuf_printf(out,
                       "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n"
                       "<title>Error %u %s</title>\n</head>\n<body><h2>HTTP ERROR %u %s</h2>\n<table>\n"
                       "<tr><th>URI:</th><td>",
                       status, word, status, word);
    add_path(out, request);
    pyro_strbuf_printf(out,
                       "</td></tr>\n<tr><th>STATUS:</th><td>%u</td></tr>\n<tr><th>MESSAGE:</th><td>%s</td></tr>\n"
                       "<tr><th>SERVLET:</th><td>%s</td></tr>\n</table>\n\n</body>\n</html>\n",
                       status, word, servlet);
}

static void add_json(struct pyro_strbuf *out, const struct spark_request *request, unsigned status)
{
    pyro_strbuf_printf(out, "{\n\"servlet\":\"%s\",\n\"message\":\"%s\",\n\"url\":\"", servlet, word_of(status));
    add_path(out, request);
    pyro_strbuf_printf(out, "\",\n\"status\":\"%u\"\n}", status);
}

void pyro_spark_fault(struct spark_request *request, unsigned status)
{
    struct serve_request *http = request->http;
    struct pyro_slice accept = pyro_serve_request_header(http, "Accept");
    bool any = !accept.ptr || pyro_slice_find(accept, "text/html") || pyro_slice_find(accept, "*/*");
    pyro_strbuf_clear(http->out);
    http->status = status;
    http->type = NULL;
    if (http->method != SERVE_GET && http->method != SERVE_POST)
        return; /* which get no page */
    pyro_serve_header(http, "Cache-Control", PYRO_SLICE_LITERAL("must-revalidate,no-cache,no-store"));
    if (!any && pyro_slice_find(accept, "application/json")) {
        http->type = "application/json";
        add_json(http->out, request, status);
    } else {
        http->type = "text/html;charset=iso-8859-1";
        add_html(http->out, request, status);
    }
}
