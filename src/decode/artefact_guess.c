/* What a file looks like that is not an event log, in words for people. */
#include "decode/artefact_guess.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/calendar.h"
#include "decode/artefact_kinds.h"
#include "model/failure_text.h"

static const char unknown_gc_log[] = "a GC log of an unknown form";

/* What logs of garbage collectors have that are read by nothing here: of OpenJ9, of JRockit, of Go. */
static bool is_unknown_gc_log(struct pyro_slice head)
{
    static const char *const marks[] = {"<verbosegc",       "<gc-op ",   "<gc type=",       "<af type=",
                                        "[INFO ][memory ]", "[memory ]", "Pause Init Mark", "gc 1 @"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (pyro_slice_find(head, marks[i]))
            return true;
    return false;
}

/* Whether a line of the beginning has a time, near its own beginning. */
static bool has_times(struct pyro_slice head)
{
    enum { LINES = 100, LETTERS = 64 };
    struct pyro_slice line;
    for (size_t i = 0; i < LINES && pyro_next_line(&head, &line); i++)
        for (size_t at = 0; at < line.len && at < LETTERS; at++) {
            int64_t time_ms;
            bool zoned;
            if (pyro_date_time_read((struct pyro_slice){line.ptr + at, line.len - at}, &time_ms, &zoned) > 0)
                return true;
        }
    return false;
}

static char first_letter(struct pyro_slice head)
{
    for (size_t i = 0; i < head.len; i++)
        if (!strchr(" \t\r\n", head.ptr[i]))
            return head.ptr[i];
    return '\0';
}

const char *pyro_text_guess(struct pyro_slice head)
{
    char first = first_letter(head);
    if (first == '\0')
        return "empty";
    if (memchr(head.ptr, '\0', head.len))
        return "not a text";
    if (is_unknown_gc_log(head))
        return unknown_gc_log;
    if (first == '{' || first == '[')
        return "JSON lines, not Spark's";
    if (first == '<')
        return "XML or HTML";
    return has_times(head) ? "text with times, but not a log of a known form" : "text without times";
}

/* "gc-log (log of the JVM's garbage collector)" */
static const char *describe_kind(enum pyro_artefact_kind kind)
{
    static const char *const texts[] = {
#define PYRO_ARTEFACT(id, name, prefix, doc) name " (" doc ")",
#include "decode/artefact_kinds.def"
#undef PYRO_ARTEFACT
    };
    return texts[kind];
}

bool pyro_artefact_guess(struct pyro_slice head, bool whole, struct pyro_guess *ret)
{
    *ret = (struct pyro_guess){.of_run = true};
    if (first_letter(head) == '\0' || (!whole && !memchr(head.ptr, '\n', head.len)) ||
        pyro_slice_find(head, "\"Event\""))
        return false;
    enum pyro_artefact_kind kind = pyro_artefact_recognise(head, whole);
    if (kind != PYRO_ARTEFACT_KINDS) {
        ret->from_pipe = kind == PYRO_ARTEFACT_TEXT_LOG;
        snprintf(ret->text, sizeof(ret->text),
                 "a file of the kind %s: 'pyrometer %s' shows it; to read it with the event log of its run, name the "
                 "folder that has both",
                 describe_kind(kind), ret->from_pipe ? "logs errors" : "profile");
    } else {
        const char *looks = pyro_text_guess(head);
        ret->of_run = looks == unknown_gc_log;
        ret->from_pipe = true;
        snprintf(ret->text, sizeof(ret->text), "%s", looks);
    }
    return true;
}
