#include "serve/access/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/replace_file.h"
#include "base/memory/allocator.h"
#include "base/strings/strbuf.h"
#include "base/threads/thread.h"

/* About 30 ms and 16 MiB for an attempt. */
enum { HASH_PASSES = 3, HASH_MEMORY = 16 << 20, SECRET_BYTES = 32, FILE_BYTES = 8 << 20 };

static const char *const role_names[] = {"none", "view", "upload", "admin"};

static enum serve_role find_role(const char *name)
{
    for (size_t i = SERVE_ROLE_VIEW; i <= SERVE_ROLE_ADMIN; i++)
        if (name && strcmp(name, role_names[i]) == 0)
            return (enum serve_role)i;
    return SERVE_ROLE_NONE;
}

static bool is_name(const char *text, const char *more)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    while (text[len] && strchr(more, text[len]))
        len += 1 + strspn(text + len + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return len > 0 && text[len] == '\0';
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* "": a comment or an empty line; else what is wrong with it, or NULL. */
static const char *parse_line(char *line, struct serve_token *ret)
{
    char *rest = NULL;
    const char *name = strtok_r(line, " \t\r", &rest);
    if (!name || *name == '#')
        return "";
    const char *role = strtok_r(NULL, " \t\r", &rest), *hash = strtok_r(NULL, " \t\r", &rest);
    const char *groups = strtok_r(NULL, " \t\r", &rest);
    *ret = (struct serve_token){.role = find_role(role)};
    if (strlen(name) >= sizeof(ret->name) || !is_name(name, ".@"))
        return "the name";
    if (ret->role == SERVE_ROLE_NONE)
        return "the role, which is view, upload or admin";
    if (!hash || strncmp(hash, crypto_pwhash_STRPREFIX, strlen(crypto_pwhash_STRPREFIX)) != 0 ||
        strlen(hash) >= sizeof(ret->hash))
        return "the hash: add tokens with 'pyrometer serve --add-token'";
    if (groups && (strlen(groups) >= sizeof(ret->groups) || !is_name(groups, ".@,")))
        return "the groups";
    snprintf(ret->name, sizeof(ret->name), "%s", name);
    snprintf(ret->hash, sizeof(ret->hash), "%s", hash);
    snprintf(ret->groups, sizeof(ret->groups), "%s", groups ? groups : "");
    return NULL;
}

static enum pyro_status parse(char *text, const char *path, struct serve_token *all, size_t limit, size_t *ret_count,
                              struct pyro_error *error)
{
    unsigned line_number = 0;
    *ret_count = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line_number++;
        const char *wrong = *ret_count < limit ? parse_line(line, &all[*ret_count]) : "there are too many";
        if (wrong && *wrong)
            return pyro_error_lasts(error,
                                    pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s, line %u: this is not a token: %s",
                                                   path, line_number, wrong));
        *ret_count += !wrong;
    }
    return PYRO_OK;
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; text && *text; text++)
        count += *text == '\n';
    return count < TOKENS_LIMIT ? count : TOKENS_LIMIT;
}

static enum pyro_status read_text(const char *path, char **ret, struct pyro_error *error)
{
    struct stat found;
    FILE *file = fopen(path, "re");
    if (!file)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: %s: make it with --add-token", path, strerror(errno));
    char *text = NULL;
    enum pyro_status status = PYRO_OK;
    if (fstat(fileno(file), &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > FILE_BYTES)
        status =
            pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: this is not a file of tokens, or it is too large", path);
    else if (found.st_mode & (S_IWGRP | S_IWOTH))
        status =
            pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                           "%s: other users can write this file and give themselves access: run chmod 600 on it", path);
    else if (!(text = pyro_allocate(NULL, (size_t)found.st_size + 1)))
        status = pyro_no_memory(error);
    if (status == PYRO_OK) {
        text[fread(text, 1, (size_t)found.st_size, file)] = '\0';
        if (ferror(file))
            status = pyro_error_set(error, PYRO_ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    }
    fclose(file);
    if (status == PYRO_OK)
        *ret = text;
    else
        pyro_release(NULL, text);
    return status;
}

/* What was remembered of secrets stays for the hashes that stay. */
static void keep_seen(struct serve_token *now, const struct serve_tokens *before)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct serve_token *one = &before->all[i];
        if (strcmp(one->name, now->name) == 0 && strcmp(one->hash, now->hash) == 0) {
            now->seen = one->seen;
            memcpy(now->digest, one->digest, sizeof(now->digest));
        }
    }
}

/* Under the lock. After a failure the tokens do not change. */
static enum pyro_status load(struct serve_tokens *tokens, struct pyro_error *error)
{
    char *text = NULL;
    PYRO_TRY(read_text(tokens->path, &text, error));
    size_t lines = count_lines(text), count = 0;
    struct serve_token *all = pyro_allocate(NULL, lines * sizeof(*all));
    enum pyro_status status = all ? parse(text, tokens->path, all, lines, &count, error) : pyro_no_memory(error);
    pyro_release(NULL, text);
    if (status != PYRO_OK) {
        pyro_release(NULL, all);
        return status;
    }
    for (size_t i = 0; i < count; i++)
        keep_seen(&all[i], tokens);
    pyro_release(NULL, tokens->all);
    tokens->all = all;
    tokens->count = count;
    return PYRO_OK;
}

