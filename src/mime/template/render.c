/* Renders a template: runs its steps. What a worker does for each mail. */
#include <stdio.h>

#include "core/json_tree.h"
#include "mime/header.h"
#include "mime/template/internal.h"

/* An {{#each}} whose items are being written. */
struct loop {
    const struct mq_json_value *list;
    size_t item;
};

struct run {
    const struct mq_template *template;
    const struct mq_template_values *values;
    struct mq_buffer *out;
    struct loop loops[MQ_TEMPLATE_DEPTH];
    size_t depth;
    struct mq_error *err;
};

#define BAD(run, step, ...) mq_template_bad((run)->template, (step)->at, (run)->err, __VA_ARGS__)

/* ---- fields ---- */

static bool is_present(const struct mq_json_value *value)
{
    return value != NULL && value->kind != MQ_JSON_NULL;
}

static const struct mq_json_value *find_extra(const struct mq_template_values *values,
                                              struct mq_str name)
{
    for (size_t i = 0; i < values->extra_count; i++) {
        if (mq_str_equal(values->extra[i].key, name)) {
            return &values->extra[i];
        }
    }
    return NULL;
}

/* Returns the value of a path, or NULL if the field is missing or null. */
static const struct mq_json_value *find(const struct run *run, const struct mq_step_path *path)
{
    const struct mq_json_tree *tree = run->values->fields;
    size_t depth = run->depth - path->up;
    const struct loop *loop = depth > 0 ? &run->loops[depth - 1] : NULL;
    const struct mq_json_value *value =
        loop != NULL ? mq_json_item(tree, loop->list, loop->item) : &tree->root;
    for (size_t i = 0; i < path->count && value != NULL; i++) {
        struct mq_str name = run->template->names[path->first + i];
        value = mq_json_member(tree, value, name);
        if (value == NULL && i == 0 && loop == NULL) {
            value = find_extra(run->values, name);
        }
    }
    return is_present(value) ? value : NULL;
}

static enum mq_status missing(const struct run *run, const struct mq_step *step)
{
    char name[64];
    char item[64] = "";
    size_t depth = run->depth - step->path.up;
    mq_str_printable(name, sizeof name, 0, step->path.text);
    if (depth > 0) {
        snprintf(item, sizeof item, " in item %zu of the list", run->loops[depth - 1].item + 1);
    }
    return step->kind == MQ_STEP_EACH
               ? BAD(run, step,
                     "the list \"%s\" is missing%s; give it, or write an {{else}} in the block",
                     name, item)
               : BAD(run, step,
                     "the field \"%s\" is missing%s; give it, or write {{%s|default(\"…\")}}", name,
                     item, name);
}

/* ---- steps ---- */

static void put(const struct mq_template *template, const struct mq_step *step, struct mq_str value,
                struct mq_buffer *out)
{
    mq_template_put(out, step->url ? MQ_TEMPLATE_URI : template->kind, value);
}

/* Appends a value to a header, with spaces for the separators that pasted text may have. */
static enum mq_status put_header(const struct run *run, const struct mq_step *step,
                                 struct mq_str value)
{
    char name[64];
    struct mq_buffer spaced = {0};
    struct mq_error fault;
    mq_str_printable(name, sizeof name, 0, step->path.text);
    enum mq_status status = mq_header_text(&value, name, &spaced, &fault);
    if (status == MQ_OK) {
        put(run->template, step, value, run->out);
    } else if (status == MQ_MESSAGE) {
        BAD(run, step, "%s", fault.text);
    } else {
        mq_error_nomem(run->err);
    }
    mq_buffer_clear(&spaced);
    return status;
}

static enum mq_status put_value(struct run *run, const struct mq_step *step)
{
    const struct mq_json_value *value =
        step->path.text.data != NULL ? find(run, &step->path) : NULL;
    bool empty = value == NULL || (value->kind == MQ_JSON_TEXT && value->text.len == 0);
    struct mq_str text = step->text;
    if (!empty && value->kind >= MQ_JSON_LIST) {
        return BAD(run, step, "the field \"%.*s\" is %s; give a text, or use a field of it",
                   (int)step->path.text.len, step->path.text.data,
                   value->kind == MQ_JSON_LIST ? "a list" : "an object");
    }
    if (value != NULL && (!empty || text.data == NULL)) {
        text = value->text;
    } else if (text.data == NULL) {
        return missing(run, step);
    }
    if (run->template->kind == MQ_TEMPLATE_HEADER) {
        return put_header(run, step, text);
    }
    put(run->template, step, text, run->out);
    return MQ_OK;
}

