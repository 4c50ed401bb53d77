#include "serve/spark/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

static void indent(struct spark_json *json)
{
    static const char blanks[] = "\n                                ";
    enum { AT_ONCE = (sizeof(blanks) - 2) / 2 };
    pyro_strbuf_add(json->out, blanks, 1 + 2 * (json->depth < AT_ONCE ? json->depth : AT_ONCE));
    for (unsigned i = AT_ONCE; i < json->depth; i++)
        pyro_strbuf_add_text(json->out, "  ");
}

void pyro_spark_open_object(struct spark_json *json)
{
    pyro_strbuf_add_char(json->out, '{');
    json->depth++;
    json->filled = false;
}

void pyro_spark_close_object(struct spark_json *json)
{
    json->depth--;
    if (json->filled)
        indent(json);
    else
        pyro_strbuf_add_char(json->out, ' ');
    pyro_strbuf_add_char(json->out, '}');
    json->filled = true;
}

void pyro_spark_open_array(struct spark_json *json)
{
    pyro_strbuf_add_char(json->out, '[');
    json->filled = false;
}

void pyro_spark_close_array(struct spark_json *json)
{
    pyro_strbuf_add_text(json->out, " ]");
    json->filled = true;
}

void pyro_spark_element(struct spark_json *json)
{
    pyro_strbuf_add_text(json->out, json->filled ? ", " : " ");
    json->filled = true;
}

void pyro_spark_key_slice(struct spark_json *json, struct pyro_slice key)
{
    if (json->filled)
        pyro_strbuf_add_char(json->out, ',');
    indent(json);
    json->filled = true;
    pyro_spark_text(json, key);
    pyro_strbuf_add_text(json->out, " : ");
}

void pyro_spark_key(struct spark_json *json, const char *key)
{
    pyro_spark_key_slice(json, pyro_slice_from(key));
}

void pyro_spark_text(struct spark_json *json, struct pyro_slice text)
{
    struct pyro_strbuf *out = json->out;
    pyro_strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        size_t plain = i;
        while (plain < text.len && (unsigned char)text.ptr[plain] >= 0x20 && text.ptr[plain] != '"' &&
               text.ptr[plain] != '\\')
            plain++;
        pyro_strbuf_add(out, text.ptr + i, plain - i);
        i = plain;
        if (i == text.len)
            break;
        unsigned char byte = (unsigned char)text.ptr[i];
        static const char short_names[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";
        const char *found = byte ? strchr(short_names, byte) : NULL;
        if (found) {
            pyro_strbuf_add_char(out, '\\');
            pyro_strbuf_add_char(out, letters[found - short_names]);
        } else {
            pyro_strbuf_printf(out, "\\u%04X", byte);
        }
    }
    pyro_strbuf_add_char(out, '"');
}

void pyro_spark_integer(struct spark_json *json, int64_t value)
{
    pyro_strbuf_add_int(json->out, value);
}

void pyro_spark_real(struct spark_json *json, double value)
{
    char text[40];
    if (!isfinite(value)) {
        pyro_spark_word(json, "\"NaN\"");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(text, sizeof(text), "%.1f", value);
    } else { /* the fewest digits that give the same number again */
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof(text), "%.*g", digits, value);
            double again;
            if (sscanf(text, "%lf", &again) == 1 && again >= value && again <= value)
                break;
        }
    }
    pyro_strbuf_add_text(json->out, text);
}

void pyro_spark_word(struct spark_json *json, const char *word)
{
    pyro_strbuf_add_text(json->out, word);
}

void pyro_spark_put_text(struct spark_json *json, const char *key, struct pyro_slice text)
{
    if (!text.ptr)
        return;
    pyro_spark_key(json, key);
    pyro_spark_text(json, text);
}

void pyro_spark_put_int(struct spark_json *json, const char *key, int64_t value)
{
    pyro_spark_key(json, key);
    pyro_spark_integer(json, value);
}

void pyro_spark_put_bool(struct spark_json *json, const char *key, bool value)
{
    pyro_spark_key(json, key);
    pyro_spark_word(json, value ? "true" : "false");
}

void pyro_spark_put_date(struct spark_json *json, const char *key, int64_t time_ms)
{
    int64_t ms = ((time_ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((time_ms - ms) / 1000);
    struct tm parts;
    char text[64];
    if (!gmtime_r(&seconds, &parts))
        memset(&parts, 0, sizeof(parts));
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    len += (size_t)snprintf(text + len, sizeof(text) - len, ".%03" PRId64 "GMT", ms);
    pyro_spark_key(json, key);
    pyro_spark_text(json, (struct pyro_slice){text, len});
}

void pyro_spark_put_time(struct spark_json *json, const char *key, int64_t time_ms)
{
    if (time_ms > 0)
        pyro_spark_put_date(json, key, time_ms);
}
