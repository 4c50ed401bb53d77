/* libcurl: addresses as inputs, and OpenSearch. */
#ifndef PYRO_LIBRARIES_LIBCURL_H
#define PYRO_LIBRARIES_LIBCURL_H

#define CURL_DISABLE_TYPECHECK /* its macros call the functions themselves */
#include <curl/curl.h>

#include "libraries/on_demand.h"

#define PYRO_CURL_FUNCTIONS(FUNCTION)                                                                                  \
    FUNCTION(curl_easy_cleanup)                                                                                        \
    FUNCTION(curl_easy_getinfo)                                                                                        \
    FUNCTION(curl_easy_init)                                                                                           \
    FUNCTION(curl_easy_perform)                                                                                        \
    FUNCTION(curl_easy_setopt)                                                                                         \
    FUNCTION(curl_easy_strerror)                                                                                       \
    FUNCTION(curl_getdate)                                                                                             \
    FUNCTION(curl_global_init)                                                                                         \
    FUNCTION(curl_slist_append)                                                                                        \
    FUNCTION(curl_slist_free_all)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(curl, PYRO_CURL_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#undef curl_easy_getinfo /* macros that forbid other numbers of arguments */
#undef curl_easy_setopt
#define curl_easy_cleanup   pyro_curl_functions.curl_easy_cleanup
#define curl_easy_getinfo   pyro_curl_functions.curl_easy_getinfo
#define curl_easy_init      pyro_curl_functions.curl_easy_init
#define curl_easy_perform   pyro_curl_functions.curl_easy_perform
#define curl_easy_setopt    pyro_curl_functions.curl_easy_setopt
#define curl_easy_strerror  pyro_curl_functions.curl_easy_strerror
#define curl_getdate        pyro_curl_functions.curl_getdate
#define curl_global_init    pyro_curl_functions.curl_global_init
#define curl_slist_append   pyro_curl_functions.curl_slist_append
#define curl_slist_free_all pyro_curl_functions.curl_slist_free_all
#endif

#endif
