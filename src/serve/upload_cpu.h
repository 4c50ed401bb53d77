/* What reading uploads costs, by the user who sent them. */
#ifndef PYRO_SERVE_UPLOAD_CPU_H
#define PYRO_SERVE_UPLOAD_CPU_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { UPLOAD_PAYERS = 512, UPLOAD_PAYER_BYTES = 65 };

/* Each may take `most_us` of processor time an hour: what was taken is forgotten at that pace. Of more users than there
 * are rows, those who took least are forgotten first. */
struct serve_upload_cpu {
    uint64_t most_us; /* 0: any */
    pthread_mutex_t mutex;
    struct serve_payer {
        char name[UPLOAD_PAYER_BYTES]; /* "": free */
        uint64_t taken_us;
        int64_t at_ms;
    } payers[UPLOAD_PAYERS];
};

void pyro_upload_cpu_open(struct serve_upload_cpu *cpu, uint64_t most_us);
void pyro_upload_cpu_close(struct serve_upload_cpu *cpu);
/* 0: there is some left; else the seconds until then. `now_ms` never goes back. */
unsigned pyro_upload_cpu_wait(struct serve_upload_cpu *cpu, const char *payer, int64_t now_ms);
void pyro_upload_cpu_charge(struct serve_upload_cpu *cpu, const char *payer, uint64_t us, int64_t now_ms);

#endif
