/* /metrics in the text format that Prometheus scrapes: https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include "serve/server_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "serve/request.h"
#include "serve/shared.h"

static const unsigned statuses[METRICS_STATUSES] = {200, 201, 202, 204, 206, 301, 304, 400, 401, 403,
                                                    404, 405, 406, 411, 413, 422, 429, 500, 503, 507};

/* Upper bounds in microseconds. */
static const uint64_t bounds[METRICS_BUCKETS] = {1000,   2500,   5000,    10000,   25000,    50000,
                                                 100000, 250000, 1000000, 5000000, 30000000, 120000000};

void pyro_serve_metrics_count(struct serve_metrics *metrics, size_t service, unsigned status, uint64_t microseconds)
{
    size_t row = 0, bucket = 0;
    if (service >= METRICS_SERVICES)
        service = METRICS_SERVICES - 1;
    /* What is not listed counts as the first of its hundred. */
    while (row < METRICS_STATUSES && statuses[row] != status)
        row++;
    for (size_t i = 0; row == METRICS_STATUSES && i < METRICS_STATUSES; i++)
        if (statuses[i] / 100 == status / 100)
            row = i;
    while (bucket < METRICS_BUCKETS && microseconds > bounds[bucket])
        bucket++;
    if (row < METRICS_STATUSES)
        atomic_fetch_add_explicit(&metrics->services[service].statuses[row], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->services[service].buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->services[service].microseconds, microseconds, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void head(struct pyro_strbuf *out, const char *name, const char *type, const char *help)
{
    pyro_strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct pyro_strbuf *out, const char *name, const char *type, const char *help, uint64_t value)
{
    head(out, name, type, help);
    pyro_strbuf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void seconds(struct pyro_strbuf *out, uint64_t microseconds)
{
    pyro_strbuf_printf(out, "%" PRIu64 ".%06" PRIu64, microseconds / 1000000, microseconds % 1000000);
}

static const char *service_name(size_t row)
{
    const char *name = row < METRICS_SERVICES - 1 ? pyro_serve_service_name(row) : NULL;
    return name ? name : row == METRICS_SERVICES - 1 ? "none" : NULL;
}

static void write_requests(struct pyro_strbuf *out, const struct serve_metrics *metrics)
{
    head(out, "pyrometer_http_requests_total", "counter", "Requests that were answered.");
    for (size_t i = 0; i < METRICS_SERVICES; i++)
        for (size_t k = 0; service_name(i) && k < METRICS_STATUSES; k++)
            if (get(&metrics->services[i].statuses[k]))
                pyro_strbuf_printf(out, "pyrometer_http_requests_total{service=\"%s\",status=\"%u\"} %" PRIu64 "\n",
                                   service_name(i), statuses[k], get(&metrics->services[i].statuses[k]));
}

static void write_latencies(struct pyro_strbuf *out, const struct serve_metrics *metrics)
{
    static const char name[] = "pyrometer_http_request_duration_seconds";
    head(out, name, "histogram",
         "Time from the last byte of a request to its answer, without the time to send the answer.");
    for (size_t i = 0; i < METRICS_SERVICES; i++) {
        uint64_t counts[METRICS_BUCKETS + 1], sum = 0, all = 0;
        for (size_t k = 0; k <= METRICS_BUCKETS; k++)
            all += counts[k] = get(&metrics->services[i].buckets[k]);
        if (all == 0 || !service_name(i))
            continue;
        for (size_t k = 0; k < METRICS_BUCKETS; k++) {
            sum += counts[k];
            pyro_strbuf_printf(out, "%s_bucket{service=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, service_name(i),
                               (double)bounds[k] / 1e6, sum);
        }
        pyro_strbuf_printf(out, "%s_bucket{service=\"%s\",le=\"+Inf\"} %" PRIu64 "\n%s_sum{service=\"%s\"} ", name,
                           service_name(i), all, name, service_name(i));
        seconds(out, get(&metrics->services[i].microseconds));
        pyro_strbuf_printf(out, "\n%s_count{service=\"%s\"} %" PRIu64 "\n", name, service_name(i), all);
    }
}

static void write_catalog(struct serve_request *request)
{
    struct pyro_strbuf *out = request->out;
    const struct pyro_catalog_list *list = pyro_serve_list(request);
    struct pyro_catalog_usage usage = pyro_catalog_usage(request->catalog);
    size_t count, unreadable, running = 0, attempts = 0;
    const struct pyro_catalog_app *apps = pyro_catalog_list_apps(list, &count);
    pyro_catalog_list_unreadable(list, &unreadable);
    for (size_t i = 0; i < count; i++) {
        running += !apps[i].attempts->completed;
        attempts += apps[i].attempt_count;
    }
    one(out, "pyrometer_applications", "gauge", "Applications in the list.", count);
    one(out, "pyrometer_application_attempts", "gauge", "Attempts in the list.", attempts);
    one(out, "pyrometer_applications_running", "gauge", "Applications that have not ended.", running);
    one(out, "pyrometer_unreadable_logs", "gauge", "Files in the folders that are not a log or cannot be read.",
        unreadable);
    one(out, "pyrometer_list_changes_total", "counter", "Number of changes of the list of applications.",
        pyro_catalog_list_generation(list));
    one(out, "pyrometer_watched_folders", "gauge", "Folders whose changes are noticed immediately.", usage.watched);
    one(out, "pyrometer_unwatched_folders", "gauge",
        "Folders whose changes are noticed only by the next check: on network file systems, or beyond the watch limit "
        "of the system.",
        usage.unwatched);
    one(out, "pyrometer_open_applications", "gauge", "Applications in memory.", usage.open);
    one(out, "pyrometer_open_bytes", "gauge", "Memory of the applications in memory.", usage.memory_bytes);
    one(out, "pyrometer_loads_total", "counter", "Logs that were read.", usage.loads);
    one(out, "pyrometer_load_hits_total", "counter", "Requests for an application that was in memory.", usage.hits);
    one(out, "pyrometer_evictions_total", "counter", "Applications that were closed to stay within the memory limit.",
        usage.evictions);
}

static uint64_t resident_bytes(void)
{
    unsigned long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%llu %llu", &size, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count > 3 ? count - 3 : 0; /* two are not files, one is the folder */
}

/* One line a class. */
static void write_class_counts(struct pyro_strbuf *out, struct serve_limiter *limiter)
{
    static const struct {
        const char *name, *type, *help;
        bool light; /* there are figures of light ones, too: they are never refused nor stopped */
    } rows[] = {
        {"pyrometer_requests_running", "gauge", "Requests in progress, by class; a query is part of a heavy request.",
         true},
        {"pyrometer_requests_waiting", "gauge", "Requests that wait for other requests of their class.", true},
        {"pyrometer_requests_refused_total", "counter",
         "Requests that were refused because of too many others of their class.", false},
        {"pyrometer_requests_stopped_total", "counter",
         "Requests that were stopped: because of the time limit, the memory limit, or a closed connection.", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        head(out, rows[i].name, rows[i].type, rows[i].help);
        for (int class = SERVE_LIGHT; class < SERVE_CLASSES; class ++) {
            struct serve_class_counts counts = pyro_limiter_counts(limiter, (enum serve_class) class);
            const uint64_t values[] = {counts.running, counts.waiting, counts.refused, counts.stopped};
            if (class != SERVE_LIGHT || rows[i].light)
                pyro_strbuf_printf(out, "%s{class=\"%s\"} %" PRIu64 "\n", rows[i].name,
                                   pyro_limiter_class_name((enum serve_class) class), values[i]);
        }
    }
}

static void write_process(struct pyro_strbuf *out, const struct serve_metrics *metrics)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    head(out, "process_cpu_seconds_total", "counter", "CPU time of this process.");
    pyro_strbuf_add_text(out, "process_cpu_seconds_total ");
    seconds(out, (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
    pyro_strbuf_add_char(out, '\n');
    one(out, "process_resident_memory_bytes", "gauge", "Memory of this process.", resident_bytes());
    one(out, "process_open_fds", "gauge", "Open files and sockets.", open_files());
    head(out, "process_start_time_seconds", "gauge", "Start time of the server.");
    pyro_strbuf_add_text(out, "process_start_time_seconds ");
    seconds(out, (uint64_t)metrics->started_ms * 1000);
    pyro_strbuf_add_char(out, '\n');
}

void pyro_serve_metrics(struct serve_request *request)
{
    const struct serve_metrics *metrics = &request->shared->metrics;
    struct pyro_strbuf *out = request->out;
    if (request->path.len) {
        pyro_serve_plain(request, 404, "HTTP 404 Not Found");
        return;
    }
    if (!pyro_serve_list(request)) {
        pyro_serve_plain(request, 503, "no memory left");
        return;
    }
    request->type = "text/plain; version=0.0.4; charset=utf-8";
    head(out, "pyrometer_build_info", "gauge", "The version, as a label of 1.");
    pyro_strbuf_printf(out, "pyrometer_build_info{version=\"%s\"} 1\n", PYROMETER_VERSION);
    write_requests(out, metrics);
    write_latencies(out, metrics);
    write_class_counts(out, request->shared->limiter);
    write_catalog(request);
    one(out, "pyrometer_uploads_total", "counter", "Accepted uploads.", get(&metrics->uploads));
    one(out, "pyrometer_upload_bytes_total", "counter", "Bytes of accepted uploads.", get(&metrics->upload_bytes));
    one(out, "pyrometer_uploads_refused_total", "counter", "Uploads that were not a readable log.",
        get(&metrics->uploads_refused));
    one(out, "pyrometer_uploads_too_costly_total", "counter",
        "Uploads that exceeded the CPU time limit of an upload or of its user.", get(&metrics->uploads_too_costly));
    head(out, "pyrometer_upload_cpu_seconds_total", "counter", "CPU time for checking uploads.");
    pyro_strbuf_add_text(out, "pyrometer_upload_cpu_seconds_total ");
    seconds(out, get(&metrics->upload_cpu_us));
    pyro_strbuf_add_text(out, "\n");
    write_process(out, metrics);
}
