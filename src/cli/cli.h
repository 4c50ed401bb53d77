/* What the verbs of the command share: exit statuses, the verb and option tables, and parsing by them.
 *
 * The command uses nothing of the library but pyrometer.h. */
#ifndef PYROMETER_CLI_H
#define PYROMETER_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "pyrometer.h"

enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_GATE = 1, /* the gate found what it should fail on */
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_INPUT = 3,
    CLI_EXIT_OUTPUT = 4,     /* also: an internal error */
    CLI_EXIT_SIGNALLED = 128 /* plus the signal's number */
};

/* One option of a verb. The table drives parsing, --help, the manual page and the completions. */
struct cli_option {
    const char *name;     /* without the dashes; NULL ends a table */
    char letter;          /* the one-letter form, or 0 */
    const char *argument; /* "FILE"; NULL: a switch; "RULE...": may be given several times */
    const char *choices;  /* allowed values, separated by spaces; NULL: any; "@rules": any, rules are offered */
    const char *fallback; /* value when the option is not given, or NULL */
    const char *help;     /* one or more sentences, unwrapped; NULL: the verb's option_help() says it */
};

struct cli_example {
    const char *command, *what; /* a command of NULL ends a list */
};

enum { CLI_OPTIONS_MAX = 48, CLI_REPEATED_MAX = 256 };

/* One occurrence of an option that may be given several times. */
struct cli_repeated {
    const struct cli_option *option;
    const char *value;
};

/* A parsed command line. `values` are in the order of the verb's table; a switch that was given is "". */
struct cli_call {
    const struct cli_verb *verb;
    const char *values[CLI_OPTIONS_MAX];
    struct cli_repeated repeated[CLI_REPEATED_MAX];
    size_t repeated_count;
    const char *const *arguments;
    size_t argument_count;
};

/* Of a call that fills a struct with `size` set by an index that exists: nothing else can fail there. */
static inline void cli_filled(enum pyro_status status)
{
    (void)status;
}

/* `index` < pyro_rules_count(). */
static inline struct pyro_rule_info cli_rule(size_t index)
{
    struct pyro_rule_info info = {.size = sizeof(info)};
    cli_filled(pyro_rules_get(index, &info));
    return info;
}

/* What a verb's file defines. */
struct cli_verb_body {
    int (*run)(const struct cli_call *call); /* gives the exit status */
    size_t least, most;                      /* number of arguments */
    const struct cli_option *options;
    const char *(*option_help)(const char *option); /* of options without a help of their own; may be NULL */
    const char *choices; /* of the first argument, for completions: words, or "@verbs", "@rules", "@files", or NULL;
                          * words and then "@files": files follow the first argument */
    /* Words that the first argument may be, from a table: by index; NULL: there are no more. They precede `choices`,
     * and the help lists them with their meanings below `words_title`. */
    const char *(*word)(size_t index, const char **ret_meaning);
    const char *words_title;
    const char *description; /* paragraphs separated by blank lines */
    const struct cli_example *examples;
};

struct cli_verb {
    const char *name, *arguments, *summary, *group;
    const struct cli_verb_body *body;
};

extern const struct cli_verb cli_verbs[];
extern const size_t cli_verb_count;
const struct cli_verb *cli_verb_find(const char *name);

/* What each verb may write: formats.def. */
#define VERB_FORMATS(verb, formats) extern const char cli_formats_##verb[];
#include "formats.def"
#undef VERB_FORMATS

/* Options that several verbs have. */
#define CLI_OPTION_HELP                                                                                                \
    {                                                                                                                  \
        "help", 'h', NULL, NULL, NULL, "Print this help."                                                              \
    }
#define CLI_OPTION_OUTPUT                                                                                              \
    {                                                                                                                  \
        "output", 'o', "FILE", NULL, NULL,                                                                             \
            "Write to FILE instead of standard output. FILE appears only when it is complete."                         \
    }
#define CLI_OPTION_THREADS                                                                                             \
    {                                                                                                                  \
        "threads", 0, "N", NULL, "0",                                                                                  \
            "Decode with N threads; 0 means one per core. The result is the same for every N."                         \
    }
#define CLI_OPTION_TIMINGS                                                                                             \
    {                                                                                                                  \
        "timings", 0, NULL, NULL, NULL, "Print the time that each phase takes to standard error."                      \
    }
#define CLI_OPTION_MAX_RECORD                                                                                          \
    {                                                                                                                  \
        "max-record-size", 0, "SIZE", NULL, "256M",                                                                    \
            "Skip records (lines of the log) longer than SIZE and count them. SIZE is a number of bytes, or a number " \
            "with K, M or G."                                                                                          \
    }
