/* Reading TSDL, the language of the metadata of version 1.8: tokens, types, blocks. */
#ifndef PYRO_DECODE_TRACE_CTF_TSDL_H
#define PYRO_DECODE_TRACE_CTF_TSDL_H

#include "base/collections/map.h"
#include "decode/trace/ctf/ctf_types.h"

enum tsdl_kind {
    TSDL_END,
    TSDL_WORD,
    TSDL_NUMBER,      /* `number`; negative ones have a minus before them */
    TSDL_TEXT,        /* without its quotation marks, escapes replaced */
    TSDL_ASSIGN_TYPE, /* := */
    TSDL_DOTS,        /* ... */
    TSDL_MARK,        /* any other character, in `mark` */
};

struct tsdl_token {
    enum tsdl_kind kind;
    char mark;
    uint64_t number;
    struct pyro_slice text;
    unsigned line;
    const char *from; /* its first byte */
};

/* What a name stands for. */
enum tsdl_space { TSDL_ALIAS, TSDL_STRUCT_TAG, TSDL_VARIANT_TAG, TSDL_ENUM_TAG };

struct tsdl_name {
    enum tsdl_space space;
    struct pyro_slice text;
    const struct pyro_ctf_type *type;
    uint64_t hash;
    size_t hidden; /* the name that it replaces while its block lasts, + 1 */
};

struct tsdl {
    struct pyro_ctf_metadata *metadata;
    struct pyro_error *error;
    enum pyro_status status; /* the first thing that went wrong */
    const char *at, *end;
    unsigned line, levels;
    struct tsdl_token token; /* the next one */
    PYRO_VEC(struct tsdl_name) names;
    struct pyro_map by_hash; /* -> the newest of `names`, + 1 */
};

/* tsdl_lexer.c */
void pyro_tsdl_advance(struct tsdl *tsdl);
/* The first complaint counts; after it there are no tokens any more. Returns false. */
bool pyro_tsdl_fail(struct tsdl *tsdl, unsigned line, const char *why);
bool pyro_tsdl_no_memory(struct tsdl *tsdl);
static inline bool pyro_tsdl_is_mark(const struct tsdl *tsdl, char mark)
{
    return tsdl->token.kind == TSDL_MARK && tsdl->token.mark == mark;
}
static inline bool pyro_tsdl_is_word(const struct tsdl *tsdl, const char *word)
{
    return tsdl->token.kind == TSDL_WORD && pyro_slice_is(tsdl->token.text, word);
}
/* Takes the mark or the word if it comes next. */
bool pyro_tsdl_take_mark(struct tsdl *tsdl, char mark);
bool pyro_tsdl_take_word(struct tsdl *tsdl, const char *word);
/* Takes the mark, which must come. */
bool pyro_tsdl_expect(struct tsdl *tsdl, char mark);
/* Passes over everything up to the end of a statement or of a block. */
void pyro_tsdl_skip_statement(struct tsdl *tsdl);

/* `name = value;` or `name := type;`, without its type. The name's parts are joined by dots. */
struct tsdl_attribute {
    struct pyro_slice name;
    bool is_type;
    unsigned line;
    struct pyro_slice text; /* of the value as it is written, or the content of its quotation marks */
    bool is_number;
    int64_t number; /* its bits, if it is one */
};
bool pyro_tsdl_attribute(struct tsdl *tsdl, struct tsdl_attribute *ret);

/* tsdl_types.c. A type; `ret_name` gets the word after it, if it has no name of its own for it ("unsigned int x"): null
 * if there is none. NULL: it cannot be read. */
const struct pyro_ctf_type *pyro_tsdl_type(struct tsdl *tsdl, struct pyro_slice *ret_name);
/* Whether typealias or typedef begins here, and reads it. */
bool pyro_tsdl_declaration(struct tsdl *tsdl);
/* tsdl_enumeration.c. What is after "enum" and its tag. */
const struct pyro_ctf_type *pyro_tsdl_enumeration(struct tsdl *tsdl);

/* tsdl_names.c. Names last until their block ends: then forget all beyond those that there were before it. */
const struct pyro_ctf_type *pyro_tsdl_find(const struct tsdl *tsdl, enum tsdl_space space, struct pyro_slice text);
bool pyro_tsdl_name(struct tsdl *tsdl, enum tsdl_space space, struct pyro_slice text, const struct pyro_ctf_type *type);
void pyro_tsdl_forget(struct tsdl *tsdl, size_t count);
/* A type that can still be filled in, or a copy of one; NULL: no memory. */
struct pyro_ctf_type *pyro_tsdl_new(struct tsdl *tsdl, const struct pyro_ctf_type *like, enum pyro_ctf_kind kind);
/* Settles a new type. */
const struct pyro_ctf_type *pyro_tsdl_made(struct tsdl *tsdl, struct pyro_ctf_type *type);

#endif
