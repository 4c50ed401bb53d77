#include "spark_command.h"

#include "cli.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a command line says something: a word that has the value after `offset` bytes. */
struct place {
    size_t index, offset;
    bool found;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_among(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

bool cli_is_spark_program(const char *program)
{
    static const char *const programs[] = {"spark-submit",    "pyspark",  "spark-shell",  "spark-sql",
                                           "spark3-submit",   "pyspark3", "spark3-shell", "spark3-sql",
                                           "spark-submit.sh", "sparkR",   "run-example",  NULL};
    return is_among(base_name(program), programs);
}

/* Options of spark-submit without a value. */
static bool is_switch(const char *word)
{
    static const char *const switches[] = {"--supervise", "--verbose",     "-v", "--help", "-h",
                                           "--version",   "--usage-error", NULL};
    return is_among(word, switches) || strchr(word, '=') != NULL;
}

/* The end of spark-submit's own options: what follows is the application's. Shells have none but options. */
static size_t end_of_options(const struct cli_words *words)
{
    size_t at = 1;
    while (at < words->count && words->items[at][0] == '-' && words->items[at][1] != '\0')
        at += is_switch(words->items[at]) ? 1 : 2;
    return at < words->count ? at : words->count;
}

/* Bytes of "KEY=" at the start of `text`, or 0. */
static size_t key_len(const char *text, const char *key)
{
    size_t len = strlen(key);
    return strncmp(text, key, len) == 0 && text[len] == '=' ? len + 1 : 0;
}

/* The last place where the options set `setting`: spark-submit takes that one. */
static struct place find(const struct cli_words *words, const struct cli_spark_setting *setting)
{
    struct place place = {0};
    size_t end = end_of_options(words);
    for (size_t i = 1; i < end; i++) {
        const char *word = words->items[i];
        bool has_next = i + 1 < words->count;
        size_t same = setting->same != NULL ? key_len(word, setting->same) : 0;
        if ((strcmp(word, "--conf") == 0 || strcmp(word, "-c") == 0) && has_next) {
            size_t offset = key_len(words->items[++i], setting->key);
            if (offset > 0)
                place = (struct place){i, offset, true};
        } else if (strncmp(word, "--conf=", 7) == 0 && key_len(word + 7, setting->key) > 0) {
            place = (struct place){i, 7 + key_len(word + 7, setting->key), true};
        } else if (same > 0) {
            place = (struct place){i, same, true};
        } else if (setting->same != NULL && strcmp(word, setting->same) == 0 && has_next) {
            place = (struct place){++i, 0, true};
        }
    }
    return place;
}

/* The value of a key in a line of a properties file, or NULL. The line loses its end. */
static char *value_in_line(char *line, const char *key)
{
    size_t len = strlen(key);
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, key, len) != 0 || line[len] == '\0' || strchr(" \t=:", line[len]) == NULL)
        return NULL;
    line += len;
    line += strspn(line, " \t");
    line += *line == '=' || *line == ':';
    line += strspn(line, " \t");
    for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]) != NULL; end--)
        line[end - 1] = '\0';
    return line;
}

