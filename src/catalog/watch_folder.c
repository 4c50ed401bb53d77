#include "catalog/watch_folder.h"

#ifdef __linux__

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/collections/vec.h"
#include "base/memory/allocator.h"
#include "base/threads/thread.h"
#include "source/discovery/names.h"

enum {
    GATHER_MS = 100,    /* what comes in bursts is looked at once */
    REST_MS = 200,      /* between two calls at least; */
    REST_SHARE = 4,     /* and this multiple of the time that the last one took */
    AGAIN_MS = 10000,   /* how often a folder that could not be watched is tried again */
    BUFFER = 64 << 10,  /* of events */
    READS = 64,         /* of them in one go; what is left keeps */
    WATCHES_MOST = 4096 /* and a quarter of what the system has */
};

static const uint32_t changes = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY |
                                IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

/* A folder that is watched. */
struct watched_folder {
    int number;      /* inotify's */
    size_t root;     /* of the options */
    int64_t used_ns; /* when it changed last */
    char *name;      /* below the root; NULL: the root itself */
};

struct pyro_catalog_watch {
    struct pyro_catalog_watch_options options;
    int events, stop;
    struct pyro_thread thread;
    PYRO_VEC(struct watched_folder) folders;
    bool *is_watched; /* by root */
    size_t most, left_out;
    atomic_size_t watched, unwatched;
    char buffer[BUFFER] __attribute__((aligned(__alignof__(struct inotify_event))));
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- What is watched ---- */

/* Changes by other machines are not reported. */
static bool is_local(const char *path)
{
    static const uint32_t remote[] = {0x6969 /* NFS */,      0xff534d42 /* CIFS */,   0xfe534d42 /* SMB2 */,
                                      0x517b /* SMB */,      0x65735546 /* FUSE */,   0x01021997 /* 9p */,
                                      0x00c36400 /* Ceph */, 0x0bd00bd0 /* Lustre */, 0x5346414f /* AFS */};
    struct statfs file_system;
    if (statfs(path, &file_system) != 0)
        return false;
    for (size_t i = 0; i < sizeof(remote) / sizeof(*remote); i++)
        if ((uint32_t)file_system.f_type == remote[i])
            return false;
    return true;
}

static void remove_folder(struct pyro_catalog_watch *watch, size_t i)
{
    const struct watched_folder gone = watch->folders.items[i];
    watch->folders.items[i] = watch->folders.items[--watch->folders.count];
    if (!gone.name)
        watch->is_watched[gone.root] = false;
    free(gone.name);
}

/* Makes room for one more: the folder that has not changed for longest goes. False: all are roots. */
static bool make_room(struct pyro_catalog_watch *watch)
{
    size_t oldest = SIZE_MAX;
    for (size_t i = 0; i < watch->folders.count; i++)
        if (watch->folders.items[i].name &&
            (oldest == SIZE_MAX || watch->folders.items[i].used_ns < watch->folders.items[oldest].used_ns))
            oldest = i;
    if (oldest == SIZE_MAX)
        return false;
    inotify_rm_watch(watch->events, watch->folders.items[oldest].number);
    remove_folder(watch, oldest);
    watch->left_out++;
    return true;
}

static bool add_folder(struct pyro_catalog_watch *watch, size_t root, const char *name, int64_t used_ns)
{
    char path[4096];
    int len = name ? snprintf(path, sizeof(path), "%s/%s", watch->options.folders[root], name)
                   : snprintf(path, sizeof(path), "%s", watch->options.folders[root]);
    if (len < 0 || (size_t)len >= sizeof(path) || (watch->folders.count >= watch->most && !make_room(watch)))
        return false;
    int number = inotify_add_watch(watch->events, path, changes);
    if (number < 0)
        return false;
    for (size_t i = 0; i < watch->folders.count; i++)
        if (watch->folders.items[i].number == number) /* it was watched already */
            return true;
    char *copy = name ? strdup(name) : NULL;
    struct watched_folder *added = !name || copy ? pyro_vec_push(&watch->folders, NULL) : NULL;
    if (!added) {
        free(copy);
        inotify_rm_watch(watch->events, number);
        return false;
    }
    *added = (struct watched_folder){number, root, used_ns, copy};
    return true;
}

struct subfolder {
    char *name;
    int64_t changed_ns;
};

static int newest_first(const void *a, const void *b)
{
    const struct subfolder *x = a, *y = b;
    return (x->changed_ns < y->changed_ns) - (x->changed_ns > y->changed_ns);
}

/* Links are not followed there, nor hidden folders looked at. */
static void add_subfolders(struct pyro_catalog_watch *watch, size_t root)
{
    PYRO_VEC(struct subfolder) found = {0};
    const struct dirent *entry;
    struct stat status;
    DIR *stream = opendir(watch->options.folders[root]);
    while (stream && (entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
            fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode))
            continue;
        char *name = strdup(entry->d_name);
        struct subfolder *place = name ? pyro_vec_push(&found, NULL) : NULL;
        if (place)
            *place = (struct subfolder){name, (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec};
        else
            free(name);
    }
    if (stream)
        closedir(stream);
    if (found.count)
        qsort(found.items, found.count, sizeof(*found.items), newest_first);
    for (size_t i = 0; i < found.count; i++) {
        bool room = watch->folders.count < watch->most;
        if (!room || !add_folder(watch, root, found.items[i].name, found.items[i].changed_ns))
            watch->left_out++;
        free(found.items[i].name);
    }
    pyro_vec_done(&found, NULL);
}

static void tell_usage(struct pyro_catalog_watch *watch)
{
    size_t roots = 0;
    for (size_t i = 0; i < watch->options.folder_count; i++)
        roots += !watch->is_watched[i];
    atomic_store(&watch->watched, watch->folders.count);
    atomic_store(&watch->unwatched, watch->left_out + roots);
}

/* Roots that are not watched: now they may be there. True: one is watched that was not. */
static bool add_roots(struct pyro_catalog_watch *watch)
{
    bool added = false;
    for (size_t i = 0; i < watch->options.folder_count; i++) {
        if (watch->is_watched[i] || !is_local(watch->options.folders[i]))
            continue;
        watch->is_watched[i] = add_folder(watch, i, NULL, INT64_MAX);
        if (!watch->is_watched[i])
            continue;
        added = true;
        add_subfolders(watch, i);
    }
    tell_usage(watch);
    return added;
}

static void begin_anew(struct pyro_catalog_watch *watch)
{
    for (size_t i = 0; i < watch->folders.count; i++) {
        inotify_rm_watch(watch->events, watch->folders.items[i].number);
        free(watch->folders.items[i].name);
    }
    watch->folders.count = 0;
    memset(watch->is_watched, 0, watch->options.folder_count * sizeof(*watch->is_watched));
    watch->left_out = 0;
    add_roots(watch);
}

/* ---- What has changed ---- */

static size_t place_of(const struct pyro_catalog_watch *watch, int number)
{
    size_t i = 0;
    while (i < watch->folders.count && watch->folders.items[i].number != number)
        i++;
    return i;
}

/* Whether a log may have been added, removed or changed. */
static bool take_event(struct pyro_catalog_watch *watch, const struct inotify_event *event)
{
    if (event->mask & IN_Q_OVERFLOW) {
        begin_anew(watch);
        return true;
    }
    size_t i = place_of(watch, event->wd);
    if (i == watch->folders.count)
        return false;
    if (event->mask & IN_IGNORED) {
        remove_folder(watch, i);
        return true;
    }
    if (event->mask & IN_MOVE_SELF) { /* it is another folder's by now */
        inotify_rm_watch(watch->events, event->wd);
        remove_folder(watch, i);
        return true;
    }
    watch->folders.items[i].used_ns = watch->folders.items[i].name ? now_ns(CLOCK_REALTIME) : INT64_MAX;
    if (event->len == 0 || (event->mask & IN_DELETE_SELF))
        return true;
    if (event->name[0] == '.')
        return false;
    if (!(event->mask & IN_ISDIR))
        return pyro_name_of(pyro_slice_from(event->name)).kind != PYRO_NAME_IGNORED;
    if ((event->mask & (IN_CREATE | IN_MOVED_TO)) && !watch->folders.items[i].name &&
        !add_folder(watch, watch->folders.items[i].root, event->name, now_ns(CLOCK_REALTIME)))
        watch->left_out++;
    return true;
}

static bool take_events(struct pyro_catalog_watch *watch)
{
    bool some = false;
    for (int reads = 0; reads < READS; reads++) {
        ssize_t len = read(watch->events, watch->buffer, sizeof(watch->buffer));
        if (len <= 0)
            break;
        for (const char *at = watch->buffer; at < watch->buffer + len;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            some |= take_event(watch, event);
            at += sizeof(*event) + event->len;
        }
    }
    tell_usage(watch);
    return some;
}

/* ---- The thread ---- */

/* False: it is to stop. */
static bool rest(struct pyro_catalog_watch *watch, int64_t ms)
{
    struct pollfd stop = {.fd = watch->stop, .events = POLLIN};
    return poll(&stop, 1, ms < 60000 ? (int)ms : 60000) == 0;
}

static void *run(void *context)
{
    struct pyro_catalog_watch *watch = context;
    struct pollfd both[] = {{.fd = watch->events, .events = POLLIN}, {.fd = watch->stop, .events = POLLIN}};
    for (;;) {
        int ready = poll(both, 2, AGAIN_MS);
        if (both[1].revents || (ready < 0 && errno != EINTR))
            return NULL;
        bool some = ready > 0 && rest(watch, GATHER_MS) && take_events(watch);
        some |= add_roots(watch);
        if (!some)
            continue; /* where it is to stop, poll() says so again */
        int64_t begun_ns = now_ns(CLOCK_MONOTONIC);
        watch->options.changed(watch->options.context);
        int64_t took_ms = (now_ns(CLOCK_MONOTONIC) - begun_ns) / 1000000;
        rest(watch, took_ms * REST_SHARE > REST_MS ? took_ms * REST_SHARE : REST_MS);
    }
}

/* A quarter of the user's watches at most: others need some too. */
static size_t most_watches(void)
{
    unsigned long most = 0;
    FILE *file = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
    if (file) {
        if (fscanf(file, "%lu", &most) != 1)
            most = 0;
        fclose(file);
    }
    return most / 4 < WATCHES_MOST ? (size_t)most / 4 : WATCHES_MOST;
}

static void free_watch(struct pyro_catalog_watch *watch)
{
    if (watch->events >= 0)
        close(watch->events);
    if (watch->stop >= 0)
        close(watch->stop);
    for (size_t i = 0; i < watch->folders.count; i++)
        free(watch->folders.items[i].name);
    pyro_vec_done(&watch->folders, NULL);
    free(watch->is_watched);
    pyro_release(NULL, watch);
}

struct pyro_catalog_watch *pyro_catalog_watch_open(const struct pyro_catalog_watch_options *options)
{
    struct pyro_catalog_watch *watch = pyro_allocate(NULL, sizeof(*watch));
    if (!watch)
        return NULL;
    memset(watch, 0, sizeof(*watch));
    watch->options = *options;
    watch->most = options->most ? options->most : most_watches();
    watch->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    watch->stop = eventfd(0, EFD_CLOEXEC);
    watch->is_watched = calloc(options->folder_count + 1, sizeof(*watch->is_watched));
    bool ok = watch->events >= 0 && watch->stop >= 0 && watch->is_watched;
    if (ok)
        add_roots(watch);
    if (ok && pyro_thread_start(&watch->thread, run, watch))
        return watch;
    free_watch(watch);
    return NULL;
}

void pyro_catalog_watch_close(struct pyro_catalog_watch *watch)
{
    if (!watch)
        return;
    eventfd_write(watch->stop, 1);
    pyro_thread_join(&watch->thread);
    free_watch(watch);
}

struct pyro_catalog_watch_usage pyro_catalog_watch_usage(struct pyro_catalog_watch *watch)
{
    return watch ? (struct pyro_catalog_watch_usage){atomic_load(&watch->watched), atomic_load(&watch->unwatched)}
                 : (struct pyro_catalog_watch_usage){0};
}

#else

struct pyro_catalog_watch *pyro_catalog_watch_open(const struct pyro_catalog_watch_options *options)
{
    (void)options;
    return NULL;
}

void pyro_catalog_watch_close(struct pyro_catalog_watch *watch)
{
    (void)watch;
}

struct pyro_catalog_watch_usage pyro_catalog_watch_usage(struct pyro_catalog_watch *watch)
{
    (void)watch;
    return (struct pyro_catalog_watch_usage){0};
}

#endif
