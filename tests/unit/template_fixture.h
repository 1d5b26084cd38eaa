/* Compiles and renders a template with the fields of a recipient: for tests of templates. */
#ifndef MQ_TEST_TEMPLATE_FIXTURE_H
#define MQ_TEST_TEMPLATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/json_tree.h"
#include "mime/template/template.h"

static struct mq_error err;
static struct mq_json_tree tree;
static struct mq_template_values values = {.fields = &tree};
static enum mq_template_kind kind = MQ_TEMPLATE_TEXT;
static struct mq_template *template;
static struct mq_buffer out;
static struct mq_str text; /* what was rendered */

static int teardown(void **state)
{
    (void)state;
    mq_template_free(template);
    template = NULL;
    mq_json_tree_clear(&tree);
    mq_buffer_clear(&out);
    kind = MQ_TEMPLATE_TEXT;
    return 0;
}

/* Returns the status of the step that failed, or MQ_OK. */
static enum mq_status try_render(struct mq_str source, struct mq_str json)
{
    mq_template_free(template);
    template = NULL;
    MQ_TRY(mq_json_tree_read(&tree, json, "fields", &err));
    MQ_TRY(mq_template_new(source, kind, "text", &template, &err));
    return mq_template_render(template, &values, &out, &text, &err);
}

static inline void render(const char *source, const char *json)
{
    if (try_render(mq_str_of(source), mq_str_of(json)) != MQ_OK) {
        fail_msg("%s: %s", source, err.text);
    }
}

#endif
