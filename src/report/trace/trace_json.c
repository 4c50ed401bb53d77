/* The document pyrometer.trace/1. Times are nanoseconds from the first event. */
#include "model/column.h"
#include "report/shared/json_tracks.h"
#include "report/trace/trace.h"
#include "rules/rule.h"

enum { NS_PER_MS = 1000000 };

static int64_t since(const struct pyro_trace_report *trace, int64_t time_ns)
{
    return time_ns == PYRO_NONE || trace->first_ns == PYRO_NONE ? PYRO_NONE : time_ns - trace->first_ns;
}

void pyro_trace_json_states(struct pyro_json_writer *json, const char *key, const int64_t *state_ns)
{
    pyro_json_begin(json, key, '{');
    for (int state = 0; state < PYRO_KERNEL_STATES; state++)
        if (state_ns[state] > 0)
            pyro_json_int(json, pyro_kernel_state_name((enum pyro_kernel_state)state), state_ns[state]);
    pyro_json_end(json, '}');
}

static void write_clock(struct pyro_json_writer *json, const struct pyro_clock_row *clock)
{
    pyro_json_begin(json, "clock", '{');
    pyro_json_text(json, "base", clock->base);
    pyro_json_text(json, "method", clock->method);
    pyro_json_int(json, "matches", clock->matches);
    pyro_json_int(json, "drift_ppb", clock->drift_ppb);
    pyro_json_int(json, "error_ns", clock->error_ns);
    pyro_json_end(json, '}');
}