static bool is_zero(struct mq_str number)
{
    for (size_t i = 0; i < number.len && (number.data[i] | 0x20) != 'e'; i++) {
        if (number.data[i] >= '1' && number.data[i] <= '9') {
            return false;
        }
    }
    return true;
}

/* Whether {{#if}} takes it for true: not null, false, 0, "" and an empty list. All fields of CSV
 * are texts, so "0" is like 0. */
static bool is_true(const struct mq_json_value *value)
{
    if (value == NULL || value->kind == MQ_JSON_FALSE) {
        return false;
    }
    return value->kind == MQ_JSON_NUMBER ? !is_zero(value->text)
           : value->kind == MQ_JSON_TEXT
               ? value->text.len > 0 && !mq_str_equal(value->text, MQ_STR("0"))
           : value->kind == MQ_JSON_LIST ? value->count > 0
                                         : true;
}

static enum mq_status begin_each(struct run *run, const struct mq_step *step, size_t *next)
{
    const struct mq_json_value *list = find(run, &step->path);
    if (list == NULL && !step->has_else) {
        return missing(run, step);
    }
    if (list != NULL && list->kind != MQ_JSON_LIST) {
        return BAD(run, step, "the field \"%.*s\" is not a list; give one, or use {{#if}}",
                   (int)step->path.text.len, step->path.text.data);
    }
    if (list == NULL || list->count == 0) {
        *next = step->jump;
    } else {
        run->loops[run->depth++] = (struct loop){list, 0};
    }
    return MQ_OK;
}

static void next_item(struct run *run, const struct mq_step *step, size_t *next)
{
    struct loop *loop = &run->loops[run->depth - 1];
    if (++loop->item < loop->list->count) {
        *next = step->jump;
    } else {
        run->depth--;
    }
}

static enum mq_status run_step(struct run *run, const struct mq_step *step, size_t *next)
{
    switch (step->kind) {
    case MQ_STEP_TEXT:
        mq_buffer_str(run->out, step->text);
        return MQ_OK;
    case MQ_STEP_VALUE:
        return put_value(run, step);
    case MQ_STEP_IF:
        *next = is_true(find(run, &step->path)) ? *next : step->jump;
        return MQ_OK;
    case MQ_STEP_EACH:
        return begin_each(run, step, next);
    case MQ_STEP_NEXT:
        next_item(run, step, next);
        return MQ_OK;
    case MQ_STEP_JUMP:
        *next = step->jump;
        return MQ_OK;
    }
    return MQ_OK;
}

static enum mq_status run_all(struct run *run)
{
    const struct mq_template *t = run->template;
    bool body = t->kind == MQ_TEMPLATE_TEXT || t->kind == MQ_TEMPLATE_HTML;
    size_t max = body ? MQ_TEMPLATE_MAX : MQ_TEMPLATE_HEADER_MAX;
    size_t steps = 0;
    for (size_t i = 0; i < t->count;) {
        const struct mq_step *step = &t->steps[i++];
        MQ_TRY(run_step(run, step, &i));
        if (run->out->len > max) {
            return BAD(run, step, "more than %zu bytes here; give shorter values", max);
        }
        if (++steps > MQ_TEMPLATE_STEPS) {
            return BAD(run, step,
                       "more than " MQ_DIGITS(MQ_TEMPLATE_STEPS) " steps; give shorter "
                                                                 "lists");
        }
    }
    return run->out->failed ? mq_error_nomem(run->err) : MQ_OK;
}

enum mq_status mq_template_render(const struct mq_template *template,
                                  const struct mq_template_values *values, struct mq_buffer *out,
                                  struct mq_str *text, struct mq_error *err)
{
    struct run run = {.template = template, .values = values, .out = out, .err = err};
    bool fixed = template->count == 1 && template->steps[0].kind == MQ_STEP_TEXT;
    mq_buffer_reset(out);
    if (!fixed) {
        MQ_TRY(run_all(&run));
    }
    *text = fixed ? template->steps[0].text : out->data != NULL ? mq_buffer_view(out) : MQ_STR("");
    return MQ_OK;
}

void mq_template_sample(const struct mq_template *template, struct mq_buffer *out)
{
    for (size_t i = 0; i < template->count; i++) {
        const struct mq_step *step = &template->steps[i];
        if (step->kind == MQ_STEP_TEXT) {
            mq_buffer_str(out, step->text);
        } else if (step->kind == MQ_STEP_VALUE) {
            put(template, step, step->text.data != NULL ? step->text : MQ_STR("x"), out);
        }
    }
}
