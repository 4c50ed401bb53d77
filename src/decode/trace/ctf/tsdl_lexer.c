/* Tokens of TSDL, and statements of which only the words matter. */
#include "decode/trace/ctf/tsdl.h"

bool pyro_tsdl_fail(struct tsdl *tsdl, unsigned line, const char *why)
{
    if (tsdl->status == PYRO_OK) {
        pyro_error_describe(tsdl->error, PYRO_ERROR_INPUT, "line %u of the metadata: %s", line, why);
        tsdl->status = PYRO_ERROR_INPUT;
    }
    tsdl->at = tsdl->end;
    tsdl->token = (struct tsdl_token){.kind = TSDL_END, .line = line};
    return false;
}

bool pyro_tsdl_no_memory(struct tsdl *tsdl)
{
    if (tsdl->status == PYRO_OK)
        tsdl->status = pyro_no_memory(tsdl->error);
    return pyro_tsdl_fail(tsdl, tsdl->token.line, "");
}

static bool begins_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t left(const struct tsdl *tsdl)
{
    return (size_t)(tsdl->end - tsdl->at);
}

/* False: a comment does not end. */
static bool skip_blanks(struct tsdl *tsdl)
{
    while (tsdl->at < tsdl->end) {
        char byte = *tsdl->at;
        if (byte == '\n') {
            tsdl->line++;
            tsdl->at++;
        } else if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f' || byte == '\v' || byte == '\0') {
            tsdl->at++;
        } else if (byte == '/' && left(tsdl) > 1 && tsdl->at[1] == '/') {
            while (tsdl->at < tsdl->end && *tsdl->at != '\n')
                tsdl->at++;
        } else if (byte == '/' && left(tsdl) > 1 && tsdl->at[1] == '*') {
            for (tsdl->at += 2; left(tsdl) > 1 && (tsdl->at[0] != '*' || tsdl->at[1] != '/'); tsdl->at++)
                tsdl->line += *tsdl->at == '\n';
            if (left(tsdl) < 2)
                return false;
            tsdl->at += 2;
        } else {
            break;
        }
    }
    return true;
}

static int digit_value(char byte)
{
    if (is_digit(byte))
        return byte - '0';
    char lower = (char)(byte | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static void read_number(struct tsdl *tsdl, struct tsdl_token *token)
{
    int base = 10;
    uint64_t value = 0;
    token->kind = TSDL_NUMBER;
    if (*tsdl->at == '0' && left(tsdl) > 1) {
        char next = (char)(tsdl->at[1] | 0x20);
        base = next == 'x' ? 16 : next == 'b' ? 2 : 8;
        tsdl->at += base == 8 ? 1 : 2;
    }
    for (; tsdl->at < tsdl->end && digit_value(*tsdl->at) < base; tsdl->at++) {
        uint64_t digit = (uint64_t)digit_value(*tsdl->at);
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) || __builtin_add_overflow(value, digit, &value)) {
            pyro_tsdl_fail(tsdl, tsdl->line, "a number has more than 64 bits");
            return;
        }
    }
    while (tsdl->at < tsdl->end && strchr("uUlL", *tsdl->at) && *tsdl->at)
        tsdl->at++;
    if (tsdl->at < tsdl->end && (begins_word(*tsdl->at) || is_digit(*tsdl->at))) {
        pyro_tsdl_fail(tsdl, tsdl->line, "a number contains other characters");
        return;
    }
    token->number = value;
}

static char escaped(char byte)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    const char *found = byte ? strchr(from, byte) : NULL;
    return found ? to[found - from] : byte;
}

/* Escapes of one character; octal and hexadecimal ones stay as they are written. */
static void read_text(struct tsdl *tsdl, struct tsdl_token *token)
{
    char quote = *tsdl->at++;
    const char *from = tsdl->at;
    size_t escapes = 0;
    while (tsdl->at < tsdl->end && *tsdl->at != quote && *tsdl->at != '\n') {
        bool escape = *tsdl->at == '\\' && left(tsdl) > 1 && tsdl->at[1] != '\n';
        escapes += escape;
        tsdl->at += escape ? 2 : 1;
    }
    if (tsdl->at >= tsdl->end || *tsdl->at != quote) {
        pyro_tsdl_fail(tsdl, tsdl->line, "a text does not end on its line");
        return;
    }
    token->kind = TSDL_TEXT;
    token->text = (struct pyro_slice){from, (size_t)(tsdl->at - from)};
    tsdl->at++;
    if (escapes == 0)
        return;
    char *text = pyro_arena_alloc(tsdl->metadata->arena, token->text.len);
    if (!text) {
        pyro_tsdl_no_memory(tsdl);
        return;
    }
    size_t len = 0;
    for (size_t i = 0; i < token->text.len; i++) {
        bool escape = from[i] == '\\' && i + 1 < token->text.len && !is_digit(from[i + 1]) && from[i + 1] != 'x';
        text[len++] = escape ? escaped(from[++i]) : from[i];
    }
    token->text = (struct pyro_slice){text, len};
}

