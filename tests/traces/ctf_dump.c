/* ctf_dump WANTED FOLDER...: prints what the reader of traces makes of them, one event a line, its fields between tabs.
 * WANTED is a file with a line for each class of events: its name and the fields that are wanted; the name "*" is for
 * all others; classes without a line are only counted. With "-" for it, five fields of each are read and nothing is
 * printed except the number of events. Tests compare the lines with what other programs read in the same traces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/whole_file.h"
#include "decode/trace/ctf/ctf.h"

enum { ROWS_MAX = 5000 };

struct wanted_row {
    struct pyro_slice name;
    struct pyro_ctf_wanted wanted;
};

struct dump {
    struct wanted_row rows[ROWS_MAX];
    size_t count;
    bool quiet;
};

/* The text up to the tab or newline, which becomes its end. */
static char *cut(char **at, char *ret_end)
{
    char *from = *at;
    *at += strcspn(from, "\t\n");
    *ret_end = **at;
    if (**at)
        *(*at)++ = '\0';
    return from;
}

static void read_rows(struct dump *dump, char *text)
{
    char end = '\n';
    for (char *at = text; *at && dump->count < ROWS_MAX;) {
        struct wanted_row *row = &dump->rows[dump->count];
        row->name = pyro_slice_from(cut(&at, &end));
        row->wanted.kind = (int)dump->count++;
        for (size_t slot = 0; end == '\t';) {
            const char *field = cut(&at, &end);
            if (slot < PYRO_CTF_SLOTS)
                row->wanted.slots[slot++] = field;
        }
    }
}

static struct pyro_ctf_wanted want(void *context, const struct pyro_ctf_trace *trace, struct pyro_slice name)
{
    const struct dump *dump = context;
    const struct wanted_row *other = NULL;
    (void)trace;
    for (size_t i = 0; i < dump->count; i++) {
        if (pyro_slice_eq(dump->rows[i].name, name))
            return dump->rows[i].wanted;
        if (pyro_slice_is(dump->rows[i].name, "*"))
            other = &dump->rows[i];
    }
    return other ? other->wanted : (struct pyro_ctf_wanted){.kind = -1};
}

static void print_text(struct pyro_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (byte < 0x20 || byte >= 0x7f || byte == '\\')
            printf("\\x%02x", byte);
        else
            putchar(byte);
    }
}

static void lose(void *context, const struct pyro_ctf_loss *loss)
{
    const struct dump *dump = context;
    if (!dump->quiet)
        printf("lose\t%" PRId32 "\t%" PRId32 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%s\n", loss->trace, loss->cpu,
               loss->from_ns, loss->until_ns, loss->events, loss->why);
}

static void print_event(const struct dump *dump, const struct pyro_ctf_event *event)
{
    const struct pyro_ctf_wanted *wanted = &dump->rows[event->kind].wanted;
    printf("event\t%" PRId64 "\t%" PRId32 "\t%" PRId32 "\t", event->time_ns, event->trace, event->cpu);
    print_text(event->name);
    for (size_t i = 0; i < PYRO_CTF_SLOTS && wanted->slots[i]; i++) {
        const struct pyro_ctf_value *value = &event->slots[i];
        if (!value->known) {
            printf("\t-");
        } else if (value->text.ptr) {
            printf("\t\"");
            print_text(value->text);
        } else {
            printf("\t%" PRId64, value->integer);
        }
    }
    printf("\n");
}

static void print_facts(const struct pyro_ctf *ctf)
{
    for (size_t i = 0; i < pyro_ctf_trace_count(ctf); i++) {
        const struct pyro_ctf_trace *trace = pyro_ctf_trace(ctf, i);
        printf("trace\t%d\t%.*s\t%.*s\t%.*s\t%d.%d\t%s\t%.*s\t%.*s\t%.*s\t%" PRId64 "\t%zu\t%" PRIu64 "\t%.*s\n",
               trace->version, (int)trace->host.len, trace->host.ptr, (int)trace->tracer.len, trace->tracer.ptr,
               (int)trace->domain.len, trace->domain.ptr, trace->tracer_major, trace->tracer_minor,
               trace->absolute ? "absolute" : "relative", (int)trace->clock.len, trace->clock.ptr,
               (int)trace->clock_uuid.len, trace->clock_uuid.ptr, (int)trace->machine.len, trace->machine.ptr,
               trace->offset_ns, trace->streams, trace->bytes, (int)trace->problem.len, trace->problem.ptr);
    }
    for (size_t i = 0; i < pyro_ctf_class_count(ctf); i++) {
        struct pyro_ctf_class class = pyro_ctf_class(ctf, i);
        if (class.count > 0)
            printf("class\t%" PRId32 "\t%.*s\t%" PRIu64 "\n", class.trace, (int)class.name.len, class.name.ptr,
                   class.count);
    }
}

static enum pyro_status read_all(struct pyro_ctf *ctf, const struct dump *dump, struct pyro_error *error)
{
    const struct pyro_ctf_event *event;
    uint64_t events = 0;
    for (;; events++) {
        PYRO_TRY(pyro_ctf_next(ctf, &event, error));
        if (!event)
            break;
        if (!dump->quiet)
            print_event(dump, event);
    }
    if (dump->quiet)
        printf("%" PRIu64 "\n", events);
    else
        print_facts(ctf);
    return PYRO_OK;
}

int main(int argc, char **argv)
{
    static struct dump dump;
    static char fields[] = "*\tprev_comm|comm|id\tprev_tid|prev_pid|tid|pid|ret\tprev_state|args.0|args|fd\tnext_tid|"
                           "next_pid|target_cpu\tcpu_id\n";
    struct pyro_error error = {.size = sizeof(error)};
    struct pyro_strbuf text;
    if (argc < 3) {
        fprintf(stderr, "usage: ctf_dump WANTED FOLDER...\n");
        return 2;
    }
    pyro_strbuf_init(&text, NULL);
    dump.quiet = strcmp(argv[1], "-") == 0;
    enum pyro_status status = dump.quiet ? PYRO_OK : pyro_read_whole(argv[1], 1 << 20, &text, &error);
    if (status == PYRO_OK && (dump.quiet || text.len > 0))
        read_rows(&dump, dump.quiet ? fields : text.data);
    struct pyro_ctf *ctf = pyro_ctf_new(&(struct pyro_ctf_calls){want, lose, &dump}, NULL);
    for (int i = 2; i < argc && ctf && status == PYRO_OK; i++)
        status = pyro_ctf_add(ctf, argv[i], &error);
    if (ctf && status == PYRO_OK)
        status = read_all(ctf, &dump, &error);
    pyro_ctf_free(ctf);
    pyro_strbuf_done(&text);
    if (status != PYRO_OK)
        fprintf(stderr, "ctf_dump: %s: %s\n", error.path, error.message);
    return (int)status;
}
