/* run.c FOLDER: from the application in a folder to its text logs, and from there to its profiles.
 *
 *     cc run.c -o run $(pkg-config --cflags --libs pyrometer)
 *     ./run corpus/riddles/logs/slacker_jvm/faulty */
#include <pyrometer.h>
#include <stdio.h>
#include <stdlib.h>

static int print(void *context, const void *data, size_t len)
{
    return fwrite(data, 1, len, context) == len ? 0 : -1;
}

static int fail(const struct pyro_error *error)
{
    fprintf(stderr, "%s%s%s\n", error->path, error->path[0] ? ": " : "", error->message);
    return EXIT_FAILURE;
}

/* What the run was slow for. */
static void print_findings(const pyro_diagnosis *diagnosis)
{
    for (size_t i = 0; i < pyro_diagnosis_finding_count(diagnosis); i++) {
        struct pyro_finding_info finding = {.size = sizeof(finding)};
        if (pyro_diagnosis_finding(diagnosis, i, &finding) == PYRO_OK)
            printf("%s: %s (saves %lld ms)\n", finding.rule, finding.title, (long long)finding.saves_ms);
    }
}

/* The application has the files that lie next to its event log: each is a row of the table `artefacts`, and what it
 * says is in other tables (docs/tables.md). Of the text logs at the path, equal errors are counted together. */
static enum pyro_status print_logs(const char *path, pyro_app *app, const struct pyro_writer *writer,
                                   struct pyro_error *error)
{
    const struct pyro_logs_options warnings = {.size = sizeof(warnings), .level = "warn", .limit = 3};
    enum pyro_status status =
        pyro_sql_query(app, "SELECT kind, count(*) AS files FROM artefacts GROUP BY kind ORDER BY kind",
                       PYRO_FORMAT_TEXT, NULL, writer, error);
    if (status == PYRO_OK)
        status = pyro_logs_errors(&path, 1, &warnings, PYRO_FORMAT_TEXT, NULL, writer, error);
    return status == PYRO_ERROR_INPUT ? PYRO_OK : status; /* there may be no text log */
}

/* Series, methods and allocations of the run, and a flame graph of the stacks of its threads. */
static enum pyro_status print_profiles(const char *path, const pyro_diagnosis *diagnosis,
                                       const struct pyro_writer *writer, struct pyro_error *error)
{
    enum pyro_status status = pyro_profiling_write(NULL, diagnosis, NULL, PYRO_FORMAT_TEXT, NULL, writer, error);
    if (status == PYRO_OK)
        status = pyro_flame_write(&path, 1, NULL, NULL, PYRO_FLAME_FOLDED, writer, NULL, error);
    return status == PYRO_ERROR_INPUT ? PYRO_OK : status; /* there may be no profile */
}

static enum pyro_status print_run(const pyro_inputs *inputs, size_t index, const struct pyro_load_options *load,
                                  const char *path, struct pyro_error *error)
{
    const struct pyro_writer writer = {sizeof(writer), print, stdout};
    pyro_app *app = NULL;
    pyro_diagnosis *diagnosis = NULL;
    enum pyro_status status = pyro_app_load(inputs, index, load, NULL, &app, error);
    if (status == PYRO_OK)
        status = pyro_diagnose(app, NULL, NULL, &diagnosis, error);
    if (status == PYRO_OK) {
        printf("== %s\n", pyro_app_name(app));
        print_findings(diagnosis);
        printf("== logs\n");
        status = print_logs(path, app, &writer, error);
    }
    if (status == PYRO_OK) {
        printf("== profiles\n");
        status = print_profiles(path, diagnosis, &writer, error);
    }
    pyro_diagnosis_free(diagnosis);
    pyro_app_release(app);
    return status;
}

int main(int count, char **arguments)
{
    const char *path = count == 2 ? arguments[1] : ".";
    const struct pyro_load_options load = {.size = sizeof(load), .artefacts = 1};
    struct pyro_error error = {.size = sizeof(error)};
    pyro_inputs *inputs = NULL;
    enum pyro_status status = pyro_inputs_open(&path, 1, &load, NULL, &inputs, &error);
    for (size_t i = 0; status == PYRO_OK && i < pyro_inputs_count(inputs); i++)
        status = print_run(inputs, i, &load, path, &error);
    pyro_inputs_close(inputs);
    return status == PYRO_OK ? EXIT_SUCCESS : fail(&error);
}
