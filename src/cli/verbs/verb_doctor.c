/* pyrometer doctor */
#include "checks.h"
#include "result_output.h"

#include <string.h>
#include <unistd.h>

static long processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

/* One row of the answer, of this build or of this machine. */
static struct pyro_feature_info row_at(const struct cli_check *checks, size_t index)
{
    struct pyro_feature_info feature = {.size = sizeof(feature)};
    if (pyro_features_get(index, &feature) == PYRO_OK)
        return feature;
    const struct cli_check *check = &checks[index - pyro_features_count()];
    return (struct pyro_feature_info){sizeof(feature), check->kind, check->name, check->detail, check->available};
}

static void print_json(struct cli_output *output, const struct cli_check *checks, size_t count)
{
    cli_puts(output, "{\"schema\": \"pyrometer.doctor/1\", \"version\": ");
    cli_put_json(output, pyro_version());
    cli_putf(output, ", \"processors\": %ld, \"features\": [", processors());
    for (size_t i = 0; i < pyro_features_count() + count; i++) {
        struct pyro_feature_info feature = row_at(checks, i);
        cli_puts(output, i == 0 ? "\n  {\"kind\": " : ",\n  {\"kind\": ");
        cli_put_json(output, feature.kind);
        cli_puts(output, ", \"name\": ");
        cli_put_json(output, feature.name);
        cli_putf(output, ", \"available\": %s, \"detail\": ", feature.available ? "true" : "false");
        cli_put_json(output, feature.detail != NULL ? feature.detail : "");
        cli_puts(output, "}");
    }
    cli_puts(output, "\n]}\n");
}

static void print_text(struct cli_output *output, const struct cli_check *checks, size_t count)
{
    cli_putf(output, "pyrometer %s, %ld processor%s\n", pyro_version(), processors(), processors() == 1 ? "" : "s");
    const char *kind = "";
    size_t missing = 0;
    for (size_t i = 0; i < pyro_features_count() + count; i++) {
        struct pyro_feature_info feature = row_at(checks, i);
        if (strcmp(kind, feature.kind) != 0) {
            kind = feature.kind;
            cli_putf(output, "\n%s:\n", kind);
        }
        missing += !feature.available;
        cli_putf(output, "    %-8s %-22s ", feature.available ? "yes" : "MISSING", feature.name);
        cli_put_wrapped(output, feature.detail != NULL ? feature.detail : "", 36, 36, 100);
    }
    if (missing == 0)
        cli_puts(output, "\nNothing is missing.\n");
    else
        cli_putf(output, "\n%zu part%s missing; the lines above say how to get %s.\n", missing,
                 missing == 1 ? " is" : "s are", missing == 1 ? "it" : "them");
}

static int run(const struct cli_call *call)
{
    struct cli_output output;
    static struct cli_check checks[CLI_CHECKS_MAX];
    size_t count = cli_checks(call, checks);
    if (!cli_crawl_checks(call, checks, &count))
        return CLI_EXIT_USAGE;
    int status = cli_output_open(&output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    if (strcmp(cli_value(call, "format"), "json") == 0)
        print_json(&output, checks, count);
    else
        print_text(&output, checks, count);
    return cli_output_close(&output, true);
}

static const struct cli_option options[] = {
    {"format", 'f', "FORMAT", cli_formats_doctor, "text", "How to write it."},
    {"tokens", 0, "FILE", NULL, NULL, "Test this file of tokens, as for 'serve --tokens'."},
    {"tls-cert", 0, "FILE", NULL, NULL, "Test this certificate (PEM) with the key of --tls-key."},
    {"tls-key", 0, "FILE", NULL, NULL, "The private key of the certificate (PEM)."},
    {"cache", 0, "DIR", NULL, NULL, "Test this cache folder instead of the default of 'serve'."},
    {"config", 'c', "FILE", NULL, NULL, "Try the store, the sources and the services of this crawl.yaml."},
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer doctor", "What works on this machine, what is missing, and how to get it."},
    {"pyrometer doctor --format json", "The same for a bug report or a script."},
    {"pyrometer doctor --tokens TOKENS --tls-cert cert.pem --tls-key key.pem",
     "Whether a server could be started with these files."},
    {"pyrometer doctor --config crawl.yaml", "Whether a crawler reaches all that its configuration names."},
    {0},
};

const struct cli_verb_body cli_verb_doctor = {
    .run = run,
    .options = options,
    .description =
        "Says what this build can read and write on this machine: codecs, layouts, reports, tables, optional "
        "parts, and the vector instructions that the scanner uses. Also tries what 'serve' and 'mcp' need: it starts a "
        "server on a free port of the loopback interface and stops it, and answers an agent's first messages. For "
        "each missing part it says how to get it.",
    .examples = examples,
};
