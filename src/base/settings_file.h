/* Settings that people write: YAML, and JSON, which is YAML too. A file becomes a tree of nodes in the caller's arena;
 * every node knows its line, so that a complaint can say where.
 *
 *     const struct pyro_settings *root, *wall;
 *     PYRO_TRY(pyro_settings_load(&arena, "budget.yaml", &root, error));
 *     if ((wall = pyro_settings_get(root, "wall")) && !pyro_settings_duration(wall, &ms))
 *         return pyro_settings_refuse(wall, "budget.yaml", error, "a duration such as 20m or 1h30m");
 *
 * Plain data only: anchors, aliases, tags, a second document and repeated keys are refused, so that a file can neither
 * grow while it is read nor mean two things. Quotation marks make a text: "10" is no number where one is asked for. */
#ifndef PYRO_BASE_SETTINGS_FILE_H
#define PYRO_BASE_SETTINGS_FILE_H

#include "base/arena.h"
#include "base/error.h"

enum {
    PYRO_SETTINGS_MAX_BYTES = 1 << 20,
    PYRO_SETTINGS_MAX_DEPTH = 32,
    PYRO_SETTINGS_MAX_ENTRIES = 1000 /* of one map or list */
};

enum pyro_settings_kind { PYRO_SETTINGS_SCALAR, PYRO_SETTINGS_LIST, PYRO_SETTINGS_MAP };

struct pyro_settings;
struct pyro_settings_entry {
    struct pyro_slice key; /* null in a list; NUL-terminated otherwise */
    const struct pyro_settings *value;
    unsigned line; /* where the key (in a list, the value) stands */
};

struct pyro_settings {
    enum pyro_settings_kind kind;
    unsigned line;          /* from 1 */
    struct pyro_slice text; /* of a scalar, NUL-terminated */
    bool quoted;
    const struct pyro_settings_entry *entries; /* of a map or list, in the order of the file */
    size_t count;
};

/* `path` names the source in errors. PYRO_ERROR_INPUT: not well-formed; the message says which line and why. An empty
 * file is an empty map. */
enum pyro_status pyro_settings_parse(struct pyro_arena *arena, const char *path, const void *text, size_t len,
                                     const struct pyro_settings **ret, struct pyro_error *error);
/* Reads the file at `path`. PYRO_ERROR_INPUT also where it cannot be opened or is larger than a settings file is. */
enum pyro_status pyro_settings_load(struct pyro_arena *arena, const char *path, const struct pyro_settings **ret,
                                    struct pyro_error *error);

/* The value of a map's key, or NULL; also NULL for a node that is no map, or NULL itself. */
const struct pyro_settings *pyro_settings_get(const struct pyro_settings *map, const char *key);

/* What a node holds. False: it is something else, and *ret stays as it is. Durations and sizes accept a bare number too
 * (milliseconds, bytes). */
bool pyro_settings_is_null(const struct pyro_settings *node); /* null, ~ or nothing */
bool pyro_settings_bool(const struct pyro_settings *node, bool *ret);
bool pyro_settings_number(const struct pyro_settings *node, double *ret); /* finite; "12", "0.5", "1e3" */
bool pyro_settings_int(const struct pyro_settings *node, int64_t *ret);
bool pyro_settings_share(const struct pyro_settings *node, double *ret);     /* 0.1 or 10 % */
bool pyro_settings_duration(const struct pyro_settings *node, int64_t *ret); /* 90s, 20m, 20min, 1h30m, 2d, 1500ms */
bool pyro_settings_size(const struct pyro_settings *node, int64_t *ret);     /* 512m, 10g, 10 GiB, 4096 */
bool pyro_settings_text(const struct pyro_settings *node, const char **ret); /* any scalar but null */

/* "budget.yaml, line 3: 'soon' is no duration such as 20m": PYRO_ERROR_ARGUMENT. `wanted` begins with its article. */
enum pyro_status pyro_settings_refuse(const struct pyro_settings *node, const char *path, struct pyro_error *error,
                                      const char *wanted);

#endif
