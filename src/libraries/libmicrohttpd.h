/* GNU libmicrohttpd: the HTTP of `pyrometer serve`. */
#ifndef PYRO_LIBRARIES_LIBMICROHTTPD_H
#define PYRO_LIBRARIES_LIBMICROHTTPD_H

#include <microhttpd.h>

#include "libraries/on_demand.h"

#define PYRO_MICROHTTPD_FUNCTIONS(FUNCTION)                                                                            \
    FUNCTION(MHD_add_response_header)                                                                                  \
    FUNCTION(MHD_create_response_from_buffer)                                                                          \
    FUNCTION(MHD_create_response_from_callback)                                                                        \
    FUNCTION(MHD_destroy_response)                                                                                     \
    FUNCTION(MHD_get_connection_info)                                                                                  \
    FUNCTION(MHD_get_connection_values)                                                                                \
    FUNCTION(MHD_get_connection_values_n)                                                                              \
    FUNCTION(MHD_get_daemon_info)                                                                                      \
    FUNCTION(MHD_http_unescape)                                                                                        \
    FUNCTION(MHD_is_feature_supported)                                                                                 \
    FUNCTION(MHD_lookup_connection_value_n)                                                                            \
    FUNCTION(MHD_queue_response)                                                                                       \
    FUNCTION(MHD_resume_connection)                                                                                    \
    FUNCTION(MHD_start_daemon)                                                                                         \
    FUNCTION(MHD_stop_daemon)                                                                                          \
    FUNCTION(MHD_suspend_connection)

/* PYRO_ERROR_INPUT: cannot be loaded. Before the first call of a function below; again costs nothing. */
PYRO_ON_DEMAND(microhttpd, PYRO_MICROHTTPD_FUNCTIONS)

#ifndef PYRO_LIBRARIES_LINKED
#define MHD_add_response_header           pyro_microhttpd_functions.MHD_add_response_header
#define MHD_create_response_from_buffer   pyro_microhttpd_functions.MHD_create_response_from_buffer
#define MHD_create_response_from_callback pyro_microhttpd_functions.MHD_create_response_from_callback
#define MHD_destroy_response              pyro_microhttpd_functions.MHD_destroy_response
#define MHD_get_connection_info           pyro_microhttpd_functions.MHD_get_connection_info
#define MHD_get_connection_values         pyro_microhttpd_functions.MHD_get_connection_values
#define MHD_get_connection_values_n       pyro_microhttpd_functions.MHD_get_connection_values_n
#define MHD_get_daemon_info               pyro_microhttpd_functions.MHD_get_daemon_info
#define MHD_http_unescape                 pyro_microhttpd_functions.MHD_http_unescape
#define MHD_is_feature_supported          pyro_microhttpd_functions.MHD_is_feature_supported
#define MHD_lookup_connection_value_n     pyro_microhttpd_functions.MHD_lookup_connection_value_n
#define MHD_queue_response                pyro_microhttpd_functions.MHD_queue_response
#define MHD_resume_connection             pyro_microhttpd_functions.MHD_resume_connection
#define MHD_start_daemon                  pyro_microhttpd_functions.MHD_start_daemon
#define MHD_stop_daemon                   pyro_microhttpd_functions.MHD_stop_daemon
#define MHD_suspend_connection            pyro_microhttpd_functions.MHD_suspend_connection
#endif

#endif
