/* What people have said of findings, as it is at one time: any number of threads may judge diagnoses by it at once. */
#ifndef PYRO_STORE_VERDICTS_H
#define PYRO_STORE_VERDICTS_H

#include "base/collections/vec.h"
#include "base/memory/arena.h"
#include "store/store.h"

struct pyro_verdicts {
    const struct pyro_allocator *allocator;
    struct pyro_arena arena;
    PYRO_VEC(struct pyro_verdict_row) rows; /* of findings that were made; without secrets in names of applications */
};

/* Whatever it returns, *ret must be given to pyro_verdicts_done(). */
enum pyro_status pyro_verdicts_read(pyro_store *store, struct pyro_verdicts *ret, struct pyro_error *error);
void pyro_verdicts_done(struct pyro_verdicts *verdicts);
/* Gives the findings of a diagnosis their weight: see pyro_store_apply_feedback(). */
enum pyro_status pyro_verdicts_judge(const struct pyro_verdicts *verdicts, pyro_diagnosis *diagnosis,
                                     struct pyro_error *error);

#endif