enum pyro_status pyro_tokens_open(struct serve_tokens *tokens, const char *path, struct pyro_error *error)
{
    size_t bytes = strlen(path) + 1;
    *tokens = (struct serve_tokens){.path = pyro_allocate(NULL, bytes)};
    pthread_mutex_init(&tokens->mutex, NULL);
    pthread_mutex_init(&tokens->hashing, NULL);
    if (!tokens->path)
        return pyro_no_memory(error);
    memcpy(tokens->path, path, bytes);
    randombytes_buf(tokens->key, sizeof(tokens->key));
    if (crypto_pwhash_str(tokens->nobody, (const char *)tokens->key, sizeof(tokens->key), HASH_PASSES, HASH_MEMORY) !=
        0)
        return pyro_no_memory(error);
    return pyro_tokens_look(tokens, true, error);
}

void pyro_tokens_close(struct serve_tokens *tokens)
{
    if (!tokens->path)
        return;
    pthread_mutex_destroy(&tokens->mutex);
    pthread_mutex_destroy(&tokens->hashing);
    pyro_release(NULL, tokens->all);
    pyro_release(NULL, tokens->path);
    sodium_memzero(tokens->key, sizeof(tokens->key));
}

/* Under the lock. */
static void look(struct serve_tokens *tokens, bool now)
{
    struct pyro_file_stamp found = pyro_file_stamp_at(tokens->path);
    if (!now && pyro_file_stamp_eq(found, tokens->looked))
        return;
    struct pyro_error failure = {.size = sizeof(failure)};
    enum pyro_status outcome = load(tokens, &failure);
    /* What could not be read is read again by the next look: a token may have been taken away. */
    tokens->looked = outcome == PYRO_OK || failure.lasting ? found : (struct pyro_file_stamp){0};
    if (outcome == PYRO_OK || now || strcmp(failure.message, tokens->failure.message) != 0)
        tokens->outcome = outcome;
    tokens->failure = failure;
}

enum pyro_status pyro_tokens_look(struct serve_tokens *tokens, bool now, struct pyro_error *error)
{
    pthread_mutex_lock(&tokens->mutex);
    look(tokens, now);
    enum pyro_status status = tokens->outcome;
    if (status != PYRO_OK)
        pyro_error_copy(error, &tokens->failure);
    tokens->outcome = PYRO_OK; /* is reported once */
    pthread_mutex_unlock(&tokens->mutex);
    return status;
}

/* ---- Who has which ----------------------------------------------------------------------------------------------- */

/* Under the lock. A token that was just made is known at once, as far as looks once a second allow. */
static struct serve_token *find(struct serve_tokens *tokens, struct pyro_slice name)
{
    int64_t now_s = pyro_clock_ms() / 1000;
    if (now_s != tokens->looked_s)
        look(tokens, false);
    tokens->looked_s = now_s;
    for (size_t i = 0; i < tokens->count; i++)
        if (pyro_slice_is(name, tokens->all[i].name))
            return &tokens->all[i];
    return NULL;
}

bool pyro_tokens_find(struct serve_tokens *tokens, struct pyro_slice name, struct serve_token *ret)
{
    pthread_mutex_lock(&tokens->mutex);
    const struct serve_token *one = find(tokens, name);
    if (one)
        *ret = *one;
    pthread_mutex_unlock(&tokens->mutex);
    return one != NULL;
}

/* Both parts of NAME.SECRET; the secret has no dot. */
static struct pyro_slice split(struct pyro_slice token, struct pyro_slice *ret_secret)
{
    size_t dot = token.len;
    while (dot > 0 && token.ptr[dot - 1] != '.')
        dot--;
    *ret_secret = (struct pyro_slice){token.ptr + dot, token.len - dot};
    return (struct pyro_slice){token.ptr, dot ? dot - 1 : 0};
}

static void digest(const struct serve_tokens *tokens, struct pyro_slice token, unsigned char *ret)
{
    crypto_generichash(ret, crypto_generichash_BYTES, (const unsigned char *)token.ptr, token.len, tokens->key,
                       sizeof(tokens->key));
}

enum token_answer pyro_tokens_recall(struct serve_tokens *tokens, struct pyro_slice token, struct serve_token *ret)
{
    struct pyro_slice secret, name = split(token, &secret);
    unsigned char given[crypto_generichash_BYTES];
    if (name.len == 0 || secret.len == 0 || token.len >= TOKEN_BYTES)
        return TOKEN_WRONG;
    digest(tokens, token, given);
    pthread_mutex_lock(&tokens->mutex);
    const struct serve_token *one = find(tokens, name);
    bool right = one && one->seen && sodium_memcmp(one->digest, given, sizeof(given)) == 0;
    if (right)
        *ret = *one;
    pthread_mutex_unlock(&tokens->mutex);
    return right ? TOKEN_RIGHT : TOKEN_UNKNOWN;
}

