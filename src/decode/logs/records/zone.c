#include "decode/logs/records/zone.h"

#include "base/numbers/saturate.h"
#include "decode/logs/named_task.h"
#include "decode/logs/records/record_reader.h"
#include "model/column.h"

enum {
    STEP_MS = 15 * 60 * 1000,
    STEPS_MOST = 14 * 4,  /* to either side of UTC */
    LATE_MOST_MS = 60000, /* from the start of a task to its line: the executor may be busy, clocks may differ */
    MATCHES_ENOUGH = 64,
    RECORDS_MOST = 1000000, /* without a match */
    ZONED_MOST = 100        /* records with a zone: the others have none, if there are any */
};

struct finding {
    const struct pyro_value_map *launches;
    const struct pyro_log_counts *counts;
    uint64_t matches, votes[2 * STEPS_MOST + 1];
};

/* What the task's line says, in steps; false: nothing that can be true. */
static bool step_of(const struct finding *finding, const struct pyro_log_record *record, int64_t *ret)
{
    struct pyro_log_task task;
    if (!pyro_slice_starts_with(record->message, "Running task ") &&
        !pyro_slice_starts_with(record->message, "Starting task "))
        return false;
    if (record->time_ms == PYRO_NONE || !pyro_log_task_read(record->message, &task))
        return false;
    int64_t launch_ms = pyro_value_map_get(finding->launches, task.tid);
    if (launch_ms == PYRO_VALUE_NONE)
        return false;
    int64_t apart_ms = pyro_sub_saturating(record->time_ms, launch_ms);
    int64_t most_ms = (int64_t)STEPS_MOST * STEP_MS + LATE_MOST_MS;
    if (apart_ms < -most_ms || apart_ms > most_ms)
        return false;
    *ret = (apart_ms + (apart_ms < 0 ? -STEP_MS / 2 : STEP_MS / 2)) / STEP_MS; /* cannot overflow */
    int64_t late_ms = apart_ms - *ret * STEP_MS;                               /* cannot overflow */
    return late_ms >= -LATE_MOST_MS && late_ms <= LATE_MOST_MS;
}

static enum pyro_status take(void *context, const struct pyro_log_file *file, const struct pyro_log_record *record,
                             struct pyro_error *error)
{
    struct finding *finding = context;
    int64_t step;
    (void)file;
    (void)error;
    if (finding->counts->zone_assumed && step_of(finding, record, &step)) {
        finding->votes[step + STEPS_MOST]++;
        finding->matches++;
    }
    bool enough = finding->matches >= MATCHES_ENOUGH || finding->counts->records > RECORDS_MOST ||
                  (!finding->counts->zone_assumed && finding->counts->records > ZONED_MOST);
    return enough ? PYRO_ERROR_CANCELLED : PYRO_OK;
}

enum pyro_status pyro_log_zone_find(const struct pyro_log_part *part, const struct pyro_value_map *launches,
                                    const struct pyro_allocator *allocator, struct pyro_log_zone *ret,
                                    struct pyro_error *error)
{
    struct pyro_log_input input;
    struct pyro_error refused = {.size = sizeof(refused)};
    struct finding finding = {.launches = launches, .counts = &input.counts};
    const struct pyro_options options = {.size = sizeof(options), .allocator = allocator};
    const struct pyro_log_reading how = {
        .parts = part, .part_count = 1, .options = &options, .take = take, .context = &finding};
    *ret = (struct pyro_log_zone){0};
    enum pyro_status status = pyro_logs_read(&how, &input, &refused);
    pyro_log_input_done(&input);
    if (status == PYRO_ERROR_MEMORY)
        return pyro_no_memory(error);
    for (int64_t step = -STEPS_MOST; step <= STEPS_MOST; step++)
        if ((int64_t)finding.votes[step + STEPS_MOST] > ret->matches) {
            ret->matches = (int64_t)finding.votes[step + STEPS_MOST];
            ret->offset_s = step * (STEP_MS / 1000);
        }
    return PYRO_OK;
}
