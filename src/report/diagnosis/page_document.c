/* Documents of the HTML report that are worked out: predictions over a grid, which the page's sliders move on, and
 * costs. */
#include <stdio.h>
#include <string.h>

#include "base/memory/allocator.h"
#include "base/options.h"
#include "report/whatif/write_whatif.h"

/* Executors from an eighth to four times what there was. Other numbers of cores change what tasks do, so that all of
 * them are looked at for each scenario: only where they are few. */
enum { GRID_MAX = 24, TEXT_BYTES = 512, FEW_TASKS = 10000 };

struct numbers {
    int64_t values[GRID_MAX];
    size_t count;
};

/* Ascending, each once. */
static void add_number(struct numbers *numbers, int64_t value)
{
    bool known = numbers->count && numbers->values[numbers->count - 1] == value;
    if (!known && numbers->count < GRID_MAX)
        numbers->values[numbers->count++] = value;
}

/* 1, 2, 3, 4, 6, 8, 12, ... around the number that there was, which is one of them. */
static struct numbers choose_executors(int64_t now)
{
    struct numbers numbers = {.count = 0};
    int64_t least = now / 8 > 0 ? now / 8 : 1, most = now <= 2 ? 8 : now > INT32_MAX / 4 ? INT32_MAX : now * 4;
    int64_t before = 0;
    for (int64_t step = 1; step <= most; step *= 2) {
        int64_t both[] = {step, step / 2 * 3};
        for (size_t i = 0; i < 2; i++) {
            int64_t value = both[i];
            if (value <= before || (i == 1 && step < 2))
                continue;
            if (before < now && now < value)
                add_number(&numbers, now);
            if (value >= least && value <= most)
                add_number(&numbers, value);
            before = value;
        }
    }
    return numbers;
}

static struct numbers choose_cores(int64_t now)
{
    struct numbers numbers = {.count = 0};
    if (now > 1)
        add_number(&numbers, now / 2);
    add_number(&numbers, now);
    if (now <= INT32_MAX / 2)
        add_number(&numbers, now * 2);
    return numbers;
}

/* "executors=1,2,4" */
static void say_sweep(const char *name, const struct numbers *numbers, char *text)
{
    size_t len = (size_t)snprintf(text, TEXT_BYTES, "%s=", name);
    for (size_t i = 0; i < numbers->count && len < TEXT_BYTES; i++)
        len += (size_t)snprintf(text + len, TEXT_BYTES - len, i ? ",%lld" : "%lld", (long long)numbers->values[i]);
}

static enum pyro_status write_whatif(const struct pyro_page_options *page, const struct pyro_options *options,
                                     const pyro_diagnosis *diagnosis, const struct pyro_writer *writer,
                                     struct pyro_error *error)
{
    char executors[TEXT_BYTES], cores[TEXT_BYTES];
    const char *sweeps[] = {executors, cores};
    struct pyro_whatif_options asked = {.size = sizeof(asked), .prices = page->prices};
    pyro_whatif *whatif = NULL;
    PYRO_TRY(pyro_whatif_run(diagnosis, &asked, options, &whatif, error));
    const struct pyro_predicted_run run = whatif->run;
    int64_t tasks = (int64_t)run.app->tasks.count;
    pyro_whatif_free(whatif);
    if (run.executors <= 0 || run.cores <= 0)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the log has no executors for a prediction");
    struct numbers more = choose_executors(run.executors), wide = choose_cores(run.cores);
    say_sweep("executors", &more, executors);
    say_sweep("cores", &wide, cores);
    asked.sweep = sweeps;
    asked.sweep_count = tasks <= FEW_TASKS ? 2 : 1;
    PYRO_TRY(pyro_whatif_run(diagnosis, &asked, options, &whatif, error));
    struct pyro_output output;
    pyro_output_init(&output, writer, options->allocator);
    pyro_whatif_json(&output, whatif, false);
    pyro_whatif_free(whatif);
    return pyro_output_done(&output, error);
}

static enum pyro_status write_cost(const struct pyro_page_options *page, const pyro_diagnosis *diagnosis,
                                   const struct pyro_writer *writer, struct pyro_error *error)
{
    pyro_prices *own = NULL;
    pyro_costs *costs = NULL;
    struct pyro_cost_options wanted = {.size = sizeof(wanted), .prices = page->prices};
    if (!wanted.prices)
        PYRO_TRY(pyro_prices_new(NULL, &own, error));
    wanted.prices = wanted.prices ? wanted.prices : own;
    enum pyro_status status = pyro_costs_new(&wanted, NULL, &costs, error);
    if (status == PYRO_OK)
        status = pyro_costs_add(costs, pyro_unconst(diagnosis->app), error); /* which it only reads */
    if (status == PYRO_OK)
        status = pyro_costs_write(costs, PYRO_FORMAT_JSON, NULL, writer, error);
    pyro_costs_free(costs);
    pyro_prices_free(own);
    return status;
}

enum pyro_status pyro_page_document(void *context, const pyro_diagnosis *diagnosis, const char *name,
                                    const struct pyro_writer *writer, struct pyro_error *error)
{
    struct pyro_page_options page = {.size = sizeof(page)};
    struct pyro_options options;
    pyro_error_clear(error);
    if (!diagnosis || !name || !pyro_can_write(writer))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "the diagnosis, the name or the writer is missing");
    if (!pyro_struct_take(&page, sizeof(page), context))
        return pyro_struct_refused("pyro_page_options", error);
    PYRO_TRY(pyro_options_resolve(page.options, &options, error));
    if (strcmp(name, "whatif") == 0)
        return write_whatif(&page, &options, diagnosis, writer, error);
    if (strcmp(name, "cost") == 0)
        return write_cost(&page, diagnosis, writer, error);
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "there is no document '%.60s'", name);
}
