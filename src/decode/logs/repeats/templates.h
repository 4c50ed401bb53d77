/* Templates of log messages: what is the same in all messages of one statement of a program, with <*> for what differs.
 *
 * A message is masked (mask.h) and cut into tokens at its spaces. Words of the statement look like words: letters of
 * which only the first may be a capital. Other tokens with letters are names, mostly values: MapOutputTracker, READY.
 * What follows a colon outside brackets behind at least two words is free text, the tail; the head before it decides
 * ("Pushed Filters:").
 *
 * A tree in the manner of Drain (He et al., 2017) finds the template. The logger's name without its package, the number
 * of the head's tokens and the first token, if it is a word, select at most 100 templates. Of these, the one with the
 * most equal words is taken, if at least 60 % of the words are equal and no other word is in the place of one. Tokens
 * that differ become <*>; so does the tail, where its length differs. Otherwise the message is a template of its own.
 * If 8 templates are alike except some words, a ninth one takes all that are; if a place has 100, another one takes all
 * that fit no other. A masked text that was seen before gets its template without the tree.
 *
 * At most 20,000 templates; messages that would need more count for one template per level, with the text <*>. Memory
 * is bounded (about 30 MB at most), time linear. The same records in the same order give the same templates. Texts with
 * the same 64-bit hash count as equal. */
#ifndef PYRO_DECODE_LOGS_REPEATS_TEMPLATES_H
#define PYRO_DECODE_LOGS_REPEATS_TEMPLATES_H

#include <stddef.h>
#include <stdint.h>

#include "decode/logs/records/record.h"
#include "pyrometer.h"

enum { PYRO_TEMPLATES_MOST = 20000 };

struct pyro_template {
    struct pyro_slice text;    /* with <*>; lives as long as the templates, but later messages may change it */
    struct pyro_slice logger;  /* as first seen; null without one, and for what is beyond the limit */
    enum pyro_log_level level; /* the highest */
    uint64_t count;
    int64_t first_ms, last_ms; /* PYRO_NONE where no record has a time */
};

struct pyro_templates;

/* The allocator must outlive them. NULL: no memory. */
struct pyro_templates *pyro_templates_new(const struct pyro_allocator *allocator);
void pyro_templates_free(struct pyro_templates *templates); /* NULL is ignored */
/* Number of the record's template, from 0 in the order in which they were first seen; -1: no memory. */
int32_t pyro_templates_id(struct pyro_templates *templates, const struct pyro_log_record *record);
/* The stage of the last record: that of its task_name, else the first that its message names; else PYRO_NONE. */
int64_t pyro_templates_stage(const struct pyro_templates *templates);
size_t pyro_templates_count(const struct pyro_templates *templates);
/* False: no memory. */
bool pyro_templates_get(struct pyro_templates *templates, int32_t id, struct pyro_template *ret);

#endif
