/* Histories as they are kept in files: the input is what a file holds once its checksum was found right and it was
 * decompressed. Whatever it is, it is refused, or a history all parts of which can be shown and packed again. */
#include "base/strings/strbuf.h"
#include "fuzz_kit.h"
#include "model/history/pack.h"

static uint64_t show(const struct pyro_history *history)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < history->stages.count; i++) {
        const struct pyro_history_stage *stage = &history->stages.items[i];
        for (size_t k = 0; k < stage->jobs.count; k++)
            sum += (uint64_t)history->jobs.items[stage->jobs.items[k]].id;
        for (size_t k = 0; k < stage->tasks.count; k++) {
            struct pyro_history_task task;
            struct pyro_history_accumulable one;
            pyro_history_task_read(history, stage->tasks.items[k], &task);
            sum += (uint64_t)task.id + task.executor.len + task.host.len + task.error.len;
            while (pyro_history_accumulable_next(&task.accumulables, &one))
                for (size_t at = 0; at < one.value.len; at++)
                    sum += (unsigned char)one.value.ptr[at];
        }
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > FUZZ_TEXT_LIMIT)
        return 0;
    struct pyro_history *history = pyro_history_unpack((struct pyro_slice){(const char *)data, size});
    if (!history)
        return 0;
    struct pyro_strbuf packed;
    pyro_strbuf_init(&packed, NULL);
    FUZZ_CHECK(pyro_history_pack(history, &packed));
    struct pyro_history *again = pyro_history_unpack(pyro_strbuf_slice(&packed));
    FUZZ_CHECK(again && show(again) == show(history));
    pyro_history_release(again);
    pyro_history_release(history);
    pyro_strbuf_done(&packed);
    return 0;
}
