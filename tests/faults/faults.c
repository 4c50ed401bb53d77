/* A library to preload, which lets one call of a kind fail: tests/faults/faults.py says which, in a file that both have
 * mapped, so that it can also change for a running server. It does not mix with sanitizers, which have an allocator of
 * their own. Nothing here allocates. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The order is faults.py's. */
enum kind {
    ALLOCATE, /* malloc() and its sisters give NULL */
    WRITE,    /* to files, also ftruncate() and posix_fallocate() */
    SYNC,
    RENAME, /* also link() */
    MAKE,   /* folders and temporary files */
    OPEN,
    READ,
    THREAD,
    UNLINK,
    MAP,
    STAT,
    PRINT, /* write() to standard output and error */
    KINDS
};

enum how {
    FAIL,  /* with the error number that is given */
    SHORT, /* half of what is asked for is read or written */
};

struct control {
    atomic_int kind; /* that is to fail */
    atomic_int how;
    atomic_int error; /* what errno becomes */
    atomic_int from;  /* calls of that kind that still succeed; negative: none fails */
    atomic_int times; /* how many fail then */
    atomic_int fired;
    atomic_int calls[KINDS];
};

static struct control none = {.from = -1};
static struct control *control = &none;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("PYROMETER_FAULTS_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        control = mapped;
}

/* Counts a call; whether it is to go wrong. */
static int hits(enum kind kind)
{
    atomic_fetch_add_explicit(&control->calls[kind], 1, memory_order_relaxed);
    if (atomic_load_explicit(&control->kind, memory_order_relaxed) != (int)kind ||
        atomic_load_explicit(&control->from, memory_order_relaxed) < 0)
        return 0;
    int before = atomic_fetch_sub(&control->from, 1);
    if (before > 0)
        return 0;
    if (before < 0 || atomic_fetch_sub(&control->times, 1) <= 0) {
        atomic_store(&control->from, -1);
        return 0;
    }
    atomic_store(&control->from, 0); /* the next one too, while there are times left */
    atomic_fetch_add(&control->fired, 1);
    if (getenv("PYROMETER_FAULTS_TRACE")) { /* for a developer who looks for the place */
        void *frames[48];
        backtrace_symbols_fd(frames, backtrace(frames, 48), 2);
    }
    return 1;
}

/* Whether the call fails; errno says why. */
static int fails(enum kind kind)
{
    if (!hits(kind))
        return 0;
    errno = atomic_load(&control->error);
    return 1;
}

/* Only these: what threads wake each other by does not fail. */
static int is_file(int fd)
{
    struct stat found;
    return syscall(SYS_fstat, fd, &found) == 0 && S_ISREG(found.st_mode);
}

