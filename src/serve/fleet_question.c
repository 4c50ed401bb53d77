#include "serve/fleet_question.h"

#include "serve/access/acl.h"

const char *pyro_serve_store_url(const struct pyro_catalog *catalog, size_t number)
{
    return number > 0 ? pyro_catalog_store_url(catalog, number - 1) : NULL;
}

bool pyro_serve_viewer(const struct serve_request *request, struct pyro_arena *arena,
                       struct serve_fleet_question *question)
{
    question->narrowed = request && request->visible;
    if (!question->narrowed)
        return true;
    const struct acls *acls = request->acls;
    question->viewer =
        (struct pyro_query_viewer){pyro_arena_copy(arena, pyro_slice_from(request->user)),
                                   pyro_arena_copy(arena, pyro_slice_from(request->groups)), acls->always};
    return question->viewer.user.ptr && question->viewer.groups.ptr;
}

enum pyro_status pyro_serve_fleet_write(const struct serve_fleet_question *question, const pyro_prices *prices,
                                        enum pyro_format format, const struct pyro_report_options *report,
                                        const struct pyro_options *options, const struct pyro_writer *writer,
                                        struct pyro_error *error)
{
    struct pyro_fleet_options wanted = question->wanted;
    pyro_store *store = NULL;
    pyro_prices *own = NULL;
    PYRO_TRY(pyro_store_open_to_read(question->url, &store, error));
    enum pyro_status status = PYRO_OK;
    if (!prices && pyro_fleet_view_takes(question->view, "prices"))
        status = pyro_prices_new(NULL, &own, error);
    wanted.prices = prices ? prices : own;
    if (status == PYRO_OK)
        status = pyro_fleet_view_for(store, question->view, question->narrowed ? &question->viewer : NULL, &wanted,
                                     format, report, options, writer, error);
    pyro_prices_free(own);
    pyro_store_close(store);
    return status;
}

enum pyro_status pyro_serve_suggestion_write(const struct serve_fleet_question *question, const char *application,
                                             const struct pyro_suggest_options *wanted,
                                             enum pyro_suggestion_format format, const struct pyro_options *options,
                                             const struct pyro_writer *writer, struct pyro_error *error)
{
    pyro_store *store = NULL;
    pyro_suggestion *suggestion = NULL;
    PYRO_TRY(pyro_store_open_to_read(question->url, &store, error));
    enum pyro_status status = pyro_suggest_for(store, question->narrowed ? &question->viewer : NULL, application,
                                               wanted, options, &suggestion, error);
    if (status == PYRO_OK)
        status = pyro_suggestion_write(suggestion, format, writer, error);
    pyro_suggestion_free(suggestion);
    pyro_store_close(store);
    return status;
}
