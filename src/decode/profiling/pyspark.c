/* Memory and CPU of Python workers: {"pid": 7510, "epochMillis": 1550397003812, "pmem_rss": 80871424, ...}. */
#include "decode/profiling/profile_records.h"

PYRO_JSON_KEYS(worker_keys, (WORKER_PID, "pid"), (WORKER_TIME, "epochMillis"), (WORKER_RSS, "pmem_rss"),
               (WORKER_VIRTUAL, "pmem_vms"), (WORKER_FAULTS, "pmem_pfaults"), (WORKER_CPU, "cpu_percent"),
               (WORKER_TASK, "taskAttemptId"), (WORKER_STAGE, "stageId"), (WORKER_HOST, "host"));

struct worker_record {
    int64_t pid, task, stage;
    double time, rss, virtual, faults, cpu;
    struct pyro_slice host;
};

static void take_member(struct pyro_profile_records *records, struct pyro_json_reader *json, int key,
                        struct worker_record *record)
{
    switch (key) {
    case WORKER_PID:
        pyro_json_take_int(json, &record->pid);
        break;
    case WORKER_TIME:
        pyro_profile_take_number(json, &record->time);
        break;
    case WORKER_RSS:
        pyro_profile_take_number(json, &record->rss);
        break;
    case WORKER_VIRTUAL:
        pyro_profile_take_number(json, &record->virtual);
        break;
    case WORKER_FAULTS:
        pyro_profile_take_number(json, &record->faults);
        break;
    case WORKER_CPU:
        pyro_profile_take_number(json, &record->cpu);
        break;
    case WORKER_TASK:
        pyro_json_take_loose_int(json, &record->task);
        break;
    case WORKER_STAGE:
        pyro_json_take_loose_int(json, &record->stage);
        break;
    case WORKER_HOST:
        record->host = pyro_profile_take_text(records, json);
        break;
    default:
        pyro_json_skip(json);
    }
}

static bool add_points(struct pyro_profile_reading *reading, const struct worker_record *record)
{
    const struct {
        enum pyro_profile_series series;
        double value;
    } points[] = {
        {PYRO_PROFILE_RSS, record->rss},
        {PYRO_PROFILE_VIRTUAL, record->virtual},
        {PYRO_PROFILE_PAGE_FAULTS, record->faults},
        {PYRO_PROFILE_CPU_CORES, record->cpu / 100},
    };
    struct pyro_profile_process process = {.pid = record->pid, .role = "python-worker", .host = record->host};
    int64_t time_ns = pyro_profile_ns(record->time);
    int32_t worker = pyro_profile_process_row(reading, &process);
    const struct pyro_profile_task task = {record->task, record->stage, PYRO_NONE, "named"};
    bool done = worker >= 0;
    for (size_t i = 0; i < sizeof(points) / sizeof(*points) && done; i++)
        if (points[i].value >= 0)
            done = pyro_profile_point(reading, worker, points[i].series, PYRO_SLICE_NULL, time_ns, points[i].value);
    if (done && (record->task != PYRO_NONE || record->stage != PYRO_NONE))
        done = pyro_profile_owned(reading, worker, &task, time_ns, PYRO_NONE);
    return done;
}

void pyro_profile_worker_record(struct pyro_profile_records *records, struct pyro_json_reader *json)
{
    const double none = PYRO_PROFILE_NO_NUMBER;
    struct worker_record record = {.pid = PYRO_NONE,
                                   .task = PYRO_NONE,
                                   .stage = PYRO_NONE,
                                   .time = none,
                                   .rss = none,
                                   .virtual = none,
                                   .faults = none,
                                   .cpu = none};
    struct pyro_json_object object;
    if (!pyro_json_enter_object(json, &object)) {
        pyro_json_refuse(json, "not a record");
        return;
    }
    for (int key; (key = PYRO_JSON_NEXT(json, &object, worker_keys)) != PYRO_JSON_END;)
        take_member(records, json, key, &record);
    if (json->error || !pyro_json_record_end(json))
        return;
    if (pyro_profile_ns(record.time) == PYRO_NONE)
        pyro_json_refuse(json, "no time");
    else
        records->no_memory |= !add_points(records->reading, &record);
}
