/* Spark's BlockManagerId, which is in the events of block managers and of blocks. */
#ifndef PYRO_DECODE_EVENTLOG_BLOCK_MANAGER_ID_H
#define PYRO_DECODE_EVENTLOG_BLOCK_MANAGER_ID_H

#include "decode/builder.h"

/* Reads the object; of it only the executor's id is kept. */
void pyro_decode_block_manager_id(struct pyro_json_reader *json, struct pyro_builder *builder,
                                  struct pyro_slice *executor);

#endif
