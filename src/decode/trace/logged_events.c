#include "decode/trace/logged_events.h"

#include "base/collections/hash.h"
#include "decode/artefact_kinds.h"
#include "decode/logs/repeats/templates.h"
#include "decode/logs/text_log.h"
#include "model/column.h"

enum { NS_PER_MS = 1000000 };
enum { MESSAGE, LOGGER, LEVEL, THREAD, PROCESS, NAME };

void pyro_logged_events_init(struct pyro_logged_events *logged, struct pyro_artefact_reading *reading)
{
    *logged = (struct pyro_logged_events){.reading = reading, .windows = &reading->traces.windows};
    pyro_map_init(&logged->threads, reading->allocator);
}

void pyro_logged_events_done(struct pyro_logged_events *logged)
{
    pyro_map_done(&logged->threads);
}

/* Levels of java.util.logging are 300 to 1000, those of log4j 5,000 to 50,000. */
static enum pyro_log_level level_of(const struct pyro_ctf_value *value)
{
    static const struct {
        int64_t least;
        enum pyro_log_level level;
    } levels[] = {
        {50000, PYRO_LEVEL_FATAL}, {40000, PYRO_LEVEL_ERROR}, {30000, PYRO_LEVEL_WARN}, {20000, PYRO_LEVEL_INFO},
        {10000, PYRO_LEVEL_DEBUG}, {5000, PYRO_LEVEL_TRACE},  {1000, PYRO_LEVEL_ERROR}, {900, PYRO_LEVEL_WARN},
        {700, PYRO_LEVEL_INFO},    {500, PYRO_LEVEL_DEBUG},   {300, PYRO_LEVEL_TRACE},
    };
    for (size_t i = 0; value->known && !value->text.ptr && i < sizeof(levels) / sizeof(*levels); i++)
        if (value->integer >= levels[i].least)
            return levels[i].level;
    return PYRO_LEVEL_NONE;
}

static int64_t number(const struct pyro_ctf_value *value)
{
    return value->known && !value->text.ptr ? value->integer : PYRO_NONE;
}

/* The thread that had tasks where there is one with these numbers: the message is then that of its task. */
static int32_t add_thread(struct pyro_logged_events *logged, const struct pyro_ctf_event *event, struct pyro_slice host)
{
    int64_t tid = number(&event->slots[THREAD]), pid = number(&event->slots[PROCESS]);
    size_t count;
    const struct pyro_task_window *window = pyro_task_windows_of(logged->windows, host, tid, &count);
    const struct pyro_task_process *process = pyro_task_windows_process(logged->windows, host, pid);
    const struct pyro_thread_row row = {.parent = process ? process->row : -1,
                                        .clock = -1,
                                        .pid = pid,
                                        .tid = tid,
                                        .host = host,
                                        .executor = process ? process->executor : PYRO_SLICE_NULL,
                                        .name = event->slots[NAME].text};
    return window ? window->thread : pyro_tracks_add_thread(logged->reading->tracks, &row);
}

static int32_t thread_row(struct pyro_logged_events *logged, const struct pyro_ctf_event *event, struct pyro_slice host)
{
    uint64_t numbers = (uint64_t)event->slots[PROCESS].integer << 32 ^ (uint64_t)event->slots[THREAD].integer;
    uint64_t key = pyro_hash_mix(numbers ^ pyro_hash_slice(host));
    uint64_t *place = pyro_map_put(&logged->threads, key, NULL);
    if (!place)
        return -1;
    if (*place == 0) {
        int32_t row = add_thread(logged, event, host);
        if (row < 0)
            return -1;
        *place = (uint64_t)row + 1;
    }
    return (int32_t)(*place - 1);
}

bool pyro_logged_events_take(struct pyro_logged_events *logged, const struct pyro_ctf_event *event,
                             struct pyro_slice host, int32_t artefact)
{
    struct pyro_artefact_reading *reading = logged->reading;
    struct pyro_error error = {.size = sizeof(error)};
    if (!event->slots[MESSAGE].text.ptr)
        return true;
    if (pyro_text_logs_begin(&reading->logs, reading, &error) != PYRO_OK)
        return false;
    const struct pyro_log_record record = {.time_ms = event->time_ns / NS_PER_MS,
                                           .lines = 1,
                                           .level = level_of(&event->slots[LEVEL]),
                                           .logger = event->slots[LOGGER].text,
                                           .message = event->slots[MESSAGE].text,
                                           .text = event->slots[MESSAGE].text};
    int32_t id = pyro_templates_id(reading->logs.templates, &record), thread = thread_row(logged, event, host);
    const struct pyro_message_row row = {.time_ns = event->time_ns,
                                         .thread = thread,
                                         .message_template = id,
                                         .artefact = artefact,
                                         .level = (int32_t)record.level,
                                         .place = PYRO_NONE};
    return id >= 0 && thread >= 0 && pyro_tracks_add_message(reading->tracks, &row);
}
