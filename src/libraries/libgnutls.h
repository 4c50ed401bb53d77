/* GnuTLS: the certificate of `pyrometer serve`. */
#ifndef PYRO_LIBRARIES_LIBGNUTLS_H
#define PYRO_LIBRARIES_LIBGNUTLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include "libraries/on_demand.h"

#define PYRO_GNUTLS_FUNCTIONS(FUNCTION)                                                                                \
    FUNCTION(gnutls_memset)                                                                                            \
    FUNCTION(gnutls_pcert_deinit)                                                                                      \
    FUNCTION(gnutls_pcert_list_import_x509_raw)                                                                        \
    FUNCTION(gnutls_privkey_deinit)                                                                                    \
    FUNCTION(gnutls_privkey_import_x509_raw)                                                                           \
    FUNCTION(gnutls_privkey_init)                                                                                      \
    FUNCTION(gnutls_pubkey_deinit)                                                                                     \
    FUNCTION(gnutls_pubkey_get_key_id)                                                                                 \
    FUNCTION(gnutls_pubkey_import_privkey)                                                                             \
    FUNCTION(gnutls_pubkey_init)                                                                                       \
    FUNCTION(gnutls_session_get_ptr)                                                                                   \
    FUNCTION(gnutls_strerror)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(gnutls, PYRO_GNUTLS_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define gnutls_memset                     pyro_gnutls_functions.gnutls_memset
#define gnutls_pcert_deinit               pyro_gnutls_functions.gnutls_pcert_deinit
#define gnutls_pcert_list_import_x509_raw pyro_gnutls_functions.gnutls_pcert_list_import_x509_raw
#define gnutls_privkey_deinit             pyro_gnutls_functions.gnutls_privkey_deinit
#define gnutls_privkey_import_x509_raw    pyro_gnutls_functions.gnutls_privkey_import_x509_raw
#define gnutls_privkey_init               pyro_gnutls_functions.gnutls_privkey_init
#define gnutls_pubkey_deinit              pyro_gnutls_functions.gnutls_pubkey_deinit
#define gnutls_pubkey_get_key_id          pyro_gnutls_functions.gnutls_pubkey_get_key_id
#define gnutls_pubkey_import_privkey      pyro_gnutls_functions.gnutls_pubkey_import_privkey
#define gnutls_pubkey_init                pyro_gnutls_functions.gnutls_pubkey_init
#define gnutls_session_get_ptr            pyro_gnutls_functions.gnutls_session_get_ptr
#define gnutls_strerror                   pyro_gnutls_functions.gnutls_strerror
#endif

#endif
