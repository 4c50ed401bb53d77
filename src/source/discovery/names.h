/* What the name of a file says about it. Spark, its History Server and Databricks agree on names, not on contents. */
#ifndef PYRO_SOURCE_DISCOVERY_NAMES_H
#define PYRO_SOURCE_DISCOVERY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings/slice.h"

enum pyro_name_kind {
    PYRO_NAME_IGNORED,    /* hidden (.x, _x) or one of Hadoop's checksums (*.crc) */
    PYRO_NAME_SINGLE,     /* anything else */
    PYRO_NAME_STATUS,     /* appstatus_KEY[.inprogress] */
    PYRO_NAME_PART,       /* events_NUMBER_KEY[.CODEC][.compact] */
    PYRO_NAME_DATABRICKS, /* eventlog-YYYY-MM-DD--HH-MM[.gz], or eventlog */
};

struct pyro_name {
    enum pyro_name_kind kind;
    uint64_t number;       /* PART: N */
    struct pyro_slice key; /* STATUS and PART: APP[_ATTEMPT], which joins them */
    bool compacted, in_progress;
    bool newest; /* DATABRICKS: the file being written, without a time in its name */
};

struct pyro_name pyro_name_of(struct pyro_slice base);

/* The order in which people expect names: runs of digits by their value ("app-9" before "app-10"), else by byte; names
 * that differ only in leading zeros by byte, so that the order is total. */
int pyro_natural_compare(struct pyro_slice a, struct pyro_slice b);

/* What is after the last '/', and before it (without the '/'; null where there is none). */
struct pyro_slice pyro_base_name(struct pyro_slice path);
struct pyro_slice pyro_folder_name(struct pyro_slice path);

#endif
