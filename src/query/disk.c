/* Where a statement sorts what is too much for memory: SQLite's own temporary files, with a limit for all of them
 * together. SQLite has no limit for them; they are counted by a layer over its file system, registered for as long as
 * the statement's connection lasts and known to that one only. */
#include "base/memory/allocator.h"
#include "query/sql_query.h"

struct disk_file {
    sqlite3_file base; /* first: SQLite sees only this */
    struct pyro_sql_disk *disk;
    sqlite3_int64 bytes;
    sqlite3_file *real; /* follows this struct */
};

static struct disk_file *file_of(sqlite3_file *base)
{
    return (struct disk_file *)base;
}

static int close_file(sqlite3_file *base)
{
    struct disk_file *file = file_of(base);
    file->disk->bytes -= (uint64_t)file->bytes;
    return file->real->pMethods->xClose(file->real);
}

static int read_file(sqlite3_file *base, void *data, int len, sqlite3_int64 offset)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xRead(real, data, len, offset);
}

/* False: it may not grow to that. */
static bool grow(struct disk_file *file, sqlite3_int64 bytes)
{
    struct pyro_sql_disk *disk = file->disk;
    if (bytes <= file->bytes)
        return true;
    uint64_t more = (uint64_t)(bytes - file->bytes);
    if (disk->limit && more > disk->limit - disk->bytes) {
        disk->full = true;
        return false;
    }
    disk->bytes += more;
    file->bytes = bytes;
    return true;
}

static int write_file(sqlite3_file *base, const void *data, int len, sqlite3_int64 offset)
{
    struct disk_file *file = file_of(base);
    if (offset < 0 || offset > INT64_MAX - len || !grow(file, offset + len))
        return SQLITE_FULL;
    return file->real->pMethods->xWrite(file->real, data, len, offset);
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 bytes)
{
    struct disk_file *file = file_of(base);
    if (!grow(file, bytes))
        return SQLITE_FULL;
    file->disk->bytes -= (uint64_t)(file->bytes - bytes);
    file->bytes = bytes;
    return file->real->pMethods->xTruncate(file->real, bytes);
}

static int sync_file(sqlite3_file *base, int flags)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xSync(real, flags);
}

static int size_of_file(sqlite3_file *base, sqlite3_int64 *ret)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xFileSize(real, ret);
}

static int lock_file(sqlite3_file *base, int kind)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xLock(real, kind);
}

static int unlock_file(sqlite3_file *base, int kind)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xUnlock(real, kind);
}

static int check_lock(sqlite3_file *base, int *ret)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xCheckReservedLock(real, ret);
}

/* Hints of how large a file will be would be bytes that were not counted. */
static int control_file(sqlite3_file *base, int operation, void *argument)
{
    sqlite3_file *real = file_of(base)->real;
    if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_OK;
    return real->pMethods->xFileControl(real, operation, argument);
}

static int sector_size(sqlite3_file *base)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xSectorSize(real);
}

static int characteristics(sqlite3_file *base)
{
    sqlite3_file *real = file_of(base)->real;
    return real->pMethods->xDeviceCharacteristics(real);
}

/* Version 1: no shared memory, and no mapping past xWrite. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *ret_flags)
{
    struct pyro_sql_disk *disk = vfs->pAppData;
    struct disk_file *file = file_of(base);
    *file = (struct disk_file){.disk = disk, .real = (sqlite3_file *)(file + 1)};
    int status = disk->below->xOpen(disk->below, name, file->real, flags, ret_flags);
    if (status == SQLITE_OK)
        file->base.pMethods = &methods;
    else if (file->real->pMethods)
        file->real->pMethods->xClose(file->real);
    return status;
}

bool pyro_sql_disk_open(struct pyro_sql_disk *disk, uint64_t limit)
{
    sqlite3_vfs *below = sqlite3_vfs_find("unix"); /* whose other methods do not look at pAppData */
    if (!below)
        return false;
    *disk = (struct pyro_sql_disk){.limit = limit, .below = below, .vfs = *below};
    sqlite3_snprintf(sizeof(disk->name), disk->name, "pyrometer-%p", (void *)disk);
    disk->vfs.pNext = NULL;
    disk->vfs.szOsFile = (int)sizeof(struct disk_file) + below->szOsFile;
    disk->vfs.zName = disk->name;
    disk->vfs.pAppData = disk;
    disk->vfs.xOpen = open_file;
    return sqlite3_vfs_register(&disk->vfs, 0) == SQLITE_OK;
}

void pyro_sql_disk_close(struct pyro_sql_disk *disk)
{
    if (disk->below)
        sqlite3_vfs_unregister(&disk->vfs);
}