static void write_traces(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "traces", '[');
    for (size_t i = 0; i < pyro_tracks_count(trace->tracks, PYRO_TRACK_ARTEFACTS); i++) {
        const struct pyro_artefact_row *row = pyro_tracks_artefact(trace->tracks, i);
        if (!pyro_slice_is(row->kind, "ctf") && !pyro_slice_is(row->kind, "task-threads"))
            continue;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "kind", row->kind);
        pyro_json_text(json, "path", row->path);
        pyro_json_text(json, "host", row->host);
        pyro_json_text(json, "executor", row->executor);
        pyro_json_int(json, "events", row->rows);
        pyro_json_int(json, "bytes", row->bytes);
        pyro_json_int(json, "first_ns", since(trace, row->first_ns));
        pyro_json_int(json, "last_ns", since(trace, row->last_ns));
        if (row->clock >= 0)
            write_clock(json, pyro_tracks_clock(trace->tracks, (size_t)row->clock));
        else
            pyro_json_null(json, "clock");
        pyro_json_text(json, "problems", row->problems);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_losses(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "losses", '[');
    for (size_t i = 0; i < (size_t)trace->losses && i < PYRO_TRACE_LOSSES_SHOWN; i++) {
        const struct pyro_trace_loss_row row = pyro_tracks_trace_loss(trace->tracks, i);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "reason", row.reason);
        pyro_json_int(json, "cpu", row.cpu);
        pyro_json_int(json, "start_ns", since(trace, row.start_ns));
        pyro_json_int(json, "end_ns", since(trace, row.end_ns));
        pyro_json_int(json, "events", row.count);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_classes(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "event_classes", '[');
    for (size_t i = 0; i < trace->class_count; i++) {
        const struct pyro_trace_event_row row = pyro_tracks_trace_event(trace->tracks, trace->classes[i]);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "name", row.name);
        pyro_json_int(json, "count", row.count);
        pyro_json_bool(json, "known", row.known);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_calls(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "calls", '[');
    for (size_t i = 0; i < trace->call_count && i < PYRO_TRACE_CALLS; i++) {
        const struct pyro_trace_call_row row = pyro_tracks_trace_call(trace->tracks, trace->calls[i]);
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "name", row.name);
        pyro_json_int(json, "count", row.count);
        pyro_json_int(json, "duration_ns", row.duration_ns);
        pyro_json_int(json, "errors", row.errors);
        pyro_json_int(json, "bytes", row.bytes);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_processes(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "processes", '[');
    for (size_t i = 0; i < trace->process_count && i < PYRO_TRACE_PROCESSES; i++) {
        const struct pyro_trace_process *process = &trace->processes[i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "name", process->name);
        pyro_json_int(json, "pid", process->pid);
        pyro_json_text(json, "host", process->host);
        pyro_json_text(json, "executor", process->executor);
        pyro_json_count(json, "threads", process->threads);
        pyro_trace_json_states(json, "states_ns", process->state_ns);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_trace_json_waits(struct pyro_json_writer *json, const struct pyro_stage_waits *waits,
                           const struct pyro_stage_waited *waited)
{
    pyro_json_begin(json, "waits", '[');
    for (size_t i = 0; i < waited->count && i < PYRO_TRACE_WAITS; i++) {
        const struct pyro_traced_wait *wait = &waits->waits[waited->first + i];
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_string(json, "state", pyro_kernel_state_name(wait->state));
        pyro_json_string(json, "root", pyro_kernel_state_name(wait->root));
        pyro_json_text(json, "what", wait->what);
        pyro_json_text(json, "by", wait->by);
        pyro_json_int(json, "duration_ns", wait->duration_ns);
        pyro_json_int(json, "count", wait->count);
        pyro_json_int(json, "bytes", wait->bytes > 0 ? wait->bytes : PYRO_NONE);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_stages(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "stages", '[');
    for (size_t i = 0; i < trace->stage_count && trace->waits->stages; i++) {
        const struct pyro_stage_waited *waited = &trace->waits->stages[i];
        if (waited->traced_ns == 0)
            continue;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_int(json, "stage", trace->stages[i].id);
        pyro_json_int(json, "attempt", trace->stages[i].attempt);
        pyro_json_count(json, "tasks", waited->tasks);
        pyro_json_int(json, "traced_ns", waited->traced_ns);
        pyro_trace_json_states(json, "roots_ns", waited->by_root_ns);
        pyro_trace_json_waits(json, trace->waits, waited);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

static void write_tasks(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    const struct pyro_trace_clock *clock = &trace->clock;
    pyro_json_line(json);
    pyro_json_begin(json, "tasks", '{');
    pyro_json_count(json, "traced", trace->tasks);
    pyro_json_count(json, "torn", trace->torn);
    pyro_json_end(json, '}');
    pyro_json_line(json);
    if (clock->tasks == 0) {
        pyro_json_null(json, "residual");
        return;
    }
    pyro_json_begin(json, "residual", '{');
    pyro_json_count(json, "tasks", clock->tasks);
    pyro_json_real(json, "p50_ms", clock->p50_ms);
    pyro_json_real(json, "p99_ms", clock->p99_ms);
    pyro_json_real(json, "max_ms", clock->most_ms);
    pyro_json_real(json, "shortest_task_ms", clock->shortest_ms);
    pyro_json_end(json, '}');
}

static void write_findings(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    pyro_json_line(json);
    pyro_json_begin(json, "findings", '[');
    for (size_t i = 0; trace->diagnosis && i < trace->diagnosis->finding_count; i++) {
        const struct pyro_finding *finding = &trace->diagnosis->findings[i];
        if (!finding->rule->needs_trace)
            continue;
        pyro_json_line(json);
        pyro_json_begin(json, NULL, '{');
        pyro_json_text(json, "id", finding->id);
        pyro_json_string(json, "rule", finding->rule->id);
        pyro_json_string(json, "severity", pyro_severity_name(finding->severity));
        pyro_json_int(json, "stage", finding->stage);
        pyro_json_text(json, "cause", finding->cause);
        pyro_json_end(json, '}');
    }
    pyro_json_end(json, ']');
}

void pyro_trace_value(struct pyro_json_writer *json, const struct pyro_trace_report *trace)
{
    bool timed = trace->first_ns != PYRO_NONE;
    pyro_json_begin(json, NULL, '{');
    pyro_json_string(json, "schema", "pyrometer.trace/1");
    pyro_json_text(json, "application", trace->diagnosis ? trace->diagnosis->app->application.id : PYRO_SLICE_NULL);
    pyro_json_int(json, "events", trace->events);
    pyro_json_int(json, "lost_events", trace->lost);
    pyro_json_int(json, "start_ms", timed ? trace->first_ns / NS_PER_MS : PYRO_NONE);
    pyro_json_int(json, "duration_ns", since(trace, trace->last_ns));
    write_traces(json, trace);
    write_losses(json, trace);
    write_tasks(json, trace);
    write_stages(json, trace);
    write_processes(json, trace);
    write_calls(json, trace);
    write_classes(json, trace);
    write_findings(json, trace);
    pyro_json_line(json);
    pyro_json_end(json, '}');
}

void pyro_trace_json(struct pyro_output *output, const struct pyro_trace_report *trace)
{
    struct pyro_json_writer json;
    pyro_json_writer_init(&json, output);
    pyro_trace_value(&json, trace);
    pyro_strbuf_add_char(&output->buffer, '\n');
}
