#include "serve/http/certificate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/allocator.h"
#include "base/threads/thread.h"

/* Handshakes last 30 seconds at most: then the connection is closed. */
enum { PEM_BYTES = 1 << 20, CHAIN_MOST = 16, HANDSHAKE_SECONDS = 120, KEY_ID_BYTES = 64 };

/* ---- One pair ---------------------------------------------------------------------------------------------------- */

static enum pyro_status read_pem(const char *path, gnutls_datum_t *ret, struct pyro_error *error)
{
    FILE *file = fopen(path, "re");
    unsigned char *text = file ? pyro_allocate(NULL, PEM_BYTES) : NULL;
    size_t len = text ? fread(text, 1, PEM_BYTES, file) : 0;
    int failure = errno;
    if (file)
        fclose(file);
    *ret = (gnutls_datum_t){text, (unsigned)len};
    if (len && len < PEM_BYTES)
        return PYRO_OK;
    return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: cannot be read: %s", path,
                          len    ? "too long"
                          : file ? "empty"
                                 : strerror(failure));
}

static void free_pem(gnutls_datum_t *pem)
{
    if (pem->data)
        gnutls_memset(pem->data, 0, pem->size);
    pyro_release(NULL, pem->data);
}

static void free_pair(struct certificate_pair *pair)
{
    if (!pair)
        return;
    for (unsigned i = 0; i < pair->count; i++)
        gnutls_pcert_deinit(&pair->chain[i]);
    pyro_release(NULL, pair->chain);
    if (pair->key)
        gnutls_privkey_deinit(pair->key);
    pyro_release(NULL, pair);
}

static bool fits(const struct certificate_pair *pair)
{
    unsigned char wanted[KEY_ID_BYTES], given[KEY_ID_BYTES];
    size_t wanted_len = sizeof(wanted), given_len = sizeof(given);
    gnutls_pubkey_t key;
    if (gnutls_pubkey_init(&key) < 0)
        return false;
    bool known = gnutls_pubkey_import_privkey(key, pair->key, 0, 0) >= 0 &&
                 gnutls_pubkey_get_key_id(key, 0, given, &given_len) >= 0 &&
                 gnutls_pubkey_get_key_id(pair->chain[0].pubkey, 0, wanted, &wanted_len) >= 0;
    gnutls_pubkey_deinit(key);
    return known && wanted_len == given_len && memcmp(wanted, given, given_len) == 0;
}

static enum pyro_status cannot_use(struct pyro_error *error, const char *path, const char *what, int result)
{
    pyro_error_describe(error, PYRO_ERROR_ARGUMENT, "%s: %s: %s", path, what, gnutls_strerror(result));
    return result == GNUTLS_E_MEMORY_ERROR ? PYRO_ERROR_ARGUMENT : pyro_error_lasts(error, PYRO_ERROR_ARGUMENT);
}

static enum pyro_status understand(struct certificate_pair *pair, char *const *paths, const gnutls_datum_t *pems,
                                   struct pyro_error *error)
{
    unsigned count = CHAIN_MOST;
    int result = gnutls_pcert_list_import_x509_raw(pair->chain, &count, &pems[0], GNUTLS_X509_FMT_PEM,
                                                   GNUTLS_X509_CRT_LIST_SORT);
    if (result < 0 || count == 0)
        return cannot_use(error, paths[0], "no certificate chain", result);
    pair->count = count;
    result = gnutls_privkey_init(&pair->key);
    if (result >= 0)
        result = gnutls_privkey_import_x509_raw(pair->key, &pems[1], GNUTLS_X509_FMT_PEM, NULL, 0);
    if (result < 0)
        return cannot_use(error, paths[1], "no private key without a password", result);
    if (!fits(pair))
        return pyro_error_set(error, PYRO_ERROR_ARGUMENT, "%s: this is not the key of the certificate in %s", paths[1],
                              paths[0]);
    return PYRO_OK;
}

static enum pyro_status read_pair(char *const *paths, struct certificate_pair **ret, struct pyro_error *error)
{
    gnutls_datum_t pems[2] = {{NULL, 0}, {NULL, 0}};
    struct certificate_pair *pair = pyro_allocate(NULL, sizeof(*pair));
    if (!pair)
        return pyro_no_memory(error);
    *pair = (struct certificate_pair){.chain = pyro_allocate(NULL, CHAIN_MOST * sizeof(*pair->chain))};
    enum pyro_status status = pair->chain ? PYRO_OK : pyro_no_memory(error);
    for (int i = 0; i < 2 && status == PYRO_OK; i++)
        status = read_pem(paths[i], &pems[i], error);
    if (status == PYRO_OK)
        status = understand(pair, paths, pems, error);
    free_pem(&pems[0]);
    free_pem(&pems[1]);
    if (status == PYRO_OK)
        *ret = pair;
    else
        free_pair(pair);
    return status;
}

