/* For programs that write names of files unencoded: rewrites Content-Type and -Disposition. */
#include <string.h>

#include "core/ascii.h"
#include "mime/header.h"
#include "mime/param.h"
#include "mime/wire/internal.h"

struct param {
    struct mq_str name, value; /* the value with its quotes */
    struct mq_str text;        /* name and value as they stand in the field */
};

/* Returns the length up to the next ";" outside of quotes. */
static size_t param_length(struct mq_str text)
{
    size_t n = 0;
    while (n < text.len && text.data[n] != ';') {
        n += text.data[n] == '"' ? mq_repair_enclosed(mq_str_skip(text, n)) : 1;
    }
    return n;
}

/* Takes the next parameter off *rest, which begins with its ";". */
static bool param_next(struct mq_str *rest, struct param *param)
{
    if (rest->len == 0 || rest->data[0] != ';') {
        return false;
    }
    mq_str_cut(rest, 1);
    param->text = mq_str_trim(mq_str_cut(rest, param_length(*rest)));
    struct mq_str value = param->text;
    const char *equals = value.len > 0 ? memchr(value.data, '=', value.len) : NULL;
    param->name =
        mq_str_trim(mq_str_cut(&value, equals != NULL ? (size_t)(equals - value.data) : value.len));
    param->value = equals != NULL ? mq_str_trim((struct mq_str){value.data + 1, value.len - 1})
                                  : (struct mq_str){NULL, 0};
    return true;
}

void mq_repair_unquote(struct mq_buffer *out, struct mq_str value)
{
    bool quoted = false;
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] == '"') {
            quoted = !quoted;
            continue;
        }
        i += quoted && value.data[i] == '\\' && i + 1 < value.len;
        mq_buffer_char(out, value.data[i]);
    }
}

/* Takes the text before the parameters. */
static struct mq_str take_type(struct mq_str *value)
{
    const char *end = value->len > 0 ? memchr(value->data, ';', value->len) : NULL;
    return mq_str_cut(value, end != NULL ? (size_t)(end - value->data) : value->len);
}

bool mq_repair_param_find(struct mq_str value, struct mq_str name, struct mq_buffer *out)
{
    struct param param;
    take_type(&value);
    while (param_next(&value, &param)) {
        if (mq_str_equal_nocase(param.name, name)) {
            mq_repair_unquote(out, param.value);
            return true;
        }
    }
    return false;
}

/* ---- writing ---- */

static const char file_names[] = "filename name";

/* Returns as bits which of file_names the parameters have in extended form already. */
static unsigned find_extended(struct mq_str params)
{
    struct param param;
    unsigned found = 0;
    while (param_next(&params, &param)) {
        struct mq_str begin = {param.name.data, mq_str_find(param.name, '*')};
        int word = mq_str_word(begin, file_names, mq_str_equal_nocase);
        found |= word >= 0 && begin.len < param.name.len ? 1u << word : 0;
    }
    return found;
}

static void put_text(struct mq_repair_line *line, struct mq_str text)
{
    mq_repair_put(line, MQ_STR(""), MQ_STR(";"));
    mq_repair_put(line, MQ_STR(" "), text);
}

/* Writes a parameter with bytes over 127: in ASCII, for old readers, if it is a file's name whose
 * extended form is there already, or else in extended form. */
static void put_param(struct mq_repair_line *line, unsigned extended, const struct param *param)
{
    struct mq_buffer text = {0};
    int word = mq_str_word(param->name, file_names, mq_str_equal_nocase);
    line->changed = true;
    if (param->name.data[param->name.len - 1] == '*') {
        mq_repair_escape(&text, param->text, '%');
        put_text(line, mq_buffer_view(&text));
    } else {
        mq_repair_unquote(&text, param->value);
        struct mq_str value = mq_buffer_view(&text);
        if (word >= 0 && (extended & 1u << word) != 0) {
            mq_param_fallback(line->out, &line->column, word == 0 ? "filename" : "name", value);
        } else {
            mq_param_extended(line->out, &line->column, line->charset, param->name, value);
        }
    }
    line->out->failed = line->out->failed || text.failed;
    mq_buffer_clear(&text);
}

/* Whether a parameter with this name can be rewritten. The name must be short, because each section
 * repeats it, and not be that of a section (name*0): all sections would have to change. */
static bool is_writable(struct mq_str name)
{
    const char *star = memchr(name.data, '*', name.len);
    return name.len <= MQ_PARAM_NAME_MAX && (star == NULL || name.data[name.len - 1] == '*');
}

bool mq_repair_params(struct mq_repair_line *line, struct mq_str value)
{
    struct param param;
    struct mq_str type = take_type(&value);
    unsigned extended = find_extended(value);
    if (!mq_str_ascii(type)) {
        return false;
    }
    mq_repair_put(line, MQ_STR(" "), mq_str_trim(type));
    while (param_next(&value, &param)) {
        if (!mq_str_ascii(param.name) || (param.name.len == 0 && !mq_str_ascii(param.text))) {
            return false;
        }
        if (!mq_str_ascii(param.value)) {
            if (!is_writable(param.name)) {
                return false;
            }
            put_param(line, extended, &param);
        } else if (param.text.len > 0) {
            put_text(line, param.text);
        }
    }
    return true;
}