static bool is_right(struct serve_tokens *tokens, const char *hash, struct pyro_slice secret)
{
    pthread_mutex_lock(&tokens->hashing);
    bool right = crypto_pwhash_str_verify(hash ? hash : tokens->nobody, secret.ptr, secret.len) == 0;
    pthread_mutex_unlock(&tokens->hashing);
    return right && hash;
}

bool pyro_tokens_check(struct serve_tokens *tokens, struct pyro_slice token, struct serve_token *ret)
{
    struct pyro_slice secret, name = split(token, &secret);
    struct serve_token wanted;
    bool known = pyro_tokens_find(tokens, name, &wanted);
    if (!is_right(tokens, known ? wanted.hash : NULL, secret))
        return false;
    pthread_mutex_lock(&tokens->mutex);
    struct serve_token *one = find(tokens, name);
    bool still = one && strcmp(one->hash, wanted.hash) == 0;
    if (still) {
        one->seen = true;
        digest(tokens, token, one->digest);
        *ret = *one;
    }
    pthread_mutex_unlock(&tokens->mutex);
    return still;
}

/* ---- A new one --------------------------------------------------------------------------------------------------- */

/* All lines but those of `name`, then the new one. Returns 0 or an errno. */
static int write_file(const char *path, const char *before, const struct serve_token *token)
{
    const struct pyro_replacement how = {.access = PYRO_NEW_FILE_PRIVATE, .lasts = true};
    struct pyro_strbuf text;
    size_t name_len = strlen(token->name);
    pyro_strbuf_init(&text, NULL);
    for (const char *line = before; *line;) {
        size_t bytes = strcspn(line, "\n");
        bool same = bytes > name_len && strncmp(line, token->name, name_len) == 0 && strchr(" \t", line[name_len]);
        if (!same) {
            pyro_strbuf_add(&text, line, bytes);
            pyro_strbuf_add_char(&text, '\n');
        }
        line += bytes + (line[bytes] == '\n');
    }
    pyro_strbuf_printf(&text, "%s %s %s%s%s\n", token->name, role_names[token->role], token->hash,
                       *token->groups ? " " : "", token->groups);
    int failure = text.failed ? ENOMEM : pyro_replace_file(path, pyro_strbuf_slice(&text), &how);
    pyro_strbuf_done(&text);
    return failure;
}

enum pyro_status pyro_token_add(const char *path, const char *name, const char *role, const char *groups, char *ret,
                                size_t ret_bytes, struct pyro_error *error)
{
    struct serve_token token = {.role = find_role(role)};
    unsigned char secret[SECRET_BYTES];
    char text[sodium_base64_ENCODED_LEN(SECRET_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    char *before = NULL;
    int failure;
    pyro_error_clear(error);
    if (!path || !name || token.role == SERVE_ROLE_NONE)
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "a token needs a file, a name and a role: view, upload, admin");
    if (strlen(name) >= sizeof(token.name) || !is_name(name, ".@"))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT,
                              "'%.80s' is not a valid name for a token: use letters, digits, . _ - @", name);
    if (groups && *groups && (strlen(groups) >= sizeof(token.groups) || !is_name(groups, ".@,")))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "'%.80s' is not a list of groups: write a,b,c", groups);
    PYRO_TRY(pyro_sodium_load(error));
    if (sodium_init() < 0)
        return pyro_error_set(error, PYRO_ERROR_OUTPUT, "libsodium has no source of randomness on this system");
    if (access(path, F_OK) == 0 || errno != ENOENT) /* else the others in it would be lost */
        PYRO_TRY(read_text(path, &before, error));
    snprintf(token.name, sizeof(token.name), "%s", name);
    snprintf(token.groups, sizeof(token.groups), "%s", groups ? groups : "");
    randombytes_buf(secret, sizeof(secret));
    sodium_bin2base64(text, sizeof(text), secret, sizeof(secret), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    enum pyro_status status = PYRO_OK;
    if ((size_t)snprintf(ret, ret_bytes, "%s.%s", name, text) >= ret_bytes)
        status = pyro_error_set(error, PYRO_ERROR_ARGUMENT, "pyro_token_add(): the buffer is too small");
    else if (crypto_pwhash_str(token.hash, text, strlen(text), HASH_PASSES, HASH_MEMORY) != 0)
        status = pyro_no_memory(error);
    else if ((failure = write_file(path, before ? before : "", &token)) != 0)
        status = pyro_error_set(error, PYRO_ERROR_OUTPUT, "%s: cannot be written: %s", path, strerror(failure));
    pyro_release(NULL, before);
    return status;
}
