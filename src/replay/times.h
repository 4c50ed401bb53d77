/* How long runs of tasks take in a replay, on which executor. */
#ifndef PYRO_REPLAY_TIMES_H
#define PYRO_REPLAY_TIMES_H

#include <math.h>

#include "replay/slots.h"

/* About normal, of mean 0 and standard deviation 1, in units of 2^-REPLAY_FACTOR_BITS: a sum of eight bytes of a mixed
 * number (splitmix64). */
static inline int64_t replay_chance(uint64_t seed, uint64_t what)
{
    enum { BYTES = 8, MEAN = 1020 };
    const double deviation = 209.04; /* of eight uniform bytes: sqrt(8 * (256^2 - 1) / 12) */
    uint64_t mixed = (seed + what + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    int64_t sum = -MEAN;
    for (unsigned i = 0; i < BYTES; i++)
        sum += (int64_t)(mixed >> (8 * i) & 0xff);
    return (int64_t)((double)(sum * ((int64_t)1 << REPLAY_FACTOR_BITS)) / deviation);
}

/* Milliseconds of an edit as microseconds, clamped. */
static inline int64_t replay_edit_us(double ms)
{
    return ms > 0 ? (int64_t)floor(fmin(ms, (double)REPLAY_MS_MAX) * 1000 + 0.5) : 0;
}

/* A run of a stage that keeps its own. */
static inline int64_t replay_own_us(const struct pyro_replay *replay, uint32_t number, uint32_t run)
{
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    return edit && edit->own ? edit->own[run - replay->stages[number].runs.first] : replay->runs[run].us;
}

static inline int64_t replay_fetch_us(const struct pyro_replay *replay, uint32_t run)
{
    return replay->fetch_us ? replay->fetch_us[run] : 0;
}

/* `part`: of a stage that an edit gave its tasks. */
static inline int64_t replay_run_us(const struct pyro_replay *replay, uint32_t number, uint32_t run, uint32_t part)
{
    const struct replay_stage_edit *edit = replay->stage_edits ? &replay->stage_edits[number] : NULL;
    bool own = !edit || edit->count == 0;
    int64_t us = own ? replay_own_us(replay, number, run) : edit->times ? replay_edit_us(edit->times[part]) : edit->us;
    int64_t factor = edit ? edit->factor : (int64_t)1 << REPLAY_FACTOR_BITS;
    if (replay->spread) {
        uint64_t what = (uint64_t)number << 32 | (own ? run - replay->stages[number].runs.first : part);
        double spread = (double)replay->spread[replay->stages[number].row];
        int64_t more = (int64_t)((double)replay_chance(replay->seed, what) * spread),
                one = (int64_t)1 << REPLAY_FACTOR_BITS;
        more = more < -one / 2 ? -one / 2 : more > 2 * one ? 2 * one : more;
        factor = (int64_t)(((__int128)factor * (one + more)) >> REPLAY_FACTOR_BITS);
    }
    if (factor == (int64_t)1 << REPLAY_FACTOR_BITS)
        return us;
    __int128 scaled = ((__int128)us * factor) >> REPLAY_FACTOR_BITS;
    return scaled > REPLAY_TIME_MAX ? REPLAY_TIME_MAX : (int64_t)scaled;
}

/* Results are still being handled while the slot runs the next task: its time may be shorter than the task's. */
static inline int64_t replay_slot_us(const struct pyro_replay *replay, int64_t us, int64_t fetch)
{
    int64_t held = fetch < us ? us - fetch : us, slot = held + replay->dispatch;
    return slot < held / 2 ? held / 2 : slot;
}

static inline bool replay_knows(const struct replay_executor_state *executor, uint32_t number)
{
    if (executor->known_count > 0 && executor->known[(executor->known_count - 1) % REPLAY_KNOWN_MAX] == number + 1)
        return true; /* mostly: an executor runs one stage after the other */
    for (uint32_t i = 0; i < REPLAY_KNOWN_MAX; i++)
        if (executor->known[i] == number + 1)
            return true;
    return false;
}

/* What a task takes longer because it finds its executor without the stage's code, or without any. */
static inline int64_t replay_starting_us(const struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    const struct replay_executor_state *state = &replay->executor_states[executor];
    if (!replay->first_ms || replay_knows(state, number))
        return 0;
    double ms = state->known_count == 0 ? replay->cold_ms : (double)replay->first_ms[replay->stages[number].row];
    return ms > 0 ? (int64_t)(ms < (double)REPLAY_MS_MAX ? ms * 1000 : (double)REPLAY_MS_MAX * 1000) : 0;
}

static inline void replay_learn(const struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    struct replay_executor_state *state = &replay->executor_states[executor];
    if (replay->first_ms && !replay_knows(state, number))
        state->known[state->known_count++ % REPLAY_KNOWN_MAX] = number + 1;
}

/* An executor of the log that has a free slot for a task of the stage now. */
static inline bool replay_has_slot(const struct pyro_replay *replay, uint32_t number, uint32_t executor)
{
    return executor < replay->executor_count && !replay->others && replay->executor_states[executor].alive &&
           replay->executor_states[executor].free > 0 &&
           replay->executor_states[executor].free >= replay_need(replay, number, executor);
}

#endif
