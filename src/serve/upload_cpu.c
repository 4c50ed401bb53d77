#include "serve/upload_cpu.h"

#include <stdio.h>
#include <string.h>

enum { HOUR_MS = 3600 * 1000 };

void pyro_upload_cpu_open(struct serve_upload_cpu *cpu, uint64_t most_us)
{
    *cpu = (struct serve_upload_cpu){.most_us = most_us};
    pthread_mutex_init(&cpu->mutex, NULL);
}

void pyro_upload_cpu_close(struct serve_upload_cpu *cpu)
{
    pthread_mutex_destroy(&cpu->mutex);
}

/* Under the mutex: what is left of what was taken. */
static uint64_t taken_now(const struct serve_upload_cpu *cpu, const struct serve_payer *payer, int64_t now_ms)
{
    double forgotten = (double)(now_ms - payer->at_ms) * (double)cpu->most_us / HOUR_MS;
    return forgotten < (double)payer->taken_us ? payer->taken_us - (uint64_t)forgotten : 0;
}

/* Under the mutex. */
static struct serve_payer *find(struct serve_upload_cpu *cpu, const char *name)
{
    for (size_t i = 0; i < UPLOAD_PAYERS; i++)
        if (strcmp(cpu->payers[i].name, name) == 0)
            return &cpu->payers[i];
    return NULL;
}

unsigned pyro_upload_cpu_wait(struct serve_upload_cpu *cpu, const char *payer, int64_t now_ms)
{
    unsigned wait = 0;
    if (!cpu->most_us || !*payer)
        return 0;
    pthread_mutex_lock(&cpu->mutex);
    const struct serve_payer *row = find(cpu, payer);
    uint64_t taken = row ? taken_now(cpu, row, now_ms) : 0;
    if (taken >= cpu->most_us)
        wait = 1 + (unsigned)((double)(taken - cpu->most_us) / (double)cpu->most_us * (HOUR_MS / 1000.0));
    pthread_mutex_unlock(&cpu->mutex);
    return wait;
}

void pyro_upload_cpu_charge(struct serve_upload_cpu *cpu, const char *payer, uint64_t us, int64_t now_ms)
{
    if (!cpu->most_us || !*payer)
        return;
    pthread_mutex_lock(&cpu->mutex);
    struct serve_payer *row = find(cpu, payer);
    if (!row) {
        row = &cpu->payers[0];
        for (size_t i = 1; i < UPLOAD_PAYERS; i++)
            if (taken_now(cpu, &cpu->payers[i], now_ms) < taken_now(cpu, row, now_ms))
                row = &cpu->payers[i];
        snprintf(row->name, sizeof(row->name), "%s", payer);
        row->taken_us = 0;
    }
    uint64_t before = taken_now(cpu, row, now_ms);
    row->taken_us = us < UINT64_MAX - before ? before + us : UINT64_MAX;
    row->at_ms = now_ms;
    pthread_mutex_unlock(&cpu->mutex);
}
