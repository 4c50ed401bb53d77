/* pyrometer feedback FINDING --verdict VERDICT, pyrometer feedback LOG --missed RULE|TEXT */
#include "loading.h"
#include "result_output.h"

#include <stdio.h>
#include <string.h>

static bool is_rule(const char *text)
{
    for (size_t i = 0; i < pyro_rules_count(); i++)
        if (strcmp(cli_rule(i).id, text) == 0)
            return true;
    return false;
}

/* Verdict on a finding that the store holds. */
static int judge(const struct cli_call *call, pyro_store *store, struct pyro_feedback *feedback)
{
    struct pyro_error error = {.size = sizeof(error)};
    feedback->finding = call->arguments[0];
    feedback->application = cli_value(call, "app");
    for (unsigned i = 0; pyro_feedback_name(i) != NULL; i++)
        if (strcmp(pyro_feedback_name(i), cli_value(call, "verdict")) == 0)
            feedback->verdict = (enum pyro_feedback_verdict)i;
    return pyro_store_add_feedback(store, feedback, &error) == PYRO_OK ? CLI_EXIT_OK : cli_failure(&error);
}

/* The log names the application; the run itself is recorded as well, since a miss counts against a run. */
static int report_missed(const struct cli_call *call, pyro_store *store, const struct pyro_feedback *feedback)
{
    struct pyro_error error = {.size = sizeof(error)};
    struct cli_progress progress;
    struct cli_loading options;
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    if (!cli_load_options(call, &progress, &options))
        return CLI_EXIT_USAGE;
    int status = cli_load_one(call, call->arguments[0], &options, &progress, &app);
    if (status != CLI_EXIT_OK)
        return status;
    struct pyro_feedback kept = *feedback;
    const char *missed = cli_value(call, "missed");
    char text[1024];
    kept.verdict = PYRO_FEEDBACK_MISSED;
    if (is_rule(missed)) {
        kept.rule = missed;
    } else {
        snprintf(text, sizeof(text), "%s%s%s", missed, kept.note != NULL ? ": " : "",
                 kept.note != NULL ? kept.note : "");
        kept.note = text;
    }
    kept.application = pyro_app_name(app);
    bool ok = pyro_diagnose(app, NULL, &options.work, &diagnosis, &error) == PYRO_OK &&
              pyro_store_record(store, diagnosis, NULL, &error) == PYRO_OK &&
              pyro_store_add_feedback(store, &kept, &error) == PYRO_OK;
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
    return ok ? CLI_EXIT_OK : cli_failure(&error);
}

static int run(const struct cli_call *call)
{
    const char *url = cli_store_url(call), *verdict = cli_value(call, "verdict"), *missed = cli_value(call, "missed");
    if (url == NULL)
        return cli_usage_error(call->verb, "feedback is kept in a store; give --store sqlite:FILE");
    if ((verdict == NULL) == (missed == NULL))
        return cli_usage_error(call->verb, "say either --verdict (of a finding) or --missed (of a log)");
    if (missed != NULL && (*missed == '\0' || cli_value(call, "app") != NULL))
        return cli_usage_error(call->verb, *missed == '\0' ? "--missed needs a rule or a text"
                                                           : "--app goes with --verdict; a log names its application");
    struct pyro_feedback feedback = {.size = sizeof(feedback), .note = cli_value(call, "note")};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_store *store = NULL;
    cli_catch_signals();
    if (pyro_store_open(url, NULL, NULL, &store, &error) != PYRO_OK)
        return cli_failure(&error);
    int status = missed != NULL ? report_missed(call, store, &feedback) : judge(call, store, &feedback);
    pyro_store_close(store);
    return status;
}

static const struct cli_option options[] = {
    {"verdict", 0, "VERDICT", "confirmed false-positive fixed", NULL,
     "The verdict: the finding is correct, it is wrong, or it was correct and its recommendation helped."},
    {"missed", 0, "RULE|TEXT", NULL, NULL,
     "A problem in this log that has no finding: the rule that missed it, or a description."},
    {"note", 0, "TEXT", NULL, NULL, "The reason. Later reports show it."},
    {"app", 0, "NAME|ID", NULL, NULL, "The application, if several have the finding."},
    CLI_OPTION_STORE,
    CLI_OPTION_THREADS,
    CLI_OPTION_MAX_RECORD,
    CLI_OPTION_NO_LIMITS,
    CLI_OPTION_REDACT,
    CLI_OPTIONS_REMOTE,
    CLI_OPTION_HELP,
    {0},
};

static const struct cli_example examples[] = {
    {"pyrometer diagnose LOG -s sqlite:runs.db", "Record a run; the report shows the ids of its findings."},
    {"pyrometer feedback straggler:etl.py:88 --verdict false-positive --note 'known' -s sqlite:runs.db",
     "Later reports fold this finding of this application."},
    {"pyrometer feedback LOG --missed disk-spill -s sqlite:runs.db",
     "A rule that should have given a finding and did not."},
    {0},
};

const struct cli_verb_body cli_verb_feedback = {
    .run = run,
    .least = 1,
    .most = 1,
    .options = options,
    .choices = "@files",
    .description = "Stores what you know about a finding, or about a problem without a finding. Later reports with the "
                   "same store use it. The confidence of a rule follows the verdicts on its findings. A finding marked "
                   "as a false positive for an application stays folded, with its note. 'pyrometer evaluate' counts "
                   "verdicts as labels.\n\nFINDING is the id of a finding of a run in the store. LOG is any event log.",
    .examples = examples,
};
