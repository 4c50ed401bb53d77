/* One document inside the HTML report: as it is when it is short, else compressed, since what is drawn from a large log
 * is mostly the same names again and again. */
#ifndef PYRO_REPORT_DIAGNOSIS_HTML_PACK_H
#define PYRO_REPORT_DIAGNOSIS_HTML_PACK_H

#include <zlib.h>

#include "report/report.h"

struct pyro_html_pack {
    struct pyro_output *page; /* inside the element that holds the page's data */
    const char *separator, *name;
    struct pyro_strbuf held; /* the document, until it is too long to be written as it is */
    bool begun;              /* the page has its key already: a document without a byte adds nothing at all */
    bool packed;
    z_stream stream;
    unsigned char out[3 << 13]; /* compressed; whole groups of base64 */
};

/* Adds `SEPARATOR"NAME": DOCUMENT`. A document of more than 32 KiB becomes {"gzip": TEXT}, TEXT in base64. */
void pyro_html_pack_begin(struct pyro_html_pack *pack, struct pyro_output *page, const char *separator,
                          const char *name);
/* A pyro_writer's function; `context` is the pack. */
int pyro_html_pack_write(void *context, const void *data, size_t len);
void pyro_html_pack_end(struct pyro_html_pack *pack);

/* JSON inside a script element: '<' occurs in its strings only, and written as an escape it can neither end the element
 * nor begin a comment. A pyro_writer's function; `context` is the output of the page. */
int pyro_html_write_escaped(void *context, const void *data, size_t len);

#endif
