/* Output that is complete or reported: every write is checked, and so is the close. */
#include "result_output.h"
#include "terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

enum { BUFFER_BYTES = 1 << 16 };

static const char *name_of(const struct cli_output *output)
{
    return output->path != NULL ? output->path : "standard output";
}

static int complain(const struct cli_output *output, const char *what, int error)
{
    cli_complain("cannot %s %s: %s", what, name_of(output), strerror(error));
    return CLI_EXIT_OUTPUT;
}

static void release(struct cli_output *output)
{
    free(output->path);
    free(output->temporary);
    free(output->buffer);
    *output = (struct cli_output){.fd = -1};
}

/* Makes the temporary file in the target's folder, with the permissions that the target has or would get. */
static bool open_temporary(struct cli_output *output, const struct stat *target)
{
    size_t len = strlen(output->path);
    cli_catch_signals(); /* from the file's first moment, for every verb */
    output->temporary = malloc(len + sizeof(".XXXXXX"));
    if (output->temporary == NULL)
        return false;
    memcpy(output->temporary, output->path, len);
    memcpy(output->temporary + len, ".XXXXXX", sizeof(".XXXXXX"));
    output->fd = mkstemp(output->temporary);
    if (output->fd < 0)
        return false;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(output->fd, target != NULL ? target->st_mode & 07777 : 0666 & ~mask) != 0)
        return false;
    cli_remove_when_killed(output->temporary);
    return true;
}

static bool open_file(struct cli_output *output, const char *path)
{
    struct stat target;
    bool exists = stat(path, &target) == 0;
    if (exists && S_ISDIR(target.st_mode)) {
        output->path = strdup(path);
        errno = EISDIR;
        return false;
    }
    if (exists && !S_ISREG(target.st_mode)) {
        output->path = strdup(path);
        output->fd = output->path != NULL ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : -1;
        return output->fd >= 0;
    }
    char resolved[PATH_MAX]; /* what a link leads to is replaced, not the link */
    output->path = strdup(exists && realpath(path, resolved) != NULL ? resolved : path);
    if (output->path == NULL)
        return false;
    if (exists && access(path, W_OK) != 0)
        return false;
    return open_temporary(output, exists ? &target : NULL);
}

int cli_output_open(struct cli_output *output, const char *path)
{
    *output = (struct cli_output){.fd = STDOUT_FILENO};
    if (path != NULL && path[0] == '\0') {
        cli_complain("cannot write '': the name is empty");
        return CLI_EXIT_OUTPUT;
    }
    if (path != NULL && strcmp(path, "-") != 0 && !open_file(output, path)) {
        int status = complain(output, "write", errno);
        if (output->temporary != NULL && output->fd >= 0)
            unlink(output->temporary);
        release(output);
        return status;
    }
    output->is_terminal = isatty(output->fd) == 1;
    output->buffer = malloc(BUFFER_BYTES);
    if (output->buffer == NULL)
        return complain(output, "write", ENOMEM);
    return CLI_EXIT_OK;
}

bool cli_folder_make(const char *path)
{
    char *copy = strdup(path);
    bool made = copy != NULL;
    for (char *at = copy; made && *at != '\0'; at++) {
        if (*at != '/' || at == copy)
            continue;
        *at = '\0';
        made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *at = '/';
    }
    made = made && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    free(copy);
    return made;
}

static void flush(struct cli_output *output)
{
    const char *at = output->buffer;
    while (output->len > 0 && output->error == 0) {
        ssize_t written = write(output->fd, at, output->len);
        if (written >= 0) {
            at += written;
            output->len -= (size_t)written;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
    output->len = 0;
}

int cli_output_flush(struct cli_output *output)
{
    flush(output);
    return output->error;
}

int cli_output_write(struct cli_output *output, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0 && output->error == 0) {
        size_t part = BUFFER_BYTES - output->len < len ? BUFFER_BYTES - output->len : len;
        memcpy(output->buffer + output->len, at, part);
        output->len += part;
        at += part;
        len -= part;
        if (output->len == BUFFER_BYTES)
            flush(output);
    }
    return output->error;
}

int cli_output_close(struct cli_output *output, bool keep)
{
    int status = CLI_EXIT_OK;
    if (keep || output->temporary == NULL)
        flush(output);
    if (close(output->fd) != 0 && output->error == 0 && errno != EINTR)
        output->error = errno;
    if (output->error != 0) {
        status = complain(output, "write", output->error);
        keep = false;
    }
    if (output->temporary != NULL) {
        if (keep && rename(output->temporary, output->path) != 0) {
            status = complain(output, "write", errno);
            keep = false;
        }
        if (!keep)
            unlink(output->temporary);
        cli_remove_when_killed(NULL);
    }
    release(output);
    return status;
}

static int write_for_library(void *context, const void *data, size_t len)
{
    return cli_output_write(context, data, len);
}

struct pyro_writer cli_output_writer(struct cli_output *output)
{
    return (struct pyro_writer){.size = sizeof(struct pyro_writer), .write = write_for_library, .context = output};
}

void cli_puts(struct cli_output *output, const char *text)
{
    cli_output_write(output, text, strlen(text));
}

void cli_putf(struct cli_output *output, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (len > 0)
        cli_output_write(output, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void cli_put_json(struct cli_output *output, const char *text)
{
    cli_puts(output, "\"");
    for (; *text != '\0'; text++) {
        unsigned code;
        size_t unsafe = cli_unsafe_at(text, &code);
        if (*text == '"' || *text == '\\')
            cli_putf(output, "\\%c", *text);
        else if (*text == '\n')
            cli_puts(output, "\\n");
        else if (unsafe > 0)
            cli_putf(output, "\\u%04x", code);
        else
            cli_output_write(output, text, 1);
        text += unsafe > 0 ? unsafe - 1 : 0;
    }
    cli_puts(output, "\"");
}

void cli_put_wrapped(struct cli_output *output, const char *text, unsigned at, unsigned indent, unsigned width)
{
    bool fresh = true; /* nothing on this line yet but indentation */
    while (*text != '\0') {
        size_t word = strcspn(text, " \n");
        size_t gap = strspn(text + word, " \n");
        bool paragraph = memchr(text + word, '\n', gap) != NULL;
        if (!fresh && at + 1 + word > width) {
            cli_puts(output, "\n");
            at = 0;
            fresh = true;
        }
        if (!fresh) {
            cli_puts(output, " ");
            at++;
        }
        if (at < indent) {
            cli_putf(output, "%*s", (int)(indent - at), "");
            at = indent;
        }
        cli_output_write(output, text, word);
        at += (unsigned)word;
        fresh = false;
        text += word + gap;
        if (paragraph && *text != '\0') {
            cli_puts(output, "\n\n");
            at = 0;
            fresh = true;
        }
    }
    cli_puts(output, "\n");
}

int cli_print(void (*print)(struct cli_output *output, const void *context), const void *context)
{
    struct cli_output output;
    int status = cli_output_open(&output, NULL);
    if (status != CLI_EXIT_OK)
        return status;
    print(&output, context);
    return cli_output_close(&output, true);
}
