/* libsodium: hashes of tokens and sessions of `pyrometer serve`. */
#ifndef PYRO_LIBRARIES_LIBSODIUM_H
#define PYRO_LIBRARIES_LIBSODIUM_H

#include <sodium.h>

#include "libraries/on_demand.h"

#define PYRO_SODIUM_FUNCTIONS(FUNCTION)                                                                                \
    FUNCTION(crypto_generichash)                                                                                       \
    FUNCTION(crypto_pwhash_str)                                                                                        \
    FUNCTION(crypto_pwhash_str_verify)                                                                                 \
    FUNCTION(crypto_shorthash)                                                                                         \
    FUNCTION(crypto_shorthash_keygen)                                                                                  \
    FUNCTION(randombytes_buf)                                                                                          \
    FUNCTION(sodium_bin2base64)                                                                                        \
    FUNCTION(sodium_init)                                                                                              \
    FUNCTION(sodium_memcmp)                                                                                            \
    FUNCTION(sodium_memzero)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(sodium, PYRO_SODIUM_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define crypto_generichash       pyro_sodium_functions.crypto_generichash
#define crypto_pwhash_str        pyro_sodium_functions.crypto_pwhash_str
#define crypto_pwhash_str_verify pyro_sodium_functions.crypto_pwhash_str_verify
#define crypto_shorthash         pyro_sodium_functions.crypto_shorthash
#define crypto_shorthash_keygen  pyro_sodium_functions.crypto_shorthash_keygen
#define randombytes_buf          pyro_sodium_functions.randombytes_buf
#define sodium_bin2base64        pyro_sodium_functions.sodium_bin2base64
#define sodium_init              pyro_sodium_functions.sodium_init
#define sodium_memcmp            pyro_sodium_functions.sodium_memcmp
#define sodium_memzero           pyro_sodium_functions.sodium_memzero
#endif

#endif
