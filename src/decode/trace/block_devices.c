/* Requests of block devices: which device a wait was for, and who kept it busy. */
#include <stdio.h>

#include "decode/trace/kernel.h"
#include "model/column.h"

/* Minor numbers have 20 bits in the kernel. */
enum { MINOR_BITS = 20 };

static int find_device(struct pyro_kernel *kernel, int32_t host, int64_t number)
{
    for (size_t i = 0; i < kernel->devices.count; i++)
        if (kernel->devices.items[i].number == number && kernel->devices.items[i].host == host)
            return (int)i;
    return -1;
}

static int add_device(struct pyro_kernel *kernel, int32_t host, int64_t number)
{
    char name[48];
    int found = find_device(kernel, host, number);
    if (found >= 0 || kernel->devices.count >= PYRO_KERNEL_DEVICES_MAX)
        return found;
    struct pyro_kdevice *device = pyro_vec_push(&kernel->devices, kernel->allocator);
    if (!device) {
        kernel->no_memory = true;
        return -1;
    }
    int len = snprintf(name, sizeof(name), "%lld:%lld", (long long)((uint64_t)number >> MINOR_BITS),
                       (long long)(number & ((1 << MINOR_BITS) - 1)));
    device->host = host;
    device->number = number;
    device->name = pyro_tracks_text(kernel->tracks, (struct pyro_slice){name, (size_t)len});
    kernel->no_memory |= !device->name.ptr;
    return (int)(kernel->devices.count - 1);
}

void pyro_device_issue(struct pyro_kernel *kernel, int32_t host, int64_t number, const struct pyro_krequest *request)
{
    int found = add_device(kernel, host, number);
    if (found < 0)
        return;
    struct pyro_kdevice *device = &kernel->devices.items[found];
    if (device->pending.count >= PYRO_DEVICE_PENDING_MAX) /* their ends are missing */
        device->pending.count = 0;
    struct pyro_krequest *added = pyro_vec_push(&device->pending, kernel->allocator);
    if (added)
        *added = *request;
    else
        kernel->no_memory = true;
}

void pyro_device_complete(struct pyro_kernel *kernel, int32_t host, struct pyro_kcpu *cpu, int64_t number,
                          int64_t sector, int64_t time_ns)
{
    int found = add_device(kernel, host, number);
    if (found < 0)
        return;
    struct pyro_kdevice *device = &kernel->devices.items[found];
    if (cpu) {
        cpu->done_device = found;
        cpu->done_ns = time_ns;
    }
    for (size_t i = 0; i < device->pending.count; i++) {
        if (device->pending.items[i].sector != sector)
            continue;
        struct pyro_krequest *recent = &device->recent[device->recent_at];
        *recent = device->pending.items[i];
        recent->until_ns = time_ns;
        device->recent_at = (device->recent_at + 1) % PYRO_DEVICE_RECENT;
        device->pending.items[i] = device->pending.items[--device->pending.count];
        return;
    }
}

/* How long one issuer's process had requests in the device; those that overlap count more than once. */
struct share {
    struct pyro_kthread *issuer;
    int64_t ns;
};

enum { SHARES = 8 };

static void add_share(struct share *shares, const struct pyro_krequest *request, int64_t from_ns, int64_t until_ns)
{
    int64_t start_ns = request->from_ns > from_ns ? request->from_ns : from_ns;
    int64_t end_ns = request->until_ns < until_ns ? request->until_ns : until_ns;
    if (!request->issuer || end_ns <= start_ns)
        return;
    for (int i = 0; i < SHARES; i++) {
        if (shares[i].issuer && shares[i].issuer != request->issuer &&
            (shares[i].issuer->pid != request->issuer->pid || request->issuer->pid < 0))
            continue;
        if (!shares[i].issuer)
            shares[i].issuer = request->issuer;
        shares[i].ns += end_ns - start_ns;
        return;
    }
}

static struct share busiest(const struct pyro_kdevice *device, int64_t from_ns, int64_t until_ns)
{
    struct share shares[SHARES] = {{0}};
    struct share most = {0};
    for (unsigned i = 0; i < PYRO_DEVICE_RECENT; i++)
        if (device->recent[i].until_ns > 0)
            add_share(shares, &device->recent[i], from_ns, until_ns);
    for (size_t i = 0; i < device->pending.count; i++) {
        struct pyro_krequest request = device->pending.items[i];
        request.until_ns = until_ns;
        add_share(shares, &request, from_ns, until_ns);
    }
    for (int i = 0; i < SHARES; i++)
        if (shares[i].ns > most.ns)
            most = shares[i];
    return most;
}

struct pyro_kthread *pyro_device_busy(struct pyro_kernel *kernel, int32_t host, int *device, int64_t from_ns,
                                      int64_t until_ns)
{
    struct share most = {0};
    if (*device >= 0)
        return busiest(&kernel->devices.items[*device], from_ns, until_ns).issuer;
    for (size_t i = 0; i < kernel->devices.count; i++) {
        if (kernel->devices.items[i].host != host)
            continue;
        struct share share = busiest(&kernel->devices.items[i], from_ns, until_ns);
        if (share.ns > most.ns) {
            most = share;
            *device = (int)i;
        }
    }
    return most.issuer;
}
