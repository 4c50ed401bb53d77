/* Lists of ids, as jobs have of their stages and stages of their parents. */
#ifndef PYRO_DECODE_EVENTLOG_STAGE_INFO_H
#define PYRO_DECODE_EVENTLOG_STAGE_INFO_H

#include "decode/builder.h"

/* An array of integers, sorted, into the memory of the application. Left alone when empty. */
bool pyro_decode_id_list(struct pyro_json_reader *json, struct pyro_builder *builder, const int64_t **ids,
                         uint32_t *count);

#endif
