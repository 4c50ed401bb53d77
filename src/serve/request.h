/* One HTTP request and its answer, apart from the library that carries them. What answers requests is a row of
 * services.def: a family of paths below a prefix, in a folder of its own. */
#ifndef PYRO_SERVE_REQUEST_H
#define PYRO_SERVE_REQUEST_H

#include "base/strings/strbuf.h"
#include "catalog/catalog.h"
#include "serve/limiter.h"

/* One `name=value` of the query, decoded. */
struct serve_parameter {
    struct pyro_slice name, value;
};

struct serve_header {
    const char *name; /* a literal */
    char value[256];
};

enum { SERVE_PARAMETERS = 64, SERVE_SEGMENTS = 16, SERVE_HEADERS = 8 };

enum serve_method {
    SERVE_GET = 1 << 0,
    SERVE_POST = 1 << 1,
    SERVE_DELETE = 1 << 2,
    SERVE_PUT = 1 << 3,
    SERVE_OPTIONS = 1 << 4
};

/* In the column `methods` of services.def: POST there changes nothing, so that who may read may send it. */
enum { SERVE_POST_READS = 1 << 8 };

/* In the column `body_bytes` of services.def: the body goes to a file, as long as the server takes uploads at all. */
#define SERVE_TO_FILE SIZE_MAX

/* What `read` of a stream answers instead of a number of bytes. */
enum { SERVE_STREAM_LATER = 0, SERVE_STREAM_END = -1, SERVE_STREAM_BROKEN = -2 };

/* An answer's body that is made while it is sent, by one thread of its own, and only as fast as the client reads. */
struct serve_stream {
    /* Puts at most `size` bytes (at least 64 KiB are offered) into `buffer` and says how many; SERVE_STREAM_LATER: none
     * yet, ask again; SERVE_STREAM_END: that was all; SERVE_STREAM_BROKEN: it cannot be finished, and the connection is
     * cut so that the client notices. It may block, but no longer than about a second, by waiting and answering
     * SERVE_STREAM_LATER: only between two calls it can learn that the client has disconnected. */
    int64_t (*read)(void *context, char *buffer, size_t size);
    void (*close)(void *context); /* called once, however the answer ends, also when it was never begun; may be NULL */
    void *context;
    int64_t length; /* bytes, where they are known before (Content-Length); -1: sent in chunks */
};

/* Who asks. */
enum serve_role { SERVE_ROLE_NONE, SERVE_ROLE_VIEW, SERVE_ROLE_UPLOAD, SERVE_ROLE_ADMIN };

struct serve_shared;
struct serve_upload;
struct serve_uploads;

struct serve_request {
    struct pyro_catalog *catalog;
    struct serve_shared *shared;
    const struct pyro_catalog_list *list; /* for pyro_serve_list() */
    /* Which of it this user may see; NULL: all. May be called again and again, from any thread. */
    pyro_catalog_visible *visible;
    void *acls;               /* for `visible` */
    bool narrowed;            /* `list` is what the user may see */
    enum serve_method method; /* HEAD is SERVE_GET, whose body is not sent */
    struct pyro_slice path;   /* below the service's prefix, decoded, without the query */
    struct serve_parameter parameters[SERVE_PARAMETERS];
    size_t parameter_count;
    struct pyro_slice body; /* of POST and PUT */
    const char *body_file;  /* where the row says SERVE_TO_FILE: the body as a file, which is removed after the answer
                             * unless pyro_upload_keep() has kept it */
    struct serve_upload *upload;   /* the same: its room */
    char payer[65];                /* whose budget of processor time an upload counts for; "": no user's */
    uint64_t body_bytes;           /* of the body, wherever it is */
    struct serve_uploads *uploads; /* NULL: none are taken */
    char user[65], groups[512];    /* the token's name and its groups, as a,b,c; "": none was needed */
    enum serve_role role;
    struct pyro_strbuf *out;
    unsigned status;
    const char *type; /* of the answer; a literal; NULL: not said */
    struct serve_header headers[SERVE_HEADERS];
    size_t header_count;
    struct serve_stream stream;  /* where `read` is set, the body instead of `out` */
    void *transport;             /* for pyro_serve_request_header() */
    struct serve_ticket *ticket; /* of a heavy one; NULL: it is light */
    /* Of a light one whose service finds that it is heavy: it is asked again, with a ticket. */
    bool is_heavy;
    const char *refusal; /* there is no ticket: what the answer is to say, in the service's own form */
};