/* ---- The one in use ---------------------------------------------------------------------------------------------- */

/* Under the mutex: those that no handshake uses any more. */
static void free_old(struct certificate_pair *pair)
{
    while (pair && pair->previous) {
        if (pyro_clock_ms() / 1000 - pair->previous->replaced_s <= HANDSHAKE_SECONDS) {
            pair = pair->previous;
            continue;
        }
        struct certificate_pair *old = pair->previous;
        pair->previous = old->previous;
        free_pair(old);
    }
}

static enum pyro_status read_again(struct certificate *certificate, struct pyro_error *error)
{
    struct certificate_pair *pair = NULL;
    enum pyro_status status = read_pair(certificate->paths, &pair, error);
    if (!pair)
        return status;
    pthread_mutex_lock(&certificate->mutex);
    pair->previous = certificate->pair;
    if (pair->previous)
        pair->previous->replaced_s = pyro_clock_ms() / 1000;
    certificate->pair = pair;
    free_old(pair);
    pthread_mutex_unlock(&certificate->mutex);
    return PYRO_OK;
}

static bool is_as(const struct pyro_file_stamp *found, const struct pyro_file_stamp *before)
{
    return pyro_file_stamp_eq(found[0], before[0]) && pyro_file_stamp_eq(found[1], before[1]);
}

enum pyro_status pyro_certificate_look(struct certificate *certificate, bool now, struct pyro_error *error)
{
    if (!certificate->paths[0])
        return PYRO_OK;
    const struct pyro_file_stamp found[2] = {pyro_file_stamp_at(certificate->paths[0]),
                                             pyro_file_stamp_at(certificate->paths[1])};
    /* The two are changed one after the other. */
    bool settled = is_as(found, certificate->looked);
    bool known = is_as(found, certificate->accepted);
    memcpy(certificate->looked, found, sizeof(found));
    if (!now && (known || !settled))
        return PYRO_OK;
    struct pyro_error failure = {.size = sizeof(failure)};
    enum pyro_status status = read_again(certificate, &failure);
    bool told = status != PYRO_OK && certificate->failing && !now && is_as(found, certificate->failed);
    /* What is not the files' fault is tried again by the next look, without a word. */
    certificate->failing = status != PYRO_OK && !failure.lasting;
    memcpy(certificate->failed, found, sizeof(found));
    memcpy(certificate->accepted, found, sizeof(found));
    if (certificate->failing)
        memset(certificate->accepted, 0, sizeof(certificate->accepted));
    pyro_error_copy(error, &failure);
    return told ? PYRO_OK : status;
}

static bool copy_path(char **ret, const char *path)
{
    size_t bytes = strlen(path) + 1;
    *ret = pyro_allocate(NULL, bytes);
    if (*ret)
        memcpy(*ret, path, bytes);
    return *ret != NULL;
}

enum pyro_status pyro_certificate_open(struct certificate *certificate, const char *chain, const char *key,
                                       struct pyro_error *error)
{
    *certificate = (struct certificate){0};
    pthread_mutex_init(&certificate->mutex, NULL);
    if (!copy_path(&certificate->paths[0], chain) || !copy_path(&certificate->paths[1], key))
        return pyro_no_memory(error);
    return pyro_certificate_look(certificate, true, error);
}

void pyro_certificate_close(struct certificate *certificate)
{
    if (!certificate->paths[0])
        return;
    for (struct certificate_pair *next, *one = certificate->pair; one; one = next) {
        next = one->previous;
        free_pair(one);
    }
    pthread_mutex_destroy(&certificate->mutex);
    pyro_release(NULL, certificate->paths[0]);
    pyro_release(NULL, certificate->paths[1]);
    *certificate = (struct certificate){0};
}

const struct certificate_pair *pyro_certificate_pair(struct certificate *certificate)
{
    pthread_mutex_lock(&certificate->mutex);
    const struct certificate_pair *pair = certificate->pair;
    pthread_mutex_unlock(&certificate->mutex);
    return pair;
}
