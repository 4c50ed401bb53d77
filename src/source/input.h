/* The raw bytes of one part of a log, before any codec: a file, standard input, a FIFO, or a member of an archive. */
#ifndef PYRO_SOURCE_INPUT_H
#define PYRO_SOURCE_INPUT_H

#include "source/archives/archive_formats.h"
#include "source/archives/zip.h"
#include "source/source.h"

/* Bytes of a file, one after the other. */
struct pyro_input_range {
    int fd; /* borrowed */
    uint64_t at, left;
    bool open;
};

struct pyro_input {
    const struct pyro_allocator *allocator; /* borrowed */
    int fd;                                 /* -1 for archive members */
    bool owns_fd;
    bool regular;            /* a regular file at offset 0 */
    uint64_t total;          /* size in bytes, 0 when unknown */
    struct archive *archive; /* of libarchive, or NULL */
    struct pyro_archive_block block;
    struct pyro_zip_member *zip; /* what is read without it, or NULL */
    struct pyro_input_range range;
    const char *damage; /* the archive was cut or damaged inside this member; points to `text` */
    char text[160];
};

/* On failure nothing is left to close. */
enum pyro_status pyro_input_open(struct pyro_input *input, const struct pyro_log_part *part,
                                 const struct pyro_allocator *allocator, struct pyro_error *error);
/* Gives 1..capacity bytes; *ret_len 0 is the end. */
enum pyro_status pyro_input_read(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len,
                                 struct pyro_error *error);
void pyro_input_close(struct pyro_input *input);

/* Opens a regular file (symbolic links followed), and never waits for the writer of a FIFO. Returns -1 and errno. */
int pyro_open_regular(const char *path);
/* Whether the file lies below the folder, whose real path that is. Links have been followed: what was opened counts. */
bool pyro_lies_inside(int fd, struct pyro_slice folder);
bool pyro_path_is_inside(const char *real_path, struct pyro_slice folder);
/* errno's words for why a part could not be opened, or that it lies elsewhere. */
#define PYRO_LEADS_OUT "is a symbolic link that leads out of the folder: --follow-links reads it"

/* archives/member.c: the same three for a member. */
enum pyro_status pyro_member_open(struct pyro_input *input, const struct pyro_log_part *part, struct pyro_error *error);
enum pyro_status pyro_member_read(struct pyro_input *input, void *buffer, size_t capacity, size_t *ret_len);
void pyro_member_close(struct pyro_input *input);

#endif
