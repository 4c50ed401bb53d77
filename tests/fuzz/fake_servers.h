/* What crawlers ask: a History Server, YARN's ResourceManager, Menas and another service, whose answers bytes choose.
 * Without bytes they answer as the real ones do. */
#ifndef PYRO_FUZZ_FAKE_SERVERS_H
#define PYRO_FUZZ_FAKE_SERVERS_H

#include <stdint.h>

#include "fake_curl.h"
#include "made_log.h"

#define FAKE_HISTORY "http://history.example:18080"
#define FAKE_YARN    "http://yarn.example:8088/ws/v1/cluster"
#define FAKE_MENAS   "https://menas.example/menas/api"
#define FAKE_TAGS    "https://tags.example"
#define FAKE_SEARCH  "http://ann:" MADE_SECRET "@search.example:9200" /* OpenSearch (fake_opensearch.h) */

enum { FAKE_APPLICATIONS = 4 }; /* that a list has, at most, unless its pages are full */

/* Forgets what was asked, and takes other bytes. Not while the servers are asked. The bytes choose what OpenSearch
 * answers only if `broken_store`. */
void fake_servers_start(const uint8_t *data, size_t size, bool broken_store);
/* For fake_curl_install(). The same question gets the same answer the same number of times after a start, whatever
 * other threads ask: who was sent elsewhere has a count of his own, and a login always gets the same answer. */
void fake_servers_answer(const struct fake_question *question, struct fake_reply *ret);
/* Requests since the start. */
size_t fake_servers_asked(void);

#endif
