/* Suggestions that a store keeps, and those that were applied. */
#ifndef PYRO_FLEET_SUGGEST_KEEP_SUGGESTIONS_H
#define PYRO_FLEET_SUGGEST_KEEP_SUGGESTIONS_H

#include "fleet/suggest/suggest.h"
#include "store/store.h"

/* A row of the store, as far as a review needs it. */
struct pyro_kept_suggestion {
    struct pyro_suggestion_row row;
    struct pyro_suggest_setting settings[PYRO_CANDIDATE_SETTINGS];
    size_t setting_count;
    double high_ms; /* that was promised; NaN: none */
    struct pyro_slice target, kept, before, after;
    int64_t applied_ms;
};
/* Those of an application (null: of all), oldest first. */
enum pyro_status pyro_kept_suggestions(pyro_store *store, struct pyro_slice application, struct pyro_arena *arena,
                                       struct pyro_kept_suggestion **ret, size_t *ret_count, struct pyro_error *error);
/* The newest one that changed this file and was not taken back; NULL: there is none. */
const struct pyro_kept_suggestion *pyro_kept_suggestion_last(const struct pyro_kept_suggestion *all, size_t count,
                                                             struct pyro_slice target);
/* Fills settings, promise and application of a file from a document of pyrometer.suggestion/1. */
enum pyro_status pyro_kept_suggestion_read(struct pyro_slice document, struct pyro_arena *arena,
                                           struct pyro_kept_suggestion *kept, struct pyro_error *error);
/* Writes a kept one in another state. */
enum pyro_status pyro_kept_suggestion_move(pyro_store *store, const struct pyro_kept_suggestion *kept,
                                           const char *state, struct pyro_slice note, struct pyro_error *error);

#endif
