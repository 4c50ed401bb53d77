/* Traces: the first three bytes say how long the metadata are, least first; then come the metadata, then one stream. */
#include <stdio.h>
#include <unistd.h>

#include <fcntl.h>

#include "decode/trace/ctf/ctf.h"
#include "fuzz_kit.h"

struct seen {
    uint64_t events, touched;
    uint64_t wanted;
    int64_t last_ns;
};

static char folder[] = "/tmp/fuzz_ctf.XXXXXX";

static void path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder, name);
}

static void remove_folder(void)
{
    char path[64];
    path_of("metadata", path, sizeof(path));
    unlink(path);
    path_of("stream", path, sizeof(path));
    unlink(path);
    rmdir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
    char path[64];
    path_of(name, path, sizeof(path));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && (size == 0 || write(fd, data, size) == (ssize_t)size));
    close(fd);
}

/* Every third class is only counted. */
static struct pyro_ctf_wanted want(void *context, const struct pyro_ctf_trace *trace, struct pyro_slice name)
{
    static const struct pyro_ctf_wanted wanted = {
        .kind = 7,
        .slots = {"three|first|small|flag", "thirteen|fixed|large|maybe", "wide|list|text|tag",
                  "numbers.1|inner.choice|n", "array.1|choice|real", "names|last|bits", "pairs.1|half|inner",
                  "len|shared_length", "cpu_id", "bytes", "args.2", "content_size"}};
    struct seen *seen = context;
    (void)name;
    FUZZ_CHECK(trace->version == 18 || trace->version == 2);
    return seen->wanted++ % 3 == 2 ? (struct pyro_ctf_wanted){.kind = -1} : wanted;
}

static void lose(void *context, const struct pyro_ctf_loss *loss)
{
    struct seen *seen = context;
    seen->touched += strlen(loss->why);
    FUZZ_CHECK(loss->from_ns <= loss->until_ns && loss->trace == 0);
}

static void look_at(struct seen *seen, const struct pyro_ctf_event *event)
{
    FUZZ_CHECK(event->kind == 7 && event->trace == 0 && event->time_ns >= seen->last_ns);
    seen->last_ns = event->time_ns;
    for (size_t i = 0; i < PYRO_CTF_SLOTS; i++) {
        const struct pyro_ctf_value *value = &event->slots[i];
        FUZZ_CHECK(value->known || (!value->text.ptr && value->integer == 0));
        FUZZ_CHECK(!value->text.ptr || value->integer == 0);
        for (size_t k = 0; k < value->text.len; k++)
            seen->touched += (unsigned char)value->text.ptr[k];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct seen seen = {.last_ns = INT64_MIN};
    struct pyro_error error = {.size = sizeof(error)};
    const struct pyro_ctf_event *event = NULL;
    if (size < 3)
        return 0;
    size_t metadata = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
    if (metadata > size - 3)
        metadata = size - 3;
    if (!made) {
        FUZZ_CHECK(mkdtemp(folder));
        FUZZ_CHECK(atexit(remove_folder) == 0);
        made = true;
    }
    write_file("metadata", data + 3, metadata);
    write_file("stream", data + 3 + metadata, size - 3 - metadata);
    seen.touched += pyro_ctf_recognise((struct pyro_slice){(const char *)data + 3, metadata});
    struct pyro_ctf *ctf = pyro_ctf_new(&(struct pyro_ctf_calls){want, lose, &seen}, NULL);
    FUZZ_CHECK(ctf);
    enum pyro_status status = pyro_ctf_add(ctf, folder, &error);
    FUZZ_CHECK(status == PYRO_OK || (status == PYRO_ERROR_INPUT && error.message[0]));
    while (status == PYRO_OK) {
        status = pyro_ctf_next(ctf, &event, &error);
        FUZZ_CHECK(status == PYRO_OK);
        if (!event)
            break;
        look_at(&seen, event);
        seen.events++;
    }
    uint64_t counted = 0;
    for (size_t i = 0; i < pyro_ctf_class_count(ctf); i++)
        counted += pyro_ctf_class(ctf, i).count;
    FUZZ_CHECK(counted >= seen.events);
    pyro_ctf_free(ctf);
    return 0;
}
