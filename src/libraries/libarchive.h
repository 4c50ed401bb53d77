/* libarchive: archives (source/archives/archive_formats.h) read, and zip archives of the server written. */
#ifndef PYRO_LIBRARIES_LIBARCHIVE_H
#define PYRO_LIBRARIES_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "libraries/on_demand.h"

#define PYRO_ARCHIVE_FUNCTIONS(FUNCTION)                                                                               \
    FUNCTION(archive_entry_filetype)                                                                                   \
    FUNCTION(archive_entry_free)                                                                                       \
    FUNCTION(archive_entry_hardlink)                                                                                   \
    FUNCTION(archive_entry_is_encrypted)                                                                               \
    FUNCTION(archive_entry_new)                                                                                        \
    FUNCTION(archive_entry_pathname)                                                                                   \
    FUNCTION(archive_entry_pathname_utf8)                                                                              \
    FUNCTION(archive_entry_set_filetype)                                                                               \
    FUNCTION(archive_entry_set_mtime)                                                                                  \
    FUNCTION(archive_entry_set_pathname_utf8)                                                                          \
    FUNCTION(archive_entry_set_perm)                                                                                   \
    FUNCTION(archive_entry_size)                                                                                       \
    FUNCTION(archive_entry_size_is_set)                                                                                \
    FUNCTION(archive_entry_sparse_count)                                                                               \
    FUNCTION(archive_error_string)                                                                                     \
    FUNCTION(archive_filter_bytes)                                                                                     \
    FUNCTION(archive_filter_count)                                                                                     \
    FUNCTION(archive_read_data_block)                                                                                  \
    FUNCTION(archive_read_free)                                                                                        \
    FUNCTION(archive_read_new)                                                                                         \
    FUNCTION(archive_read_next_header)                                                                                 \
    FUNCTION(archive_read_open_fd)                                                                                     \
    FUNCTION(archive_read_support_filter_bzip2)                                                                        \
    FUNCTION(archive_read_support_filter_gzip)                                                                         \
    FUNCTION(archive_read_support_filter_lz4)                                                                          \
    FUNCTION(archive_read_support_filter_xz)                                                                           \
    FUNCTION(archive_read_support_filter_zstd)                                                                         \
    FUNCTION(archive_read_support_format_7zip)                                                                         \
    FUNCTION(archive_read_support_format_tar)                                                                          \
    FUNCTION(archive_read_support_format_zip)                                                                          \
    FUNCTION(archive_write_close)                                                                                      \
    FUNCTION(archive_write_data)                                                                                       \
    FUNCTION(archive_write_finish_entry)                                                                               \
    FUNCTION(archive_write_free)                                                                                       \
    FUNCTION(archive_write_header)                                                                                     \
    FUNCTION(archive_write_new)                                                                                        \
    FUNCTION(archive_write_open)                                                                                       \
    FUNCTION(archive_write_set_bytes_per_block)                                                                        \
    FUNCTION(archive_write_set_format_zip)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(archive, PYRO_ARCHIVE_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define archive_entry_filetype            pyro_archive_functions.archive_entry_filetype
#define archive_entry_free                pyro_archive_functions.archive_entry_free
#define archive_entry_hardlink            pyro_archive_functions.archive_entry_hardlink
#define archive_entry_is_encrypted        pyro_archive_functions.archive_entry_is_encrypted
#define archive_entry_new                 pyro_archive_functions.archive_entry_new
#define archive_entry_pathname            pyro_archive_functions.archive_entry_pathname
#define archive_entry_pathname_utf8       pyro_archive_functions.archive_entry_pathname_utf8
#define archive_entry_set_filetype        pyro_archive_functions.archive_entry_set_filetype
#define archive_entry_set_mtime           pyro_archive_functions.archive_entry_set_mtime
#define archive_entry_set_pathname_utf8   pyro_archive_functions.archive_entry_set_pathname_utf8
#define archive_entry_set_perm            pyro_archive_functions.archive_entry_set_perm
#define archive_entry_size                pyro_archive_functions.archive_entry_size
#define archive_entry_size_is_set         pyro_archive_functions.archive_entry_size_is_set
#define archive_entry_sparse_count        pyro_archive_functions.archive_entry_sparse_count
#define archive_error_string              pyro_archive_functions.archive_error_string
#define archive_filter_bytes              pyro_archive_functions.archive_filter_bytes
#define archive_filter_count              pyro_archive_functions.archive_filter_count
#define archive_read_data_block           pyro_archive_functions.archive_read_data_block
#define archive_read_free                 pyro_archive_functions.archive_read_free
#define archive_read_new                  pyro_archive_functions.archive_read_new
#define archive_read_next_header          pyro_archive_functions.archive_read_next_header
#define archive_read_open_fd              pyro_archive_functions.archive_read_open_fd
#define archive_read_support_filter_bzip2 pyro_archive_functions.archive_read_support_filter_bzip2
#define archive_read_support_filter_gzip  pyro_archive_functions.archive_read_support_filter_gzip
#define archive_read_support_filter_lz4   pyro_archive_functions.archive_read_support_filter_lz4
#define archive_read_support_filter_xz    pyro_archive_functions.archive_read_support_filter_xz
#define archive_read_support_filter_zstd  pyro_archive_functions.archive_read_support_filter_zstd
#define archive_read_support_format_7zip  pyro_archive_functions.archive_read_support_format_7zip
#define archive_read_support_format_tar   pyro_archive_functions.archive_read_support_format_tar
#define archive_read_support_format_zip   pyro_archive_functions.archive_read_support_format_zip
#define archive_write_close               pyro_archive_functions.archive_write_close
#define archive_write_data                pyro_archive_functions.archive_write_data
#define archive_write_finish_entry        pyro_archive_functions.archive_write_finish_entry
#define archive_write_free                pyro_archive_functions.archive_write_free
#define archive_write_header              pyro_archive_functions.archive_write_header
#define archive_write_new                 pyro_archive_functions.archive_write_new
#define archive_write_open                pyro_archive_functions.archive_write_open
#define archive_write_set_bytes_per_block pyro_archive_functions.archive_write_set_bytes_per_block
#define archive_write_set_format_zip      pyro_archive_functions.archive_write_set_format_zip
#endif

#endif