#define CLI_OPTION_NO_LIMITS                                                                                           \
    {                                                                                                                  \
        "no-input-limits", 0, NULL, NULL, NULL,                                                                        \
            "Also read compressed logs that decompress to more than 64 MiB and 1000 times their size, and archives "   \
            "with more than 10000 files."                                                                              \
    }
#define CLI_OPTION_REDACT                                                                                              \
    {                                                                                                                  \
        "redact", 0, "HOW", "wide spark", "wide",                                                                      \
            "Hide secrets. spark: what the redaction settings of Spark and of the log match. wide: also everything "   \
            "else that looks like a secret."                                                                           \
    }
/* For inputs that are addresses: three options. */
#define CLI_OPTIONS_REMOTE                                                                                             \
    {"remote",                                                                                                         \
     0,                                                                                                                \
     "HOW",                                                                                                            \
     "auto log rest",                                                                                                  \
     "auto",                                                                                                           \
     "Read an application of a History Server or a live UI from its event log (log), from its REST API (rest), or "    \
     "from the log if the server offers it and otherwise from the REST API (auto)."},                                  \
        {"timeout", 0, "SECONDS", NULL, "120", "Give up on a server that sends almost nothing for this time."},        \
    {                                                                                                                  \
        "max-download", 0, "SIZE", NULL, "16G",                                                                        \
            "Refuse a remote log of which the server sends more than SIZE. The log needs that much space in TMPDIR."   \
    }
#define CLI_OPTION_STORE                                                                                               \
    {                                                                                                                  \
        "store", 's', "URL", NULL, NULL,                                                                               \
            "Keep runs and feedback on findings in this store (sqlite:FILE, opensearch:URL), and use what the store "  \
            "already has. "                                                                                            \
            "Default: the environment variable PYROMETER_STORE."                                                       \
    }

/* Parses `arguments` by the verb's table. False: the mistake was reported and the exit status is CLI_EXIT_USAGE. */
bool cli_parse(const struct cli_verb *verb, int count, char **arguments, struct cli_call *ret);
/* The option's value, its fallback, or NULL. `name` must be in the verb's table. */
const char *cli_value(const struct cli_call *call, const char *name);
/* The same for an option that the verb may not have: then NULL. */
const char *cli_value_if_known(const struct cli_call *call, const char *name);

/* The value of occurrence `index` (from 0) of an option that may be given several times, or NULL. */
const char *cli_repeated_value(const struct cli_call *call, const char *name, size_t index);
bool cli_option_repeats(const struct cli_option *option);

/* Values of options and arguments. False: reported. */
bool cli_unsigned_value(const struct cli_call *call, const char *name, unsigned least, unsigned most, unsigned *ret);
bool cli_size_value(const struct cli_call *call, const char *name, uint64_t *ret);
/* A time from 100 ms to a day, in seconds or with ms, s, m or h. */
bool cli_interval_value(const struct cli_call *call, const char *name, unsigned *ret_ms);
/* "30m", "90s", "1.5h", "500ms", or a number of seconds; at least 1 ms. */
bool cli_time_value(const struct cli_call *call, const char *name, int64_t *ret_ms);
/* A decimal number above 0. */
bool cli_amount_value(const struct cli_call *call, const char *name, double most, double *ret);
/* A whole number that samples of profilers are chosen by: sets the bit (PYRO_FLAME_BY_TASK ...) of `filters`. */
bool cli_flame_number(const struct cli_call *call, const char *name, unsigned bit, unsigned *filters, int64_t *ret);
bool cli_offset_value(const struct cli_call *call, const char *name, int64_t *ret_seconds);
bool cli_format_value(const struct cli_call *call, const char *name, enum pyro_format *ret);

/* --cache, else where the user's caches are; NULL: nowhere. */
const char *cli_cache_folder(const struct cli_call *call, char *buffer, size_t bytes);
/* --redact */
enum pyro_redaction cli_redaction(const struct cli_call *call);
/* --store, or PYROMETER_STORE where it is set; NULL: neither. */
const char *cli_store_url(const struct cli_call *call);

/* Bytes of the character that a text begins with, if it controls a terminal or changes the order or the lines of the
 * text around it; else 0. *ret_code: its code point. */
size_t cli_unsafe_at(const char *text, unsigned *ret_code);
/* One line on standard error, such characters made visible, so that it is one line whatever a path contains. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a wrong command line, then a pointer to the help. Gives CLI_EXIT_USAGE. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
