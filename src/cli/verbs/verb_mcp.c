/* pyrometer mcp DIR|STORE... */
#include "loading.h"
#include "price_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_MESSAGE = 1 << 20 };

/* One answer a line; nothing is written for messages that have none. */
static int write_line(void *context, const void *data, size_t len)
{
    FILE *stream = context;
    return fwrite(data, 1, len, stream) == len && putc('\n', stream) != EOF && fflush(stream) == 0 ? 0 : -1;
}

/* Reads up to a newline; false at the end. A longer message than LONGEST_MESSAGE is read and given as empty. */
static bool read_message(char *buffer, size_t *ret_len)
{
    size_t len = 0;
    int byte;
    bool too_long = false;
    while ((byte = getc(stdin)) != EOF && byte != '\n') {
        too_long |= len == LONGEST_MESSAGE;
        if (!too_long)
            buffer[len++] = (char)byte;
    }
    *ret_len = too_long ? 0 : len;
    if (too_long)
        cli_complain("a message of more than %d bytes was skipped", LONGEST_MESSAGE);
    return byte != EOF || len > 0;
}

static int answer_all(pyro_mcp *mcp)
{
    const struct pyro_writer writer = {sizeof(writer), write_line, stdout};
    struct pyro_error error = {.size = sizeof(error)};
    enum pyro_status status = PYRO_OK;
    size_t len;
    char *buffer = malloc(LONGEST_MESSAGE);
    if (buffer == NULL) {
        cli_complain("out of memory");
        return CLI_EXIT_OUTPUT;
    }
    while (status == PYRO_OK && read_message(buffer, &len))
        if (len > 0)
            status = pyro_mcp_answer(mcp, buffer, len, &writer, &error);
    free(buffer);
    return status == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

static int run(const struct cli_call *call)
{
    struct pyro_mcp_options options = {.size = sizeof(options)};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_prices *prices = NULL;
    pyro_mcp *mcp = NULL;
    if (!cli_size_value(call, "memory", &options.memory_bytes) ||
        !cli_interval_value(call, "query-timeout", &options.query_ms))
        return CLI_EXIT_USAGE;
    cli_limit_sqlite(options.memory_bytes);
    enum pyro_status status = cli_prices_open(call, &prices, &error);
    options.prices = prices;
    options.redaction = cli_redaction(call);
    if (status == PYRO_OK)
        status = pyro_mcp_new(call->arguments, call->argument_count, &options, &mcp, &error);
    int result = status == PYRO_OK ? answer_all(mcp) : cli_failure(&error);
    pyro_mcp_free(mcp);
    pyro_prices_free(prices);
    return result;
}

static const struct cli_option options[] = {
    {"prices", 'p', "FILE...", NULL, NULL,
     "Use the prices of this file. They take precedence over the prices that come with pyrometer (docs/prices.md). May "
     "be given several times."},
    {"memory", 0, "SIZE", NULL, "1G",
     "Keep applications in memory, up to about this size. The most recently used stay."},
    {"query-timeout", 0, "TIME", NULL, "15s", "Stop a SQL statement after TIME, from 100ms to 1d."},
    CLI_OPTION_REDACT,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer mcp /var/log/spark-events", "Answers an agent that starts this command."},
    {"curl -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' http://127.0.0.1:18080/mcp",
     "The same tools, from a running `pyrometer serve`."},
    {0},
};

const struct cli_verb_body cli_verb_mcp = {
    .run = run,
    .least = 1,
    .most = 16,
    .options = options,
    .choices = "@files",
    .description =
        "Answers the Model Context Protocol on standard input and output, for agents: list, diagnose, "
        "explain, inspect, compare, predict, price and query runs. The runs come from logs in folders, or "
        "from stores (sqlite:FILE, opensearch:URL). Each answer has a budget of tokens and says how to get the rest "
        "(docs/mcp.md).\n\n`pyrometer serve` answers the same over HTTP, at /mcp.",
    .examples = examples,
};
