/* Settings that people write: YAML, and JSON, which is YAML too. A file becomes a tree of nodes in the caller's arena;
 * every node knows its line, so that a complaint can say where.
 *
 *     const struct pyro_yaml *root, *wall;
 *     PYRO_TRY(pyro_yaml_load(&arena, "budget.yaml", &root, error));
 *     if ((wall = pyro_yaml_get(root, "wall")) && !pyro_yaml_duration(wall, &ms))
 *         return pyro_yaml_refuse(wall, "budget.yaml", error, "a duration such as 20m or 1h30m");
 *
 * Plain data only: anchors, aliases, tags, a second document and repeated keys are refused, so that a file can neither
 * grow while it is read nor mean two things. Quotation marks make a text: "10" is not a number where one is
 * expected. */
#ifndef PYRO_BASE_FILES_SETTINGS_FILE_H
#define PYRO_BASE_FILES_SETTINGS_FILE_H

#include "base/error.h"
#include "base/memory/arena.h"

enum {
    PYRO_YAML_MAX_BYTES = 1 << 20,
    PYRO_YAML_MAX_DEPTH = 32,
    PYRO_YAML_MAX_ENTRIES = 1000 /* of one map or list */
};

enum pyro_yaml_kind { PYRO_YAML_SCALAR, PYRO_YAML_LIST, PYRO_YAML_MAP };

struct pyro_yaml;
struct pyro_yaml_entry {
    struct pyro_slice key; /* null in a list; NUL-terminated otherwise */
    const struct pyro_yaml *value;
    unsigned line; /* of the key (in a list, of the value) */
};

struct pyro_yaml {
    enum pyro_yaml_kind kind;
    unsigned line;          /* from 1 */
    struct pyro_slice text; /* of a scalar, NUL-terminated */
    bool quoted;
    const struct pyro_yaml_entry *entries; /* of a map or list, in the order of the file */
    size_t count;
};

/* `path` names the source in errors. PYRO_ERROR_INPUT: not well-formed; the message says which line and why. An empty
 * file is an empty map. */
enum pyro_status pyro_yaml_parse(struct pyro_arena *arena, const char *path, const void *text, size_t len,
                                 const struct pyro_yaml **ret, struct pyro_error *error);
/* Reads the file at `path`. PYRO_ERROR_INPUT also where it cannot be opened or is larger than a settings file is. */
enum pyro_status pyro_yaml_load(struct pyro_arena *arena, const char *path, const struct pyro_yaml **ret,
                                struct pyro_error *error);

/* The value of a map's key, or NULL; also NULL for a node that is not a map, or NULL itself. */
const struct pyro_yaml *pyro_yaml_get(const struct pyro_yaml *map, const char *key);

/* What a node holds. False: it is something else, and *ret stays as it is. Durations and sizes accept a bare number too
 * (milliseconds, bytes). */
bool pyro_yaml_is_null(const struct pyro_yaml *node); /* null, ~ or nothing */
bool pyro_yaml_bool(const struct pyro_yaml *node, bool *ret);
bool pyro_yaml_number(const struct pyro_yaml *node, double *ret); /* finite; "12", "0.5", "1e3" */
bool pyro_yaml_int(const struct pyro_yaml *node, int64_t *ret);
bool pyro_yaml_share(const struct pyro_yaml *node, double *ret);     /* 0.1 or 10 % */
bool pyro_yaml_duration(const struct pyro_yaml *node, int64_t *ret); /* 90s, 20m, 20min, 1h30m, 2d, 1500ms */
bool pyro_yaml_size(const struct pyro_yaml *node, int64_t *ret);     /* 512m, 10g, 10 GiB, 4096 */
bool pyro_yaml_text(const struct pyro_yaml *node, const char **ret); /* any scalar but null */

/* "budget.yaml, line 3: 'soon' is no duration such as 20m": PYRO_ERROR_ARGUMENT. `wanted` begins with its article. */
enum pyro_status pyro_yaml_refuse(const struct pyro_yaml *node, const char *path, struct pyro_error *error,
                                  const char *wanted);

#endif
