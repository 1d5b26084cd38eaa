/* Compiles a template: text and tags become steps. One pass, with a stack of open blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/template/internal.h"

/* A block whose end has not come. */
struct block {
    bool each, in_else;
    uint32_t step; /* IF or EACH */
    uint32_t skip; /* in_else: the JUMP behind the first part */
};

struct parser {
    struct mq_template *template;
    struct mq_str rest; /* of the source */
    size_t tag;         /* byte of the source where the tag begins */
    struct block blocks[MQ_TEMPLATE_DEPTH];
    uint32_t depth, scopes; /* open blocks; of these, {{#each}} whose item is in scope */
    size_t tags;
    struct mq_error *err;
};

#define BAD(p, ...) mq_template_bad((p)->template, (p)->tag, (p)->err, __VA_ARGS__)

/* ---- steps ---- */

/* Returns the array with room for one more, or NULL; *capacity is in items of `size`. */
static void *grown(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return items;
    }
    size_t more = *capacity > 0 ? *capacity * 2 : 16;
    void *larger = realloc(items, more * size);
    *capacity = larger != NULL ? more : *capacity;
    return larger;
}

static enum mq_status add_step(struct parser *p, struct mq_step step)
{
    struct mq_template *t = p->template;
    struct mq_step *steps = grown(t->steps, t->count, &t->capacity, sizeof *steps);
    if (steps == NULL) {
        return mq_error_nomem(p->err);
    }
    step.at = (uint32_t)p->tag;
    t->steps = steps;
    steps[t->count++] = step;
    return MQ_OK;
}

static enum mq_status add_text(struct parser *p, struct mq_str text)
{
    return text.len > 0 ? add_step(p, (struct mq_step){.kind = MQ_STEP_TEXT, .text = text}) : MQ_OK;
}

static enum mq_status add_name(struct parser *p, struct mq_step_path *path, struct mq_str name)
{
    struct mq_template *t = p->template;
    struct mq_str *names = grown(t->names, t->name_count, &t->name_capacity, sizeof *names);
    if (names == NULL) {
        return mq_error_nomem(p->err);
    }
    t->names = names;
    names[t->name_count++] = name;
    path->count++;
    return MQ_OK;
}

/* ---- words of a tag ---- */

static size_t position(const struct parser *p)
{
    return p->template->len - p->rest.len;
}

static void skip_space(struct parser *p)
{
    while (p->rest.len > 0 && mq_is_space(p->rest.data[0])) {
        p->rest = mq_str_skip(p->rest, 1);
    }
}

static bool take(struct parser *p, const char *text)
{
    bool found = mq_str_begins(p->rest, text);
    p->rest = mq_str_skip(p->rest, found ? strlen(text) : 0);
    return found;
}

/* Whether a name may have the character: ASCII letters and digits, "_", "-", and beyond ASCII all
 * but punctuation and spaces. */
static bool is_name_char(uint32_t code)
{
    if (code < 0x80) {
        return mq_is_alnum((char)code) || code == '_' || code == '-';
    }
    return code >= 0xAA && (code < 0x2000 || code > 0x206F) && code != 0x3000 && code != 0xFEFF;
}

/* Takes a name or a word; empty: something else is next. */
static struct mq_str take_name(struct parser *p)
{
    size_t n = 0;
    uint32_t code = 0;
    for (size_t step = 1; n < p->rest.len && step > 0; n += step) {
        step = mq_utf8_next(mq_str_skip(p->rest, n), &code);
        step = is_name_char(code) ? step : 0;
    }
    return mq_str_cut(&p->rest, n);
}

/* Shows what is next, for errors. */
static enum mq_status unexpected(struct parser *p, const char *wanted)
{
    char shown[24];
    struct mq_str next = {p->rest.data, mq_utf8_cut(p->rest, p->rest.len < 12 ? p->rest.len : 12)};
    mq_str_printable(shown, sizeof shown, 0, next);
    p->tag = position(p);
    return next.len == 0 ? BAD(p, "the template ends within a tag; write %s", wanted)
                         : BAD(p, "\"%s\" cannot be here; write %s", shown, wanted);
}

static enum mq_status take_end(struct parser *p)
{
    skip_space(p);
    return take(p, "}}") ? MQ_OK : unexpected(p, "\"}}\" to end the tag");
}

/* Takes "../address.city", "this" or "this.price". */
static enum mq_status take_path(struct parser *p, struct mq_step_path *path)
{
    size_t begin = position(p);
    *path = (struct mq_step_path){.first = (uint32_t)p->template->name_count};
    while (take(p, "../")) {
        path->up++;
    }
    do {
        struct mq_str name = take_name(p);
        if (name.len == 0) {
            return unexpected(p, "a field's name, such as {{name}} or {{address.city}}");
        }
        if (path->count > 0 || !mq_str_equal(name, MQ_STR("this"))) {
            MQ_TRY(add_name(p, path, name));
        }
    } while (take(p, "."));
    path->text = (struct mq_str){p->template->source + begin, position(p) - begin};
    if (path->up > p->scopes) {
        return BAD(p, "\"../\" leads out of the template; it is for fields around {{#each}}");
    }
    return MQ_OK;
}

