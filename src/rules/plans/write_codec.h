/* How the files of a write are compressed, as its plan and the application's settings say. */
#ifndef PYRO_RULES_PLANS_WRITE_CODEC_H
#define PYRO_RULES_PLANS_WRITE_CODEC_H

#include "rules/plans/file_scans.h"
#include "rules/plans/writes.h"

enum pyro_write_codec {
    PYRO_CODEC_UNKNOWN,
    PYRO_CODEC_NONE,
    PYRO_CODEC_FAST,   /* snappy, lz4, lzo, zstd */
    PYRO_CODEC_SLOW,   /* gzip, deflate, brotli: some 30 MB/s of plain data by one core */
    PYRO_CODEC_SLOWEST /* bzip2, xz: some 8 MB/s */
};

struct pyro_write_format {
    enum pyro_file_scan_format format; /* PYRO_FILE_SCAN_OTHER: unknown */
    enum pyro_write_codec codec;
    struct pyro_slice name; /* of the codec as it was set; "" where it was not */
    const char *key;        /* the setting that gives it when the write itself does not say; NULL: there is none */
    bool from_option;       /* said by the write itself */
};

/* Reads "Execute InsertIntoHadoopFsRelationCommand PATH, false, [partitions], FORMAT, [options], MODE, ...". */
void pyro_write_format(const struct pyro_app *app, const struct pyro_write *write, struct pyro_write_format *ret);

#endif
