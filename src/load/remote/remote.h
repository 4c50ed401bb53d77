/* Addresses as inputs: which logs they stand for, and bringing one here. */
#ifndef PYRO_LOAD_REMOTE_REMOTE_H
#define PYRO_LOAD_REMOTE_REMOTE_H

#include "base/options.h"
#include "source/http/http.h"
#include "source/source.h"

/* Where a log is. NUL-terminated, escaped as addresses are; of the list's arena. */
struct pyro_remote {
    struct pyro_slice base;         /* of a server or live UI, without a slash at its end; or the address of a file */
    struct pyro_slice app, attempt; /* null ptr: the address is a file's; the application has no attempts */
    int64_t updated_ms;             /* when its log grew last, as the server lists it; -1: unknown */
};

/* The address of a server without what a browser or a program shows behind it: parameters, "/api/v1..." and slashes. A
 * slice of `url`. */
struct pyro_slice pyro_remote_server(const char *url);

/* Replaces the addresses among the logs by what their servers have; fails on memory and cancellation only. */
enum pyro_status pyro_remote_expand(struct pyro_log_list *list, const struct pyro_load_settings *options,
                                    struct pyro_error *error);

/* A log that can be read with pyro_reader, wherever it came from. */
struct pyro_fetched {
    const struct pyro_log *log;
    struct pyro_log_list list; /* of the temporary file */
    int fd;                    /* -1: none */
    bool rest;                 /* made of REST answers */
    bool forgotten;            /* the server had thrown away jobs, stages or SQL executions */
    uint64_t tasks, lost_tasks;
    struct pyro_history *history; /* what the server shows, where it is made of REST answers and settings ask for it */
    char notes[3][400];           /* what a report says of it, "" none */
};

/* Brings a remote log into a temporary file that has no name, as the log itself or made of REST answers; a local one is
 * handed out as it is. To be released with pyro_fetched_done() in any case. */
enum pyro_status pyro_fetch(const struct pyro_log *log, const struct pyro_load_settings *options,
                            struct pyro_fetched *ret, struct pyro_error *error);
void pyro_fetched_done(struct pyro_fetched *fetched);

/* remote.c: the client that the options ask for. `path` names the log in progress. */
struct pyro_remote_client {
    const struct pyro_load_settings *options;
    const char *path;
    struct pyro_http *http;
    uint64_t received; /* of what was fetched before */
};
/* The client stays where it is until it is closed. */
enum pyro_status pyro_remote_client_open(struct pyro_remote_client *client, const struct pyro_load_settings *options,
                                         const char *path, struct pyro_error *error);
void pyro_remote_client_close(struct pyro_remote_client *client);
struct pyro_remote_options pyro_remote_resolve(const struct pyro_load_settings *options);
/* What the server answered goes to options->unread, and replaces its content. */
void pyro_remote_keep(const struct pyro_load_settings *options, struct pyro_slice answer);
/* Appends "BASE/api/v1/applications[/APP[/ATTEMPT]]". */
void pyro_remote_add_api(struct pyro_strbuf *url, const struct pyro_remote *remote, bool attempt);

enum { PYRO_REMOTE_TRIES = 3 };
#define PYRO_REMOTE_ANSWER_BYTES (UINT64_C(256) << 20)

#endif
