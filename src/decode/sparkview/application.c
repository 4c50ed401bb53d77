/* The application, its environment and its executors. */
#include <stdio.h>

#include "base/json/unescape.h"
#include "base/strings/intern.h"
#include "decode/sparkview/listener.h"

#define GET pyro_tree_get

void pyro_history_on_application_start(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history_executor *driver = pyro_listener_find_executor(listener, PYRO_SLICE_LITERAL("driver"));
    const struct pyro_tree *logs = GET(event, "Driver Logs");
    listener->history->start_ms = pyro_tree_int(GET(event, "Timestamp"), 0);
    if (!driver || !logs)
        return;
    pyro_listener_pairs(listener, logs, PYRO_PAIRS_NAMED, &driver->logs);
    pyro_listener_pairs(listener, GET(event, "Driver Attributes"), PYRO_PAIRS_NAMED, &driver->attributes);
    pyro_retained_executor(&listener->retained, driver);
}

void pyro_history_on_application_end(struct pyro_listener *listener, const struct pyro_tree *event)
{
    listener->history->end_ms = pyro_tree_int(GET(event, "Timestamp"), -1);
}

static const char *const section_names[PYRO_SECTIONS] = {
    [PYRO_SECTION_JVM] = "JVM Information",        [PYRO_SECTION_SPARK] = "Spark Properties",
    [PYRO_SECTION_HADOOP] = "Hadoop Properties",   [PYRO_SECTION_SYSTEM] = "System Properties",
    [PYRO_SECTION_METRICS] = "Metrics Properties", [PYRO_SECTION_CLASSPATH] = "Classpath Entries",
};

/* What the log itself wants hidden, before anything of the event is kept. */
static void read_own_expressions(struct pyro_listener *listener, const struct pyro_tree *properties)
{
    struct pyro_strbuf name, value;
    bool changed = false;
    pyro_strbuf_init(&name, NULL);
    pyro_strbuf_init(&value, NULL);
    for (const struct pyro_tree *member = properties ? properties->first : NULL; member; member = member->next) {
        pyro_strbuf_clear(&name);
        pyro_strbuf_clear(&value);
        pyro_text_decode(&name, member->key, NULL);
        if (!member->text.ptr || !pyro_slice_find(pyro_strbuf_slice(&name), "redaction"))
            continue;
        pyro_text_decode(&value, member->text, NULL);
        changed |=
            pyro_secrets_configure(&listener->intake.secrets, pyro_strbuf_slice(&name), pyro_strbuf_slice(&value));
    }
    listener->history->failed |= name.failed || value.failed;
    pyro_strbuf_done(&name);
    pyro_strbuf_done(&value);
    if (changed)
        pyro_listener_look_again(listener);
}

void pyro_history_on_environment_update(struct pyro_listener *listener, const struct pyro_tree *event)
{
    read_own_expressions(listener, GET(event, section_names[PYRO_SECTION_SPARK]));
    for (int i = 0; i < PYRO_SECTIONS; i++) {
        if (listener->brief && (i == PYRO_SECTION_HADOOP || i == PYRO_SECTION_SYSTEM || i == PYRO_SECTION_CLASSPATH))
            continue;
        pyro_listener_pairs(listener, GET(event, section_names[i]),
                            i == PYRO_SECTION_JVM || i == PYRO_SECTION_CLASSPATH ? PYRO_PAIRS_PLAIN
                                                                                 : PYRO_PAIRS_SETTINGS,
                            &listener->history->sections[i]);
    }
    listener->history->has_environment = true;
}

static int64_t task_cpus(const struct pyro_history *history)
{
    const pyro_history_pairs *spark = &history->sections[PYRO_SECTION_SPARK];
    for (size_t i = 0; i < spark->count; i++) {
        if (pyro_slice_is(spark->items[i].key, "spark.task.cpus")) {
            struct pyro_tree node = {.kind = PYRO_TREE_STRING, .text = spark->items[i].value};
            int64_t cpus = pyro_tree_int(&node, 1);
            return cpus > 0 ? cpus : 1;
        }
    }
    return 1;
}

#define ADD_REQUESTS(listener, object, list)                                                                           \
    for (const struct pyro_tree *node = (object) ? (object)->first : NULL; node; node = node->next) {                  \
        struct pyro_history_request *request = pyro_vec_push(list, NULL);                                              \
        (listener)->history->failed |= !request;                                                                       \
        if (!request)                                                                                                  \
            return;                                                                                                    \
        request->name = pyro_listener_keep(listener, node->key);                                                       \
        request->amount = pyro_tree_int(GET(node, "Amount"), 0);                                                       \
        request->task_amount = pyro_tree_real(GET(node, "Amount"), 0);                                                 \
        request->script = pyro_listener_text(listener, GET(node, "Discovery Script"));                                 \
        request->vendor = pyro_listener_text(listener, GET(node, "Vendor"));                                           \
    }

static struct pyro_history_profile *find_profile(const struct pyro_history *history, int64_t id)
{
    for (size_t i = 0; i < history->profiles.count; i++)
        if (history->profiles.items[i].id == id)
            return &history->profiles.items[i];
    return NULL;
}