/* What a properties file says of a key; the caller frees it. NULL: nothing. */
static char *value_in_file(const char *path, const char *key)
{
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    char *line = NULL, *found = NULL;
    size_t size = 0;
    while (file != NULL && getline(&line, &size, file) >= 0) {
        const char *value = value_in_line(line, key);
        if (value != NULL) {
            free(found);
            found = strdup(value);
        }
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

/* spark-defaults.conf as Spark finds it; the caller frees it. NULL: unknown. */
static char *defaults_of(const struct cli_words *words)
{
    static const struct cli_spark_setting file = {.key = "", .same = "--properties-file"};
    struct place place = find(words, &file);
    if (place.found)
        return strdup(words->items[place.index] + place.offset);
    const char *folder = getenv("SPARK_CONF_DIR"), *home = getenv("SPARK_HOME");
    if (folder != NULL)
        return cli_format("%s/spark-defaults.conf", folder);
    if (home != NULL)
        return cli_format("%s/conf/spark-defaults.conf", home);
    char resolved[PATH_MAX];
    if (strchr(words->items[0], '/') == NULL || realpath(words->items[0], resolved) == NULL)
        return NULL;
    char *slash = strrchr(resolved, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return cli_format("%s/../conf/spark-defaults.conf", resolved);
}

static bool list_has(const char *list, char separator, const char *value)
{
    size_t len = strlen(value);
    for (const char *at = list; *at != '\0';) {
        const char *end = strchrnul(at, separator);
        if ((size_t)(end - at) == len && memcmp(at, value, len) == 0)
            return true;
        at = *end != '\0' ? end + 1 : end;
    }
    return false;
}

/* The value that the job should have, when it has `former` (may be NULL). */
static char *joined(const struct cli_spark_setting *setting, const char *former)
{
    bool kept = former != NULL && former[0] != '\0';
    if (kept && setting->separator != 0 && list_has(former, setting->separator, setting->value))
        return strdup(former);
    if (kept && setting->separator != 0)
        return cli_format("%s%c%s", former, setting->separator, setting->value);
    if (kept && strcmp(former, setting->value) != 0)
        cli_complain("while the job is recorded, %s is %s instead of %s", setting->key, setting->value, former);
    return strdup(setting->value);
}

/* Sets one setting; what is not said yet is added to `added`. */
static bool put_setting(struct cli_words *words, const char *defaults, const struct cli_spark_setting *setting,
                        struct cli_words *added)
{
    struct place place = find(words, setting);
    char *former =
        place.found ? strdup(words->items[place.index] + place.offset) : value_in_file(defaults, setting->key);
    char *value = joined(setting, former);
    bool done = value != NULL;
    if (done && place.found) {
        char *word = cli_format("%.*s%s", (int)place.offset, words->items[place.index], value);
        done = word != NULL;
        if (done)
            cli_words_replace(words, place.index, word);
        free(word);
    } else if (done) {
        cli_words_add(added, "--conf");
        cli_words_addf(added, "%s=%s", setting->key, value);
    }
    free(value);
    free(former);
    return done && !words->failed && !added->failed;
}

/* `words` begin with the program. */
static bool put_settings(struct cli_words *words, const struct cli_spark_setting *settings, size_t count,
                         struct cli_words *ret)
{
    struct cli_words added = {0};
    char *defaults = defaults_of(words);
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = settings[i].value == NULL || put_setting(words, defaults, &settings[i], &added);
    cli_words_add(ret, words->items[0]);
    for (size_t i = 0; i < added.count; i++)
        cli_words_add(ret, added.items[i]);
    for (size_t i = 1; i < words->count; i++)
        cli_words_add(ret, words->items[i]);
    cli_words_free(&added);
    free(defaults);
    return done && !ret->failed;
}

/* PYSPARK_SUBMIT_ARGS has the words of a command line of pyspark without its first one. */
static char *submit_arguments(const struct cli_spark_setting *settings, size_t count)
{
    const char *former = getenv("PYSPARK_SUBMIT_ARGS");
    struct cli_words words = {0}, all = {0};
    char *variable = NULL;
    cli_words_add(&words, "pyspark");
    cli_words_split(&words, former != NULL && former[0] != '\0' ? former : "pyspark-shell");
    if (words.count > 0 && !words.failed && put_settings(&words, settings, count, &all)) {
        free(all.items[0]);
        struct cli_words rest = {.items = all.items + 1, .count = all.count - 1};
        char *text = cli_words_join(&rest);
        variable = text != NULL ? cli_format("PYSPARK_SUBMIT_ARGS=%s", text) : NULL;
        free(text);
        all.items[0] = NULL;
    }
    cli_words_free(&words);
    cli_words_free(&all);
    return variable;
}

bool cli_spark_command(const char *const *command, size_t count, const struct cli_spark_setting *settings,
                       size_t setting_count, struct cli_words *ret, char **ret_environment)
{
    struct cli_words words = {0};
    for (size_t i = 0; i < count; i++)
        cli_words_add(&words, command[i]);
    *ret_environment = NULL;
    bool done = words.count > 0 && !words.failed;
    if (done && cli_is_spark_program(command[0])) {
        done = put_settings(&words, settings, setting_count, ret);
    } else if (done) {
        for (size_t i = 0; i < count; i++)
            cli_words_add(ret, command[i]);
        *ret_environment = submit_arguments(settings, setting_count);
        done = !ret->failed && *ret_environment != NULL;
    }
    cli_words_free(&words);
    return done;
}