static enum mq_status take_quoted(struct parser *p, struct mq_str *text)
{
    char quote = p->rest.len > 0 ? p->rest.data[0] : '\0';
    size_t n =
        quote == '"' || quote == '\'' ? mq_str_find(mq_str_skip(p->rest, 1), quote) : p->rest.len;
    if (n + 1 >= p->rest.len) {
        return unexpected(p, "a text in quotes, such as \"friend\"");
    }
    *text = (struct mq_str){p->rest.data + 1, n};
    p->rest = mq_str_skip(p->rest, n + 2);
    return MQ_OK;
}

/* ---- tags ---- */

/* Takes "|url" or "|default(…)", if one is next. */
static enum mq_status take_filter(struct parser *p, struct mq_step *step, bool *found)
{
    skip_space(p);
    *found = take(p, "|");
    if (!*found) {
        return MQ_OK;
    }
    skip_space(p);
    struct mq_str name = take_name(p);
    if (mq_str_equal(name, MQ_STR("url")) && !step->url) {
        step->url = true;
        return MQ_OK;
    }
    if (!mq_str_equal(name, MQ_STR("default")) || step->text.data != NULL || !take(p, "(")) {
        return unexpected(p, "|url or |default(\"…\"), each once");
    }
    skip_space(p);
    MQ_TRY(take_quoted(p, &step->text));
    skip_space(p);
    return take(p, ")") ? MQ_OK : unexpected(p, "\")\" after the default");
}

static enum mq_status value_tag(struct parser *p)
{
    struct mq_step step = {.kind = MQ_STEP_VALUE};
    bool more = true;
    if (p->rest.len > 0 && (p->rest.data[0] == '"' || p->rest.data[0] == '\'')) {
        MQ_TRY(take_quoted(p, &step.text));
    } else {
        MQ_TRY(take_path(p, &step.path));
    }
    while (more) {
        MQ_TRY(take_filter(p, &step, &more));
    }
    MQ_TRY(take_end(p));
    return add_step(p, step);
}

static enum mq_status open_block(struct parser *p)
{
    struct mq_str word = take_name(p);
    bool each = mq_str_equal(word, MQ_STR("each"));
    struct mq_step step = {.kind = each ? MQ_STEP_EACH : MQ_STEP_IF};
    if (!each && !mq_str_equal(word, MQ_STR("if"))) {
        return BAD(p, "an unknown block; there are {{#if name}} and {{#each list}}");
    }
    skip_space(p);
    MQ_TRY(take_path(p, &step.path));
    MQ_TRY(take_end(p));
    if (p->depth == MQ_TEMPLATE_DEPTH) {
        return BAD(p, "more than " MQ_DIGITS(MQ_TEMPLATE_DEPTH) " blocks within each other; "
                                                                "use fewer");
    }
    MQ_TRY(add_step(p, step));
    p->blocks[p->depth++] = (struct block){.each = each, .step = (uint32_t)p->template->count - 1};
    p->scopes += each;
    return MQ_OK;
}

/* Ends what is repeated. */
static enum mq_status add_next(struct parser *p, const struct block *block)
{
    p->scopes--;
    return add_step(p, (struct mq_step){.kind = MQ_STEP_NEXT, .jump = block->step + 1});
}

static enum mq_status else_tag(struct parser *p)
{
    struct block *block = p->depth > 0 ? &p->blocks[p->depth - 1] : NULL;
    struct mq_template *t = p->template;
    MQ_TRY(take_end(p));
    if (block == NULL || block->in_else) {
        return BAD(p, block == NULL ? "{{else}} outside of a block; remove it"
                                    : "a second {{else}} in a block; remove it");
    }
    if (block->each) {
        MQ_TRY(add_next(p, block));
    }
    MQ_TRY(add_step(p, (struct mq_step){.kind = MQ_STEP_JUMP}));
    block->in_else = true;
    block->skip = (uint32_t)t->count - 1;
    t->steps[block->step].jump = (uint32_t)t->count;
    t->steps[block->step].has_else = true;
    return MQ_OK;
}

static enum mq_status close_block(struct parser *p)
{
    struct mq_str word = take_name(p);
    struct block *block = p->depth > 0 ? &p->blocks[p->depth - 1] : NULL;
    struct mq_template *t = p->template;
    MQ_TRY(take_end(p));
    if (block == NULL) {
        return BAD(p, "the end of a block that does not begin; remove it");
    }
    if (!mq_str_equal(word, mq_str_of(block->each ? "each" : "if"))) {
        p->tag = t->steps[block->step].at;
        return BAD(p, "{{#%s}} has no {{/%s}} before another block ends; add it",
                   block->each ? "each" : "if", block->each ? "each" : "if");
    }
    if (block->each && !block->in_else) {
        MQ_TRY(add_next(p, block));
    }
    t->steps[block->in_else ? block->skip : block->step].jump = (uint32_t)t->count;
    p->depth--;
    return MQ_OK;
}