void pyro_history_on_resource_profile_added(struct pyro_listener *listener, const struct pyro_tree *event)
{
    int64_t id = pyro_tree_int(GET(event, "Resource Profile Id"), 0);
    struct pyro_history_profile *profile = find_profile(listener->history, id);
    if (!profile)
        profile = pyro_vec_push(&listener->history->profiles, NULL);
    listener->history->failed |= !profile;
    if (!profile)
        return;
    profile->id = id;
    profile->executor.count = profile->task.count = 0;
    ADD_REQUESTS(listener, GET(event, "Executor Resource Requests"), &profile->executor)
    ADD_REQUESTS(listener, GET(event, "Task Resource Requests"), &profile->task)
}

/* A removed executor is a new one when an event names it again. */
static void renew(struct pyro_listener *listener, struct pyro_history_executor *executor, int64_t time_ms)
{
    struct pyro_history_executor fresh = {.id = executor->id, .added_ms = time_ms, .active = true};
    listener->remembered -= executor->remembered;
    pyro_history_executor_done(executor);
    *executor = fresh;
    pyro_retained_executor_added(&listener->retained);
}

struct pyro_history_executor *pyro_listener_executor(struct pyro_listener *listener, struct pyro_slice id,
                                                     int64_t time_ms)
{
    struct pyro_history *history = listener->history;
    uint64_t *row = id.ptr ? pyro_map_put(&history->executor_rows, pyro_intern(history->strings, id), NULL) : NULL;
    if (row && *row) {
        struct pyro_history_executor *known = &history->executors.items[*row - 1];
        if (!known->active)
            renew(listener, known, time_ms);
        return known;
    }
    struct pyro_history_executor *executor = row ? pyro_vec_push(&history->executors, NULL) : NULL;
    history->failed |= id.ptr && !executor;
    if (executor) {
        executor->id = id;
        executor->added_ms = time_ms;
        executor->active = true;
        *row = history->executors.count;
        pyro_retained_executor_added(&listener->retained);
    }
    return executor;
}

static void read_resources(struct pyro_listener *listener, const struct pyro_tree *object,
                           struct pyro_history_executor *executor)
{
    for (const struct pyro_tree *node = object ? object->first : NULL; node; node = node->next) {
        struct pyro_history_resource *resource = pyro_vec_push(&executor->resources, NULL);
        listener->history->failed |= !resource;
        if (!resource)
            return;
        resource->name = pyro_listener_keep(listener, node->key);
        const struct pyro_tree *addresses = GET(node, "addresses");
        for (const struct pyro_tree *one = addresses ? addresses->first : NULL; one; one = one->next) {
            struct pyro_slice *address = pyro_vec_push(&resource->addresses, NULL);
            listener->history->failed |= !address;
            if (address)
                *address = pyro_listener_text(listener, one);
        }
    }
}

void pyro_history_on_executor_added(struct pyro_listener *listener, const struct pyro_tree *event)
{
    const struct pyro_tree *info = GET(event, "Executor Info");
    struct pyro_history_executor *executor = pyro_listener_executor(
        listener, pyro_listener_text(listener, GET(event, "Executor ID")), pyro_tree_int(GET(event, "Timestamp"), 0));
    if (!executor)
        return;
    executor->host = pyro_listener_text(listener, GET(info, "Host"));
    executor->cores = pyro_tree_int(GET(info, "Total Cores"), 0);
    executor->profile = pyro_tree_int(GET(info, "Resource Profile Id"), 0);
    int64_t cpus = task_cpus(listener->history);
    const struct pyro_history_profile *profile = find_profile(listener->history, executor->profile);
    for (size_t i = 0; profile && i < profile->task.count; i++)
        if (pyro_slice_is(profile->task.items[i].name, "cpus") && profile->task.items[i].amount > 0)
            cpus = profile->task.items[i].amount;
    executor->max_tasks = executor->cores / cpus;
    pyro_listener_pairs(listener, GET(info, "Log Urls"), PYRO_PAIRS_NAMED, &executor->logs);
    pyro_listener_pairs(listener, GET(info, "Attributes"), PYRO_PAIRS_NAMED, &executor->attributes);
    if (executor->resources.count == 0)
        read_resources(listener, GET(info, "Resources"), executor);
}

void pyro_history_on_executor_removed(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_history_executor *executor =
        pyro_listener_live_executor(listener, pyro_listener_text(listener, GET(event, "Executor ID")));
    if (!executor)
        return;
    executor->active = false;
    executor->removed_ms = pyro_tree_int(GET(event, "Timestamp"), 0);
    executor->remove_reason = pyro_listener_text(listener, GET(event, "Removed Reason"));
    pyro_listener_lose_blocks(listener, executor);
    pyro_retained_executor_removed(&listener->retained, executor);
    pyro_listener_remember(listener, executor);
}

