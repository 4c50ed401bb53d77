/* whatif_constants: predicts pairs of recorded runs with other values of src/predict/fitted.def.
 *
 *     whatif_constants [NAME=VALUE[,NAME=VALUE...]]... <pairs
 *
 * A line of pairs is the id of the first job that counts, the log, and what is set ("spark.executor.cores=2"), with
 * tabs between them; lines of one log follow each other. For each pair the output has a line: what the jobs from the
 * first one on take, ms, once for each argument; -1 where it is refused (corpus/whatif_fit.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "predict/predict.h"

enum { LINE = 8192, SETTINGS = 32, VECTORS = 4096 };

static void check(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "whatif_constants: %s\n", what);
        exit(2);
    }
}

/* Fills `ret` with the values that `text` changes. */
static void read_vector(char *text, double *ret)
{
    memcpy(ret, pyro_constants, sizeof(pyro_constants));
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        char *value = strchr(word, '=');
        bool known = false;
        check(value != NULL, "a constant has no value");
        *value++ = '\0';
        for (int i = 0; i < PYRO_CONSTANTS; i++)
            if (strcmp(word, pyro_constant_names[i]) == 0) {
                ret[i] = strtod(value, NULL);
                known = true;
            }
        check(known, "there is no such constant");
    }
}

static pyro_app *load(const char *path)
{
    pyro_inputs *inputs = NULL;
    pyro_app *app = NULL;
    check(pyro_inputs_open(&path, 1, NULL, NULL, &inputs, NULL) == PYRO_OK && pyro_inputs_count(inputs) == 1, path);
    check(pyro_app_load(inputs, 0, NULL, NULL, &app, NULL) == PYRO_OK, path);
    pyro_inputs_close(inputs);
    return app;
}

/* From the start of job `first` to the end of the last one. */
static int64_t jobs_ms(const struct pyro_app *app, const struct pyro_scenario *scenario, int64_t first)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (size_t i = 0; i < app->jobs.count; i++) {
        const struct pyro_replay_span *span = &scenario->jobs[i];
        if (app->jobs.items[i].id < first || span->start_ms < 0)
            continue;
        from = span->start_ms < from ? span->start_ms : from;
        to = span->end_ms > to ? span->end_ms : to;
    }
    return to > from ? to - from : -1;
}

static int64_t predict(const struct pyro_app *app, const double *constants, const char *const *set, size_t count,
                       int64_t first)
{
    struct pyro_whatif whatif = {.run = {.constants = constants}};
    int64_t ms = -1;
    pyro_arena_init(&whatif.arena, NULL);
    if (pyro_whatif_ask(&whatif, set, count, NULL, 0, NULL) == PYRO_OK &&
        pyro_predict_prepare(&whatif.run, app, true, NULL) == PYRO_OK &&
        pyro_predict(&whatif.run, whatif.run.replay, &whatif.arena, whatif.scenarios, NULL) == PYRO_OK)
        ms = jobs_ms(app, whatif.scenarios, first);
    pyro_predict_done(&whatif.run);
    pyro_arena_done(&whatif.arena);
    return ms;
}

int main(int argc, char **argv)
{
    static char line[LINE], loaded[LINE];
    static double vectors[VECTORS][PYRO_CONSTANTS];
    pyro_app *app = NULL;
    check(argc <= VECTORS, "too many arguments");
    for (int i = 1; i < argc; i++)
        read_vector(argv[i], vectors[i]);
    while (fgets(line, sizeof(line), stdin)) {
        const char *set[SETTINGS];
        size_t count = 0;
        line[strcspn(line, "\n")] = '\0';
        const char *first = strtok(line, "\t"), *path = strtok(NULL, "\t");
        check(first && path, "a line needs a job and a log");
        for (const char *word = strtok(NULL, "\t"); word && count < SETTINGS; word = strtok(NULL, "\t"))
            set[count++] = word;
        if (strcmp(loaded, path) != 0) {
            pyro_app_release(app);
            app = load(path);
            snprintf(loaded, sizeof(loaded), "%s", path);
        }
        for (int i = 1; i < argc; i++)
            printf("%lld%s", (long long)predict(app, vectors[i], set, count, strtoll(first, NULL, 10)),
                   i + 1 < argc ? " " : "\n");
    }
    pyro_app_release(app);
    return 0;
}
