/* A document that is made by a thread of its own: short ones are answered as they are, long ones are streamed as they
 * grow, and a client that goes away ends the work. */
#ifndef PYRO_SERVE_API_ANSWER_JOB_H
#define PYRO_SERVE_API_ANSWER_JOB_H

#include "base/memory/arena.h"
#include "serve/request.h"

enum { API_DIAGNOSES = 2 };

struct api_job;

/* Writes the document. `options`: a progress callback that stops once no client waits any more. */
typedef enum pyro_status api_work(struct api_job *job, const struct pyro_options *options,
                                  const struct pyro_writer *writer, struct pyro_error *error);

struct api_job {
    api_work *work;
    struct pyro_arena arena; /* what the work needs of the request, which ends before the work */
    const struct pyro_catalog_diagnosis *diagnoses[API_DIAGNOSES]; /* released with the job; may be NULL */
    const struct serve_shared *shared;
    struct serve_ticket *ticket; /* of the request, for as long as the work lasts */
    void *question;              /* the work's own, in the arena */
    unsigned refused;            /* status of an answer for PYRO_ERROR_ARGUMENT: 400 or 404 */
    bool says_late;              /* progress does not mean that there will be an answer: only what it writes does */
    struct api_pipe *pipe;
};

/* NULL: no memory, and the request is answered. */
struct api_job *pyro_api_job_new(struct serve_request *request, api_work *work);
/* For a job that is not run. */
void pyro_api_job_free(struct api_job *job);
/* A NUL-terminated copy in the job's arena; NULL for a null slice and when there is no memory. */
const char *pyro_api_job_text(struct api_job *job, struct pyro_slice text);
/* Answers the request by what the job writes, which is taken over. */
void pyro_api_job_run(struct serve_request *request, struct api_job *job);

#endif