void pyro_history_on_block_manager_added(struct pyro_listener *listener, const struct pyro_tree *event)
{
    const struct pyro_tree *id = GET(event, "Block Manager ID");
    struct pyro_history_executor *executor = pyro_listener_executor(
        listener, pyro_listener_text(listener, GET(id, "Executor ID")), pyro_tree_int(GET(event, "Timestamp"), 0));
    const struct pyro_tree *host = GET(id, "Host");
    if (!executor)
        return;
    char text[400];
    int len = snprintf(text, sizeof(text), "%.*s:%lld", host && host->text.len < 300 ? (int)host->text.len : 0,
                       host ? host->text.ptr : "", (long long)pyro_tree_int(GET(id, "Port"), 0));
    executor->host_port = pyro_listener_keep(listener, (struct pyro_slice){text, (size_t)len});
    if (!executor->host.ptr)
        executor->host = pyro_listener_text(listener, host);
    if (GET(event, "Maximum Onheap Memory")) {
        executor->memory_known = true;
        executor->on_heap = pyro_tree_int(GET(event, "Maximum Onheap Memory"), 0);
        executor->off_heap = pyro_tree_int(GET(event, "Maximum Offheap Memory"), 0);
        executor->used_on_heap = executor->used_off_heap = 0;
    }
    executor->max_memory = pyro_tree_int(GET(event, "Maximum Memory"), 0);
}

void pyro_history_on_process_added(struct pyro_listener *listener, const struct pyro_tree *event)
{
    const struct pyro_tree *info = GET(event, "info");
    struct pyro_history_process *process = pyro_vec_push(&listener->history->processes, NULL);
    listener->history->failed |= !process;
    if (!process)
        return;
    process->id = pyro_listener_text(listener, GET(event, "processId"));
    process->host_port = pyro_listener_text(listener, GET(info, "hostPort"));
    process->cores = pyro_tree_int(GET(info, "cores"), 0);
    process->added_ms = pyro_tree_int(GET(event, "time"), 0);
    pyro_listener_pairs(listener, GET(info, "logUrlInfo"), PYRO_PAIRS_NAMED, &process->logs);
}

/* ---- Exclusion ---- */

static void set_excluded(struct pyro_listener *listener, const struct pyro_tree *event, bool excluded)
{
    struct pyro_history_executor *executor =
        pyro_listener_live_executor(listener, pyro_listener_text(listener, GET(event, "executorId")));
    if (executor)
        executor->excluded = excluded;
}

static void set_node_excluded(struct pyro_listener *listener, const struct pyro_tree *event, bool excluded)
{
    struct pyro_slice host = pyro_listener_text(listener, GET(event, "hostId"));
    for (size_t i = 0; host.ptr && i < listener->history->executors.count; i++) {
        struct pyro_history_executor *executor = &listener->history->executors.items[i];
        if (executor->active && pyro_slice_eq(executor->host, host) && !pyro_slice_is(executor->id, "driver"))
            executor->excluded = excluded;
    }
}

static void exclude_for_stage(struct pyro_listener *listener, const struct pyro_tree *event,
                              struct pyro_history_executor *executor, struct pyro_slice id)
{
    int64_t stage_id = pyro_tree_int(GET(event, "stageId"), -1);
    struct pyro_history_stage *stage =
        pyro_history_stage(listener->history, stage_id, pyro_tree_int(GET(event, "stageAttemptId"), 0));
    if (stage && stage->live) {
        struct pyro_history_share *share = pyro_listener_share(listener, stage, pyro_listener_number(listener, id));
        if (share)
            share->excluded = true;
    }
    if (!executor)
        return;
    for (size_t i = 0; i < executor->excluded_stages.count; i++)
        if (executor->excluded_stages.items[i] == stage_id)
            return;
    int64_t *added = pyro_vec_push(&executor->excluded_stages, NULL);
    listener->history->failed |= !added;
    if (added)
        *added = stage_id;
}

void pyro_history_on_executor_excluded(struct pyro_listener *listener, const struct pyro_tree *event)
{
    set_excluded(listener, event, true);
}

void pyro_history_on_executor_unexcluded(struct pyro_listener *listener, const struct pyro_tree *event)
{
    set_excluded(listener, event, false);
}

void pyro_history_on_node_excluded(struct pyro_listener *listener, const struct pyro_tree *event)
{
    set_node_excluded(listener, event, true);
}

void pyro_history_on_node_unexcluded(struct pyro_listener *listener, const struct pyro_tree *event)
{
    set_node_excluded(listener, event, false);
}

void pyro_history_on_executor_excluded_for_stage(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_slice id = pyro_listener_text(listener, GET(event, "executorId"));
    if (id.ptr)
        exclude_for_stage(listener, event, pyro_listener_live_executor(listener, id), id);
}

void pyro_history_on_node_excluded_for_stage(struct pyro_listener *listener, const struct pyro_tree *event)
{
    struct pyro_slice host = pyro_listener_text(listener, GET(event, "hostId"));
    for (size_t i = 0; host.ptr && i < listener->history->executors.count; i++) {
        struct pyro_history_executor *executor = &listener->history->executors.items[i];
        if (executor->active && pyro_slice_eq(executor->host, host) && !pyro_slice_is(executor->id, "driver"))
            exclude_for_stage(listener, event, executor, executor->id);
    }
}
