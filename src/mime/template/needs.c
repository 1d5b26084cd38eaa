/* Lists the fields that a template names, so that a recipient without one is seen early. */
#include "mime/template/internal.h"

/* The lists that are around a step: how the names of their items begin. */
struct scopes {
    struct mq_buffer prefix[MQ_TEMPLATE_DEPTH + 1];
    size_t depth;
};

/* Appends "items[].price" for a path. */
static void put_name(struct mq_buffer *out, const struct mq_template *template,
                     const struct scopes *scopes, const struct mq_step_path *path)
{
    mq_buffer_str(out, mq_buffer_view(&scopes->prefix[scopes->depth - path->up]));
    for (size_t i = 0; i < path->count; i++) {
        mq_buffer_append(out, ".", out->len > 0);
        mq_buffer_str(out, template->names[path->first + i]);
    }
}

/* A name that one place needs is needed, however optional it is elsewhere. */
static bool add_name(struct mq_template_fields *fields, const char *name, bool needed)
{
    struct mq_strings *list = needed ? &fields->needed : &fields->optional;
    return mq_strings_contains(list, name) || mq_strings_add(list, mq_str_of(name));
}

static bool add_step(struct mq_template_fields *fields, const struct mq_template *template,
                     struct scopes *scopes, const struct mq_step *step)
{
    struct mq_buffer name = {0};
    bool value = step->kind == MQ_STEP_VALUE && step->path.text.data != NULL;
    bool each = step->kind == MQ_STEP_EACH;
    bool added = true;
    if (value || each || step->kind == MQ_STEP_IF) {
        bool has_default = value ? step->text.data != NULL : !each || step->has_else;
        put_name(&name, template, scopes, &step->path);
        added = !name.failed &&
                (name.len == 0 || add_name(fields, name.data, step->depth == 0 && !has_default));
    }
    if (each) {
        mq_buffer_cstr(&name, "[]");
        added = added && !name.failed;
        scopes->prefix[++scopes->depth] = name;
    } else {
        mq_buffer_clear(&name);
    }
    if (step->kind == MQ_STEP_NEXT) {
        mq_buffer_clear(&scopes->prefix[scopes->depth--]);
    }
    return added;
}

bool mq_template_fields_add(const struct mq_template *template, struct mq_template_fields *fields)
{
    struct scopes scopes = {.depth = 0};
    bool added = true;
    for (size_t i = 0; i < template->count; i++) {
        added = add_step(fields, template, &scopes, &template->steps[i]) && added;
    }
    return added;
}

void mq_template_fields_clear(struct mq_template_fields *fields)
{
    mq_strings_clear(&fields->needed);
    mq_strings_clear(&fields->optional);
}
