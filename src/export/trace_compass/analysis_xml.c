/* The data-driven analysis of the trace: which events change which attribute, and views that show these over time.
 * Trace Compass' User Guide, "Data driven analysis", has the elements. */
#include <stdio.h>

#include "export/trace_compass/trace_compass.h"

#include "model/tracks/tracks.h"

/* Values of attributes behind those of kernel states. */
enum { STAGE_RUNS = 100, TASK_RUNS };

static const char *const colors[PYRO_KERNEL_STATES] = {
#define PYRO_STATE_COLOR(state, color) [PYRO_KERNEL_##state] = color,
#include "export/trace_compass/state_colors.def"
#undef PYRO_STATE_COLOR
};

static void add_value(struct pyro_strbuf *to, const char *name, int value, const char *color)
{
    pyro_strbuf_printf(to, "    <definedValue name=\"%s\" value=\"%d\" color=\"%s\"/>\n", name, value, color);
}

static void add_view(struct pyro_strbuf *to, const char *id, const char *label, const char *entries)
{
    pyro_strbuf_printf(to,
                       "  <timeGraphView id=\"%s\">\n"
                       "    <head>\n"
                       "      <analysis id=\"pyrometer.states\"/>\n"
                       "      <label value=\"%s\"/>\n"
                       "    </head>\n",
                       id, label);
    for (int state = 0; state < PYRO_KERNEL_STATES; state++)
        add_value(to, pyro_kernel_state_name((enum pyro_kernel_state)state), state,
                  colors[state] ? colors[state] : "#000000");
    add_value(to, "stage", STAGE_RUNS, "#AED6F1");
    add_value(to, "task, not traced", TASK_RUNS, "#D5DBDB");
    pyro_strbuf_add_text(to, entries);
    pyro_strbuf_add_text(to, "  </timeGraphView>\n");
}

/* An attribute that an event changes: a constant, then names of fields, NULL at the end. */
static void add_change(struct pyro_strbuf *to, const char *constant, const char *const *fields, const char *value)
{
    pyro_strbuf_printf(to,
                       "      <stateChange>\n"
                       "        <stateAttribute type=\"constant\" value=\"%s\"/>\n",
                       constant);
    for (; *fields; fields++)
        pyro_strbuf_printf(to, "        <stateAttribute type=\"eventField\" value=\"%s\"/>\n", *fields);
    pyro_strbuf_printf(to, "        <stateValue %s/>\n      </stateChange>\n", value);
}

static void add_handler(struct pyro_strbuf *to, const char *event, const char *thread_value, const char *task_value,
                        const char *stage_value)
{
    static const char *const thread[] = {"process", "tid", NULL}, *const task[] = {"stage", "task", NULL},
                             *const stage[] = {"stage", NULL};
    pyro_strbuf_printf(to, "    <eventHandler eventName=\"%s\">\n", event);
    if (thread_value)
        add_change(to, "Threads", thread, thread_value);
    if (task_value)
        add_change(to, "Stages", task, task_value);
    if (stage_value)
        add_change(to, "Stages", stage, stage_value);
    pyro_strbuf_add_text(to, "    </eventHandler>\n");
}

void pyro_add_trace_compass_analysis(struct pyro_strbuf *to)
{
    static const char state[] = "type=\"eventField\" value=\"state_id\" forcedType=\"int\"", none[] = "type=\"null\"";
    char task[64], stage[64];
    snprintf(task, sizeof(task), "type=\"int\" value=\"%d\"", TASK_RUNS);
    snprintf(stage, sizeof(stage), "type=\"int\" value=\"%d\"", STAGE_RUNS);
    pyro_strbuf_add_text(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                             "<tmfxml xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                             "xsi:noNamespaceSchemaLocation=\"xmlDefinition.xsd\">\n");
    add_view(to, "pyrometer.threads", "Spark: threads of tasks",
             "    <entry path=\"Threads/*\">\n"
             "      <entry path=\"*\" displayText=\"true\">\n"
             "        <display type=\"self\"/>\n"
             "      </entry>\n"
             "    </entry>\n");
    add_view(to, "pyrometer.tasks", "Spark: stages and tasks",
             "    <entry path=\"Stages/*\">\n"
             "      <display type=\"self\"/>\n"
             "      <entry path=\"*\" displayText=\"true\">\n"
             "        <display type=\"self\"/>\n"
             "      </entry>\n"
             "    </entry>\n");
    pyro_strbuf_add_text(to, "  <stateProvider id=\"pyrometer.states\" version=\"1\">\n"
                             "    <head>\n"
                             "      <traceType id=\"org.eclipse.linuxtools.tmf.ui.type.ctf\"/>\n"
                             "      <label value=\"Spark tasks (Pyrometer)\"/>\n"
                             "    </head>\n");
    add_handler(to, "stage_begin", NULL, NULL, stage);
    add_handler(to, "stage_end", NULL, NULL, none);
    add_handler(to, "task_begin", NULL, task, NULL);
    add_handler(to, "task_end", NULL, none, NULL);
    add_handler(to, "task_state", state, state, NULL);
    add_handler(to, "task_state_end", none, none, NULL);
    pyro_strbuf_add_text(to, "  </stateProvider>\n</tmfxml>\n");
}
