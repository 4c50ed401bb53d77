/* Answers of a REST API that come from anywhere: the input is cut at NUL bytes into the answers to one request after
 * the other (an empty one is a refusal, after the last one all are), and what is made of them is read as an event log.
 * Lines are whole, and those that are rejected are counted, never fatal. */
#include <stdio.h>

#include "base/json/scan.h"
#include "decode/rest/rest.h"
#include "fuzz_kit.h"
#include "model/history/history.h"
#include "pyrometer.h"

struct answers {
    const uint8_t *at, *end;
    unsigned requests;
    pyro_decoder *decoder;
};

static enum pyro_status get(void *context, const char *page, struct pyro_strbuf *body, unsigned *ret_status,
                            struct pyro_error *error)
{
    struct answers *answers = context;
    const uint8_t *nul =
        answers->at < answers->end ? memchr(answers->at, 0, (size_t)(answers->end - answers->at)) : NULL;
    const uint8_t *end = nul ? nul : answers->end;
    FUZZ_CHECK(strlen(page) < 200);
    *ret_status = end > answers->at ? 200 : 404;
    if (++answers->requests > 10000) /* pages of a hostile server must come to an end by themselves */
        abort();
    if (*ret_status == 404) {
        answers->at = nul ? nul + 1 : answers->end;
        pyro_error_describe(error, PYRO_ERROR_INPUT, "the server answers 404");
        return PYRO_OK;
    }
    pyro_strbuf_clear(body);
    pyro_strbuf_add(body, (const char *)answers->at, (size_t)(end - answers->at));
    FUZZ_CHECK(pyro_strbuf_reserve(body, PYRO_SCAN_PADDING));
    memset(body->data + body->len, 0, PYRO_SCAN_PADDING);
    answers->at = nul ? nul + 1 : answers->end;
    return PYRO_OK;
}

static enum pyro_status put(void *context, const char *lines, size_t len, struct pyro_error *error)
{
    struct answers *answers = context;
    FUZZ_CHECK(len > 0 && lines[len - 1] == '\n');
    return pyro_decoder_feed(answers->decoder, lines, len, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct answers answers = {.at = data, .end = data + size};
    const struct pyro_rest_source source = {.history = true, .get = get, .put = put, .context = &answers};
    struct pyro_rest_facts facts;
    struct pyro_error error = {.size = sizeof(error)};
    pyro_app *app = NULL;
    FUZZ_CHECK(pyro_decoder_new("rest", NULL, NULL, &answers.decoder, &error) == PYRO_OK);
    enum pyro_status status = pyro_rest_read(&source, &facts, &error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
    FUZZ_CHECK((status == PYRO_OK) == (facts.history != NULL));
    pyro_history_release(facts.history);
    status = pyro_decoder_finish(answers.decoder, &app, &error);
    FUZZ_CHECK(status == PYRO_OK || status == PYRO_ERROR_INPUT);
    pyro_app_release(app);
    pyro_decoder_free(answers.decoder);
    return 0;
}