static enum mq_status comment(struct parser *p)
{
    const char *end = take(p, "--") ? "--}}" : "}}";
    const char *found = memmem(p->rest.data, p->rest.len, end, strlen(end));
    if (found == NULL) {
        return BAD(p, "a comment without its \"%s\"; add it", end);
    }
    p->rest = mq_str_skip(p->rest, (size_t)(found - p->rest.data) + strlen(end));
    return MQ_OK;
}

/* ---- lines that have only a tag ---- */

/* Returns how many blanks are between the line's beginning and `at`; *whole: nothing else is. */
static size_t blanks_before(const struct mq_template *t, size_t at, bool *whole)
{
    size_t n = 0;
    while (n < at && mq_is_blank(t->source[at - n - 1])) {
        n++;
    }
    *whole = n == at || t->source[at - n - 1] == '\n' || t->source[at - n - 1] == '\r';
    return n;
}

/* Removes the line of a tag that writes nothing and has the line for itself. The blanks before it
 * are the end of the text that was added last. */
static void drop_line(struct parser *p, struct mq_step *text)
{
    bool whole = false;
    size_t before = blanks_before(p->template, p->tag, &whole);
    struct mq_str rest = p->rest;
    while (rest.len > 0 && mq_is_blank(rest.data[0])) {
        rest = mq_str_skip(rest, 1);
    }
    size_t end = mq_str_begins(rest, "\r\n") ? 2 : rest.len > 0 && mq_is_space(rest.data[0]);
    if (whole && (end > 0 || rest.len == 0)) {
        p->rest = mq_str_skip(rest, end);
        if (text != NULL) {
            text->text.len -= before;
        }
    }
}

/* ---- the whole ---- */

/* Takes a tag whose "{{" has been taken. *silent: it writes nothing itself. */
static enum mq_status take_tag(struct parser *p, bool *silent)
{
    *silent = true;
    if (++p->tags > MQ_TEMPLATE_TAGS) {
        return BAD(p, "more than " MQ_DIGITS(MQ_TEMPLATE_TAGS) " tags; use fewer");
    }
    if (take(p, "!")) {
        return comment(p);
    }
    skip_space(p);
    if (take(p, "#")) {
        return open_block(p);
    }
    if (take(p, "/")) {
        return close_block(p);
    }
    struct mq_str rest = p->rest;
    if (mq_str_equal(take_name(p), MQ_STR("else"))) {
        return else_tag(p);
    }
    *silent = false;
    p->rest = rest;
    return value_tag(p);
}

static enum mq_status parse(struct parser *p)
{
    while (p->rest.len > 0) {
        const char *found = memmem(p->rest.data, p->rest.len, "{{", 2);
        size_t n = found != NULL ? (size_t)(found - p->rest.data) : p->rest.len;
        size_t text = p->template->count;
        bool silent = false;
        MQ_TRY(add_text(p, mq_str_cut(&p->rest, n)));
        if (found == NULL) {
            break;
        }
        p->tag = position(p);
        p->rest = mq_str_skip(p->rest, 2);
        MQ_TRY(take_tag(p, &silent));
        if (silent) {
            drop_line(p, n > 0 ? &p->template->steps[text] : NULL);
        }
    }
    if (p->depth > 0) {
        const struct block *block = &p->blocks[p->depth - 1];
        p->tag = p->template->steps[block->step].at;
        return BAD(p, "{{#%s}} has no {{/%s}}; add it", block->each ? "each" : "if",
                   block->each ? "each" : "if");
    }
    return MQ_OK;
}

static enum mq_status check_source(struct mq_template *t, struct mq_error *err)
{
    struct mq_str source = {t->source, t->len};
    size_t nul = mq_str_find(source, '\0');
    size_t good = mq_utf8_span(source);
    if (t->len > MQ_TEMPLATE_MAX) {
        return mq_error_set(err, MQ_MESSAGE, t->part, "%s: more than %d bytes; make it smaller",
                            t->part, MQ_TEMPLATE_MAX);
    }
    if (good < t->len) {
        return mq_template_bad(t, good, err, "not valid UTF-8; convert the text");
    }
    return nul < t->len ? mq_template_bad(t, nul, err, "a NUL; remove it") : MQ_OK;
}

enum mq_status mq_template_new(struct mq_str source, enum mq_template_kind kind, const char *part,
                               struct mq_template **out, struct mq_error *err)
{
    struct mq_template *t = calloc(1, sizeof *t);
    char *copy = mq_str_dup(source);
    if (t == NULL || copy == NULL) {
        free(t);
        free(copy);
        return mq_error_nomem(err);
    }
    t->kind = kind;
    t->source = copy;
    t->len = source.len;
    snprintf(t->part, sizeof t->part, "%s", part);
    enum mq_status status = check_source(t, err);
    if (status == MQ_OK) {
        struct parser p = {.template = t, .rest = {t->source, t->len}, .err = err};
        status = parse(&p);
    }
    if (status != MQ_OK) {
        mq_template_free(t);
        return status;
    }
    *out = t;
    return MQ_OK;
}

void mq_template_free(struct mq_template *template)
{
    if (template != NULL) {
        free(template->source);
        free(template->steps);
        free(template->names);
        free(template);
    }
}