void pyro_tsdl_advance(struct tsdl *tsdl)
{
    if (!skip_blanks(tsdl)) {
        pyro_tsdl_fail(tsdl, tsdl->line, "a comment does not end");
        return;
    }
    struct tsdl_token token = {.kind = TSDL_END, .line = tsdl->line, .from = tsdl->at};
    if (tsdl->at < tsdl->end) {
        char byte = *tsdl->at;
        if (begins_word(byte)) {
            while (tsdl->at < tsdl->end && (begins_word(*tsdl->at) || is_digit(*tsdl->at)))
                tsdl->at++;
            token.kind = TSDL_WORD;
            token.text = (struct pyro_slice){token.from, (size_t)(tsdl->at - token.from)};
        } else if (is_digit(byte)) {
            read_number(tsdl, &token);
        } else if (byte == '"' || byte == '\'') {
            read_text(tsdl, &token);
        } else if (byte == ':' && left(tsdl) > 1 && tsdl->at[1] == '=') {
            token.kind = TSDL_ASSIGN_TYPE;
            tsdl->at += 2;
        } else if (left(tsdl) > 2 && memcmp(tsdl->at, "...", 3) == 0) {
            token.kind = TSDL_DOTS;
            tsdl->at += 3;
        } else {
            token.kind = TSDL_MARK;
            token.mark = byte;
            tsdl->at++;
        }
    }
    if (tsdl->status == PYRO_OK)
        tsdl->token = token;
}

bool pyro_tsdl_take_mark(struct tsdl *tsdl, char mark)
{
    if (!pyro_tsdl_is_mark(tsdl, mark))
        return false;
    pyro_tsdl_advance(tsdl);
    return true;
}

bool pyro_tsdl_take_word(struct tsdl *tsdl, const char *word)
{
    if (!pyro_tsdl_is_word(tsdl, word))
        return false;
    pyro_tsdl_advance(tsdl);
    return true;
}

bool pyro_tsdl_expect(struct tsdl *tsdl, char mark)
{
    char why[] = "'x' is missing";
    if (pyro_tsdl_take_mark(tsdl, mark))
        return true;
    why[1] = mark;
    return pyro_tsdl_fail(tsdl, tsdl->token.line, why);
}

void pyro_tsdl_skip_statement(struct tsdl *tsdl)
{
    size_t braces = 0;
    while (tsdl->token.kind != TSDL_END) {
        bool opens = pyro_tsdl_is_mark(tsdl, '{'), closes = pyro_tsdl_is_mark(tsdl, '}');
        if (braces == 0 && (closes || pyro_tsdl_is_mark(tsdl, ';'))) {
            if (!closes)
                pyro_tsdl_advance(tsdl);
            return;
        }
        braces += opens;
        braces -= closes;
        pyro_tsdl_advance(tsdl);
    }
    if (braces > 0)
        pyro_tsdl_fail(tsdl, tsdl->line, "a block does not end");
}

/* Up to the ';', as it is written. */
static bool read_words(struct tsdl *tsdl, struct tsdl_attribute *ret)
{
    const char *from = tsdl->token.from, *until = from;
    while (tsdl->token.kind != TSDL_END && !pyro_tsdl_is_mark(tsdl, ';') && !pyro_tsdl_is_mark(tsdl, '}')) {
        pyro_tsdl_advance(tsdl);
        until = tsdl->token.from;
    }
    if (!pyro_tsdl_is_mark(tsdl, ';'))
        return pyro_tsdl_fail(tsdl, tsdl->token.line, "';' is missing");
    while (until > from && (until[-1] == ' ' || until[-1] == '\t' || until[-1] == '\n' || until[-1] == '\r'))
        until--;
    ret->text = (struct pyro_slice){from, (size_t)(until - from)};
    return true;
}

bool pyro_tsdl_attribute(struct tsdl *tsdl, struct tsdl_attribute *ret)
{
    const char *from = tsdl->token.from, *until = from;
    *ret = (struct tsdl_attribute){.line = tsdl->token.line};
    while (tsdl->token.kind == TSDL_WORD || pyro_tsdl_is_mark(tsdl, '.')) {
        until = tsdl->at;
        pyro_tsdl_advance(tsdl);
    }
    if (tsdl->status != PYRO_OK || until == from)
        return pyro_tsdl_fail(tsdl, ret->line, "the name of an attribute is missing");
    ret->name = (struct pyro_slice){from, (size_t)(until - from)};
    if (tsdl->token.kind == TSDL_ASSIGN_TYPE) {
        ret->is_type = true;
        pyro_tsdl_advance(tsdl);
        return tsdl->status == PYRO_OK;
    }
    if (!pyro_tsdl_expect(tsdl, '='))
        return false;
    if (tsdl->token.kind == TSDL_TEXT) {
        ret->text = tsdl->token.text;
        pyro_tsdl_advance(tsdl);
        return pyro_tsdl_expect(tsdl, ';');
    }
    bool minus = pyro_tsdl_is_mark(tsdl, '-');
    struct tsdl before = *tsdl;
    if (minus || pyro_tsdl_is_mark(tsdl, '+'))
        pyro_tsdl_advance(tsdl);
    if (tsdl->token.kind == TSDL_NUMBER) {
        ret->number = (int64_t)(minus ? 0 - tsdl->token.number : tsdl->token.number);
        ret->is_number = true;
    }
    *tsdl = before;
    return read_words(tsdl, ret) && pyro_tsdl_expect(tsdl, ';');
}