/* What a read or write of that length is to do: -1, or a length. */
static ssize_t part(enum kind kind, int fd, size_t len)
{
    if ((kind != PRINT && !is_file(fd)) || !hits(kind))
        return (ssize_t)len;
    if (atomic_load(&control->how) == SHORT)
        return (ssize_t)(len > 1 ? len / 2 : len);
    errno = atomic_load(&control->error);
    return -1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define REAL(name)                                                                                                     \
    static __typeof__(&name) real;                                                                                     \
    if (!real)                                                                                                         \
        real = NEXT(name);

/* ---- Memory ---- */

void *malloc(size_t size)
{
    return fails(ALLOCATE) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(ALLOCATE) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(ALLOCATE) ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(ALLOCATE) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(ALLOCATE) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    void *memory = hits(ALLOCATE) ? NULL : __libc_memalign(alignment, size);
    if (!memory)
        return ENOMEM;
    *ret = memory;
    return 0;
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    return fails(MAP) ? MAP_FAILED : real(address, len, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t len, int protection, int flags, int fd, off64_t offset)
{
    REAL(mmap64)
    return fails(MAP) ? MAP_FAILED : real(address, len, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    REAL(pthread_create)
    return hits(THREAD) ? EAGAIN : real(thread, attributes, run, context);
}

/* ---- Files ---- */

ssize_t write(int fd, const void *data, size_t len)
{
    REAL(write)
    ssize_t some = part(fd == 1 || fd == 2 ? PRINT : WRITE, fd, len);
    return some < 0 ? -1 : real(fd, data, (size_t)some);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    REAL(pwrite)
    ssize_t some = part(WRITE, fd, len);
    return some < 0 ? -1 : real(fd, data, (size_t)some, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
    REAL(pwrite64)
    ssize_t some = part(WRITE, fd, len);
    return some < 0 ? -1 : real(fd, data, (size_t)some, offset);
}

int ftruncate(int fd, off_t len)
{
    REAL(ftruncate)
    return fails(WRITE) ? -1 : real(fd, len);
}

int ftruncate64(int fd, off64_t len)
{
    REAL(ftruncate64)
    return fails(WRITE) ? -1 : real(fd, len);
}

int fsync(int fd)
{
    REAL(fsync)
    return fails(SYNC) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync)
    return fails(SYNC) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    return fails(RENAME) ? -1 : real(from, to);
}

int link(const char *from, const char *to)
{
    REAL(link)
    return fails(RENAME) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir)
    return fails(MAKE) ? -1 : real(path, mode);
}

char *mkdtemp(char *name)
{
    REAL(mkdtemp)
    return fails(MAKE) ? NULL : real(name);
}

int mkstemp(char *name)
{
    REAL(mkstemp)
    return fails(MAKE) ? -1 : real(name);
}

int mkstemp64(char *name)
{
    REAL(mkstemp64)
    return fails(MAKE) ? -1 : real(name);
}

int mkostemp(char *name, int flags)
{
    REAL(mkostemp)
    return fails(MAKE) ? -1 : real(name, flags);
}

int mkostemp64(char *name, int flags)
{
    REAL(mkostemp64)
    return fails(MAKE) ? -1 : real(name, flags);
}

int unlink(const char *path)
{
    REAL(unlink)
    return fails(UNLINK) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(unlinkat)
    return fails(UNLINK) ? -1 : real(folder, path, flags);
}

int open(const char *path, int flags, ...)
{
    REAL(open)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails(OPEN) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    REAL(open64)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails(OPEN) ? -1 : real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    REAL(openat)
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails(OPEN) ? -1 : real(folder, path, flags, mode);
}

/* What the compiler makes of open() and read() where it checks sizes. */
extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return open64(path, flags, 0);
}

ssize_t read(int fd, void *buffer, size_t len)
{
    REAL(read)
    ssize_t some = part(READ, fd, len);
    return some < 0 ? -1 : real(fd, buffer, (size_t)some);
}

ssize_t pread(int fd, void *buffer, size_t len, off_t offset)
{
    REAL(pread)
    ssize_t some = part(READ, fd, len);
    return some < 0 ? -1 : real(fd, buffer, (size_t)some, offset);
}

ssize_t pread64(int fd, void *buffer, size_t len, off64_t offset)
{
    REAL(pread64)
    ssize_t some = part(READ, fd, len);
    return some < 0 ? -1 : real(fd, buffer, (size_t)some, offset);
}

extern ssize_t __read_chk(int fd, void *buffer, size_t len, size_t room);
extern ssize_t __pread64_chk(int fd, void *buffer, size_t len, off64_t offset, size_t room);
extern ssize_t __pread_chk(int fd, void *buffer, size_t len, off_t offset, size_t room);

ssize_t __read_chk(int fd, void *buffer, size_t len, size_t room)
{
    if (len > room)
        abort();
    return read(fd, buffer, len);
}

ssize_t __pread_chk(int fd, void *buffer, size_t len, off_t offset, size_t room)
{
    if (len > room)
        abort();
    return pread(fd, buffer, len, offset);
}

ssize_t __pread64_chk(int fd, void *buffer, size_t len, off64_t offset, size_t room)
{
    if (len > room)
        abort();
    return pread64(fd, buffer, len, offset);
}

#undef stat
#undef fstat
int stat(const char *path, struct stat *ret)
{
    REAL(stat)
    return fails(STAT) ? -1 : real(path, ret);
}

int stat64(const char *path, struct stat64 *ret)
{
    REAL(stat64)
    return fails(STAT) ? -1 : real(path, ret);
}

int fstat(int fd, struct stat *ret)
{
    REAL(fstat)
    return fails(STAT) ? -1 : real(fd, ret);
}

int fstat64(int fd, struct stat64 *ret)
{
    REAL(fstat64)
    return fails(STAT) ? -1 : real(fd, ret);
}
