/* Spark's RDDInfo inside a StageInfo. */
#ifndef PYRO_DECODE_EVENTLOG_RDD_INFO_H
#define PYRO_DECODE_EVENTLOG_RDD_INFO_H

#include "decode/builder.h"

/* An array of RDDInfo of `stage`, which gets their ids; `submission` counts the stage for each RDD. */
bool pyro_decode_rdds(struct pyro_json_reader *json, struct pyro_builder *builder, struct pyro_stage *stage,
                      bool submission);

#endif
