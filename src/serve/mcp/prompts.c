/* prompts/list and prompts/get: ways of working with the tools. */
#include <stdio.h>

#include "serve/mcp/mcp.h"

enum { MOST_ARGUMENTS = 2 };

struct prompt {
    const char *name, *title, *description;
    struct {
        const char *name, *description;
    } arguments[MOST_ARGUMENTS];
    const char *text; /* %1 and %2 stand for the arguments */
};

static const struct prompt prompts[] = {
    {"why_slow",
     "Why was it slow?",
     "Find what took the time of an application, and what to change",
     {{"app", "Application id or name"}},
     "Find out why the Spark application '%1' was slow and what to change.\n1. Call diagnose. First say where the wall "
     "time went, and whether the log is complete.\n2. For the findings with the largest savings, call explain_finding "
     "and check the evidence. Look at their stage or SQL plan if the cause is not clear.\n3. Before you recommend "
     "settings, call what_if with them and give the predicted range, not one number.\n4. Answer with: the cause in one "
     "sentence, the changes in the order of their savings (exact settings or code), and how to verify each one in the "
     "next run. Say what is uncertain."},
    {"investigate_failure",
     "Why did it fail?",
     "Find the first cause of an application's failed jobs, stages, tasks or executors",
     {{"app", "Application id or name"}},
     "Find out why the Spark application '%1' failed.\n1. Call diagnose: note the status, failed jobs and stages, and "
     "findings of the category failures or memory.\n2. Call inspect with what=failures, then with what=executors: "
     "which tasks failed first, why, on which executor or host, and whether executors were lost before or after.\n3. "
     "Call explain_finding for those findings, and stage for the stage that failed.\n4. Distinguish the first cause "
     "from its consequences, quote the decisive message, and say what to change and how to verify it. Say what the log "
     "does not show."},
    {"compare_runs",
     "What changed between two runs?",
     "Explain why one run took longer than another",
     {{"before", "The earlier or faster run"}, {"after", "The run to explain"}},
     "Explain why the Spark application run '%2' took longer or shorter than '%1'.\n1. Call compare with before='%1' "
     "and after='%2'. The seconds by cause add up to the difference.\n2. For the largest causes check what differs: "
     "settings, amounts of data, stages, executors (stage, inspect).\n3. Answer with the causes in the order of their "
     "seconds, the reason of each, and what to do about it."},
};

enum { PROMPTS = sizeof(prompts) / sizeof(*prompts) };

json_t *pyro_mcp_list_prompts(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < PROMPTS; i++) {
        json_t *arguments = json_array();
        for (size_t j = 0; j < MOST_ARGUMENTS && prompts[i].arguments[j].name; j++)
            json_array_append_new(arguments,
                                  json_pack("{s:s, s:s, s:b}", "name", prompts[i].arguments[j].name, "description",
                                            prompts[i].arguments[j].description, "required", 1));
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:o}", "name", prompts[i].name, "title", prompts[i].title,
                                        "description", prompts[i].description, "arguments", arguments));
    }
    return json_pack("{s:o}", "prompts", list);
}

/* The prompt's text with its arguments; NULL: one is missing, and `ret_error` says which. */
static json_t *fill(const struct prompt *prompt, const json_t *given, char *ret_error)
{
    const char *values[MOST_ARGUMENTS] = {0};
    struct pyro_strbuf text;
    for (size_t i = 0; i < MOST_ARGUMENTS && prompt->arguments[i].name; i++) {
        values[i] = json_string_value(json_object_get(given, prompt->arguments[i].name));
        if (!values[i]) {
            snprintf(ret_error, 256, "the prompt %s needs '%s'", prompt->name, prompt->arguments[i].name);
            return NULL;
        }
    }
    pyro_strbuf_init(&text, NULL);
    for (const char *at = prompt->text; *at; at++) {
        if (at[0] == '%' && at[1] >= '1' && at[1] < '1' + MOST_ARGUMENTS)
            pyro_strbuf_add_text(&text, values[*++at - '1']);
        else
            pyro_strbuf_add_char(&text, *at);
    }
    json_t *filled = text.failed ? NULL : json_stringn(text.data, text.len);
    pyro_strbuf_done(&text);
    return filled;
}

json_t *pyro_mcp_get_prompt(const json_t *parameters, char *ret_error)
{
    const char *name = json_string_value(json_object_get(parameters, "name"));
    for (size_t i = 0; name && i < PROMPTS; i++) {
        if (strcmp(prompts[i].name, name) != 0)
            continue;
        json_t *text = fill(&prompts[i], json_object_get(parameters, "arguments"), ret_error);
        return text ? json_pack("{s:s, s:[{s:s, s:{s:s, s:o}}]}", "description", prompts[i].description, "messages",
                                "role", "user", "content", "type", "text", "text", text)
                    : NULL;
    }
    snprintf(ret_error, 256, "there is no such prompt");
    return NULL;
}
