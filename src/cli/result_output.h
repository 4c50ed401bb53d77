/* Where a verb's result goes: standard output, or a file that appears only when it is complete. */
#ifndef PYROMETER_CLI_RESULT_OUTPUT_H
#define PYROMETER_CLI_RESULT_OUTPUT_H

#include "cli.h"

#include <stdarg.h>

struct cli_output {
    int fd;
    int error; /* errno of the first write that failed */
    bool is_terminal;
    char *path, *temporary; /* NULL: standard output; temporary NULL: written in place (a device, a pipe) */
    char *buffer;
    size_t len;
};

/* `path` NULL or "-": standard output. CLI_EXIT_OK, or the exit status after a complaint. */
int cli_output_open(struct cli_output *output, const char *path);
/* Flushes and closes; with `keep`, the file takes its name, else it is removed. CLI_EXIT_OK, or CLI_EXIT_OUTPUT after a
 * complaint. */
int cli_output_close(struct cli_output *output, bool keep);

/* Makes a folder and those above it; one that exists is left as it is. False: errno says why not. */
bool cli_folder_make(const char *path);

/* Other than 0: a write failed, and nothing more will be written. */
int cli_output_write(struct cli_output *output, const void *data, size_t len);
/* Writes what is buffered, for lines that a reader waits for. Other than 0: a write failed. */
int cli_output_flush(struct cli_output *output);
struct pyro_writer cli_output_writer(struct cli_output *output);
void cli_putf(struct cli_output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_puts(struct cli_output *output, const char *text);
/* A JSON string with its quotes. */
void cli_put_json(struct cli_output *output, const char *text);
/* `text` wrapped to `width` columns, each line after `indent` spaces; the first line starts at column `at`. Ends with
 * a newline. Blank lines separate paragraphs. */
void cli_put_wrapped(struct cli_output *output, const char *text, unsigned at, unsigned indent, unsigned width);

/* Prints to standard output what `print` makes. Gives the exit status. */
int cli_print(void (*print)(struct cli_output *output, const void *context), const void *context);

#endif