/* Fills `out` (or `stream`), `status` and `type`, which are empty, 200 and application/json before. An ETag among the
 * headers makes the request conditional: 304 is answered for it where the client has that one. */
typedef void serve_service(struct serve_request *request);
#define SERVICE(prefix, service, methods, body_bytes, class) serve_service pyro_serve_##service;
#include "serve/services.def"
#undef SERVICE

/* How much work a request is, by its path behind the service's prefix. */
typedef enum serve_class serve_class_of(enum serve_method method, const char *path);
serve_class_of pyro_serve_is_light, pyro_serve_is_heavy, pyro_spark_class, pyro_api_class;
/* The same of a whole path. */
enum serve_class pyro_serve_class(enum serve_method method, const char *url);

/* The list of applications that the user may see, the same one for as long as the request is answered. NULL: there was
 * no memory for it, and none may be seen. */
const struct pyro_catalog_list *pyro_serve_list(struct serve_request *request);
/* The parameter's value, or a null slice. */
struct pyro_slice pyro_serve_parameter(const struct serve_request *request, const char *name);
/* The `index`-th value of a parameter that may be given several times, or a null slice. */
struct pyro_slice pyro_serve_parameter_at(const struct serve_request *request, const char *name, size_t index);
/* The value of a header that the client sent (any case), or a null slice; it lives as long as the request. */
struct pyro_slice pyro_serve_request_header(const struct serve_request *request, const char *name);
/* A header of the answer; left out when there are SERVE_HEADERS already or the value is too long or has a line end. */
void pyro_serve_header(struct serve_request *request, const char *name, struct pyro_slice value);
/* The answer is this text and nothing of what was written so far. */
void pyro_serve_plain(struct serve_request *request, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The answer is 503, and when to try again. */
void pyro_serve_unavailable(struct serve_request *request, const char *words);

/* The segments of a path, empty ones left out; SIZE_MAX: more than SERVE_SEGMENTS. */
size_t pyro_serve_split(struct pyro_slice path, struct pyro_slice *segments);
/* Whether segments are those of `route`, of which {} stands for any segment and {#} for one of digits (of a 32-bit
 * number); what stood for those goes to `arguments`, at most `argument_limit`. */
bool pyro_serve_matches(const char *route, const struct pyro_slice *segments, size_t count,
                        struct pyro_slice *arguments, size_t argument_limit);
/* A 32-bit number. */
bool pyro_serve_parse_number(struct pyro_slice text, int64_t *ret);
/* A path's segment of digits; -1: not a number. */
int64_t pyro_serve_id(struct pyro_slice text);

/* Answers by the service whose prefix the path has; 404 and 405 are answered here. `url` is decoded, without query. */
void pyro_serve_answer(struct serve_request *request, const char *url);
/* Whether a POST there changes nothing. */
bool pyro_serve_post_reads(const char *url);
/* Gives an error the form that the clients of its path expect, for every service. */
void pyro_serve_shape_error(struct serve_request *request, const char *url);
/* The row of services.def that answers there, and the name of its service; NULL beyond the last. */
size_t pyro_serve_service_of(const char *url);
const char *pyro_serve_service_name(size_t row);
/* The most bytes that a body sent there may have; 0: no body is taken; SERVE_TO_FILE. */
size_t pyro_serve_body_limit(const char *url, enum serve_method method);

#endif
