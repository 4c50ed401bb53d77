/* A library to preload, which makes a process the same on every machine and says how much heap it had: it sees one
 * processor, it does not look again for news while it waits for a thread, and its peak of heap bytes goes to the file
 * that PYRO_HEAP_PEAK names, when it ends. What counts is what malloc() gave, not what was asked for. Nothing here
 * allocates. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_size_t now;
static atomic_size_t peak;

static void *given(void *memory)
{
    size_t size = memory ? malloc_usable_size(memory) : 0;
    size_t held = atomic_fetch_add_explicit(&now, size, memory_order_relaxed) + size;
    size_t most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (held > most && !atomic_compare_exchange_weak(&peak, &most, held))
        continue;
    return memory;
}

static void taken(void *memory)
{
    if (memory)
        atomic_fetch_sub_explicit(&now, malloc_usable_size(memory), memory_order_relaxed);
}

void *malloc(size_t size)
{
    return given(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return given(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *moved = __libc_realloc(memory, size);
    if (!moved && size > 0)
        return NULL; /* the old one stays */
    atomic_fetch_sub_explicit(&now, before, memory_order_relaxed);
    return given(moved);
}

void *memalign(size_t alignment, size_t size)
{
    return given(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    void *memory = memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *ret = memory;
    return 0;
}

void free(void *memory)
{
    taken(memory);
    __libc_free(memory);
}

/* Numbers of threads follow from the number of processors. */
long sysconf(int name)
{
    static long (*next)(int);
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
        return 1;
    if (!next)
        next = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return next(name);
}

/* A wait of 100 ms becomes one of 30 s: long enough for what is waited for, however slow the machine. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!next)
        next = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT,
                                                                                            "pthread_cond_timedwait");
    const struct timespec later = {until->tv_sec + 30, until->tv_nsec};
    return next(condition, mutex, &later);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("PYRO_HEAP_PEAK");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    dprintf(file, "%zu\n", atomic_load(&peak));
    close(file);
}
