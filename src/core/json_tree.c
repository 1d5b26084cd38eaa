/* Reads JSON into a tree. The items of a list or an object are in one run of an array: they are
 * collected in `pending`, and moved to `values` when the list ends. */
#include "core/json_tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "core/json_reader.h"

struct reader {
    struct mq_json_reader in;
    struct mq_json_tree *tree;
    struct mq_str key; /* of the member that was read last, for errors */
    const char *fault; /* cause and cure, if they are known */
    size_t depth;
};

/* ---- arrays of values ---- */

/* Makes room for `more` values. */
static bool reserve(struct mq_json_values *list, size_t more)
{
    size_t need = list->count + more;
    if (need <= list->capacity) {
        return true;
    }
    size_t capacity = need < 16 ? 16 : need * 2;
    struct mq_json_value *items =
        capacity < SIZE_MAX / sizeof *items ? realloc(list->items, capacity * sizeof *items) : NULL;
    if (items == NULL) {
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

static bool push(struct mq_json_values *list, const struct mq_json_value *value)
{
    bool done = reserve(list, 1);
    if (done) {
        list->items[list->count++] = *value;
    }
    return done;
}

/* Orders keys. The order need not mean anything to people: short keys come first. */
static int compare_keys(struct mq_str a, struct mq_str b)
{
    if (a.len != b.len) {
        return a.len < b.len ? -1 : 1;
    }
    return a.len > 0 ? memcmp(a.data, b.data, a.len) : 0;
}

static int compare_members(const void *a, const void *b)
{
    return compare_keys(((const struct mq_json_value *)a)->key,
                        ((const struct mq_json_value *)b)->key);
}

/* Puts members in order; false: two have the same name. */
static bool sort_members(struct mq_json_value *items, size_t count)
{
    bool unique = true;
    if (count > 1) {
        qsort(items, count, sizeof *items, compare_members);
    }
    for (size_t i = 1; i < count && unique; i++) {
        unique = compare_members(&items[i - 1], &items[i]) != 0;
    }
    return unique;
}

/* Ends a list or an object whose items are in `pending` from `begin` on. */
static enum mq_status close_list(struct reader *r, size_t begin, struct mq_json_value *value)
{
    struct mq_json_values *pending = &r->tree->pending;
    struct mq_json_values *values = &r->tree->values;
    size_t count = pending->count - begin;
    struct mq_json_value *items = count > 0 ? pending->items + begin : NULL;
    pending->count = begin;
    if (value->kind == MQ_JSON_OBJECT && !sort_members(items, count)) {
        r->fault = "two members have the same name; give it once";
        return MQ_MESSAGE;
    }
    if (!reserve(values, count)) {
        return MQ_NOMEM;
    }
    if (count > 0) {
        memcpy(values->items + values->count, items, count * sizeof *items);
    }
    value->first = values->count;
    value->count = count;
    values->count += count;
    return MQ_OK;
}

/* ---- reading ---- */

/* Returns the length of the string up to its first quote, escape or control character. */
static size_t plain_length(struct mq_str text)
{
    size_t n = 0;
    while (n < text.len && text.data[n] != '"' && text.data[n] != '\\' &&
           (unsigned char)text.data[n] >= 0x20) {
        n++;
    }
    return n;
}

/* Takes a string. One without escapes stays where it is. */
static enum mq_status take_string(struct reader *r, struct mq_str *text)
{
    struct mq_str rest = mq_str_trim(r->in.rest);
    bool opens = rest.len > 0 && rest.data[0] == '"';
    struct mq_str inner = mq_str_skip(rest, opens);
    size_t n = opens ? plain_length(inner) : 0;
    if (opens && n < inner.len && inner.data[n] == '"') {
        *text = (struct mq_str){inner.data, n};
        r->in.rest = mq_str_skip(inner, n + 1);
        return mq_utf8_valid(*text) ? MQ_OK : MQ_MESSAGE;
    }
    size_t begin = r->in.text.len;
    if (!mq_json_take_string(&r->in)) {
        return r->in.text.failed ? MQ_NOMEM : MQ_MESSAGE;
    }
    *text = (struct mq_str){r->in.text.data + begin, r->in.text.len - begin};
    return r->in.text.failed ? MQ_NOMEM : MQ_OK;
}

static size_t skip_digits(struct mq_str *rest)
{
    size_t n = 0;
    while (n < rest->len && mq_is_digit(rest->data[n])) {
        n++;
    }
    *rest = mq_str_skip(*rest, n);
    return n;
}

static bool skip_one(struct mq_str *rest, const char *of)
{
    bool found = rest->len > 0 && strchr(of, rest->data[0]) != NULL;
    *rest = mq_str_skip(*rest, found);
    return found;
}

/* Whether a word (letters, digits, "+", "-", ".") is a number by RFC 8259, section 6. */
static bool is_number(struct mq_str word)
{
    skip_one(&word, "-");
    bool zero = word.len > 0 && word.data[0] == '0';
    size_t digits = skip_digits(&word);
    bool good = digits == 1 || (digits > 1 && !zero);
    if (good && skip_one(&word, ".")) {
        good = skip_digits(&word) > 0;
    }
    if (good && skip_one(&word, "eE")) {
        skip_one(&word, "+-");
        good = skip_digits(&word) > 0;
    }
    return good && word.len == 0;
}

static enum mq_status read_word(struct reader *r, struct mq_json_value *value)
{
    static const enum mq_json_kind kinds[] = {MQ_JSON_NULL, MQ_JSON_FALSE, MQ_JSON_TRUE};
    value->text = mq_json_take_word(&r->in);
    int word = mq_str_word(value->text, "null false true", mq_str_equal);
    value->kind = word >= 0 ? kinds[word] : MQ_JSON_NUMBER;
    return word >= 0 || is_number(value->text) ? MQ_OK : MQ_MESSAGE;
}

static enum mq_status read_value(struct reader *r, struct mq_json_value *value);

static enum mq_status read_item(struct reader *r, bool member)
{
    struct mq_json_value value = {.kind = MQ_JSON_NULL};
    if (member) {
        MQ_TRY(take_string(r, &value.key));
        r->key = value.key;
        MQ_TRY(mq_json_take(&r->in, ':') ? MQ_OK : MQ_MESSAGE);
    }
    MQ_TRY(read_value(r, &value));
    if (r->tree->values.count + r->tree->pending.count == MQ_JSON_VALUES) {
        r->fault = "more than " MQ_DIGITS(MQ_JSON_VALUES) " values; give fewer";
        return MQ_MESSAGE;
    }
    return push(&r->tree->pending, &value) ? MQ_OK : MQ_NOMEM;
}

/* Reads what follows the "[" or "{". */
static enum mq_status read_list(struct reader *r, struct mq_json_value *value)
{
    bool object = value->kind == MQ_JSON_OBJECT;
    char close = object ? '}' : ']';
    size_t begin = r->tree->pending.count;
    if (++r->depth > MQ_JSON_DEPTH) {
        r->fault = "more than " MQ_DIGITS(MQ_JSON_DEPTH) " lists and objects within each other; "
                                                         "give flatter ones";
        return MQ_MESSAGE;
    }
    if (!mq_json_take(&r->in, close)) {
        do {
            MQ_TRY(read_item(r, object));
        } while (mq_json_take(&r->in, ','));
        MQ_TRY(mq_json_take(&r->in, close) ? MQ_OK : MQ_MESSAGE);
    }
    r->depth--;
    return close_list(r, begin, value);
}

static enum mq_status read_value(struct reader *r, struct mq_json_value *value)
{
    if (mq_json_take(&r->in, '{')) {
        value->kind = MQ_JSON_OBJECT;
        return read_list(r, value);
    }
    if (mq_json_take(&r->in, '[')) {
        value->kind = MQ_JSON_LIST;
        return read_list(r, value);
    }
    if (r->in.rest.len > 0 && r->in.rest.data[0] == '"') {
        value->kind = MQ_JSON_TEXT;
        return take_string(r, &value->text);
    }
    return read_word(r, value);
}

static enum mq_status read_root(struct reader *r)
{
    struct mq_json_value *root = &r->tree->root;
    *root = (struct mq_json_value){.kind = MQ_JSON_OBJECT};
    if (mq_str_trim(r->in.rest).len == 0) {
        return MQ_OK;
    }
    MQ_TRY(mq_json_take(&r->in, '{') ? read_list(r, root) : MQ_MESSAGE);
    return mq_str_trim(r->in.rest).len == 0 ? MQ_OK : MQ_MESSAGE;
}

static enum mq_status fail(const struct reader *r, enum mq_status status, size_t at,
                           const char *field, struct mq_error *err)
{
    char key[64];
    if (status == MQ_NOMEM) {
        return mq_error_nomem(err);
    }
    mq_str_printable(key, sizeof key, 0, r->key);
    const char *fault = r->fault != NULL ? r->fault
                                         : "not a JSON object of UTF-8 text without NUL; correct "
                                           "the value";
    return mq_error_set(err, MQ_MESSAGE, field, "%s: byte %zu, at \"%s\": %s", field, at, key,
                        fault);
}

enum mq_status mq_json_tree_read(struct mq_json_tree *tree, struct mq_str json, const char *field,
                                 struct mq_error *err)
{
    struct reader r = {.in = {json, tree->text}, .tree = tree};
    tree->values.count = 0;
    tree->pending.count = 0;
    mq_buffer_reset(&r.in.text);
    /* Without their escapes, texts need less than this, so what points to them stays valid. */
    bool escaped = json.len > 0 && memchr(json.data, '\\', json.len) != NULL;
    mq_buffer_reserve(&r.in.text, escaped ? json.len : 0);
    enum mq_status status = r.in.text.failed ? MQ_NOMEM : read_root(&r);
    tree->text = r.in.text;
    if (status != MQ_OK) {
        tree->root = (struct mq_json_value){.kind = MQ_JSON_OBJECT};
        return fail(&r, status, (size_t)(r.in.rest.data - json.data) + 1, field, err);
    }
    return MQ_OK;
}

void mq_json_tree_clear(struct mq_json_tree *tree)
{
    free(tree->values.items);
    free(tree->pending.items);
    mq_buffer_clear(&tree->text);
    *tree = (struct mq_json_tree){.root = {.kind = MQ_JSON_OBJECT}};
}

/* ---- looking up ---- */

const struct mq_json_value *mq_json_item(const struct mq_json_tree *tree,
                                         const struct mq_json_value *of, size_t i)
{
    return &tree->values.items[of->first + i];
}

const struct mq_json_value *mq_json_member(const struct mq_json_tree *tree,
                                           const struct mq_json_value *of, struct mq_str key)
{
    size_t low = 0;
    size_t high = of->kind == MQ_JSON_OBJECT ? of->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mq_json_value *item = mq_json_item(tree, of, middle);
        int order = compare_keys(key, item->key);
        if (order == 0) {
            return item;
        }
        low = order > 0 ? middle + 1 : low;
        high = order > 0 ? high : middle;
    }
    return NULL;
}
