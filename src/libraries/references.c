/* Not part of the command: a module that is linked with all libraries that are loaded on demand. The linker writes
 * their names (libcurl.so.4) into it, for tools/library_names.py, and refuses a function that a library lacks. Packages
 * get their dependencies on these libraries from it (tools/dist.py). */
#define PYRO_LIBRARIES_LINKED
#include "libraries/libarchive.h"
#include "libraries/libsnappy.h"
#ifdef HAVE_CURL
#include "libraries/libcurl.h"
#endif
#ifdef HAVE_NLOPT
#include "libraries/libnlopt.h"
#endif
#ifdef HAVE_SERVER
#include "libraries/libgnutls.h"
#include "libraries/libmicrohttpd.h"
#include "libraries/libsodium.h"
#endif

#define REFERENCE(function) (void (*)(void)) function,

extern void (*const pyro_references[])(void);
void (*const pyro_references[])(void) = {
    PYRO_ARCHIVE_FUNCTIONS(REFERENCE) PYRO_SNAPPY_FUNCTIONS(REFERENCE)
#ifdef HAVE_CURL
        PYRO_CURL_FUNCTIONS(REFERENCE)
#endif
#ifdef HAVE_NLOPT
            PYRO_NLOPT_FUNCTIONS(REFERENCE)
#endif
#ifdef HAVE_SERVER
                PYRO_GNUTLS_FUNCTIONS(REFERENCE) PYRO_MICROHTTPD_FUNCTIONS(REFERENCE) PYRO_SODIUM_FUNCTIONS(REFERENCE)
#endif
};
