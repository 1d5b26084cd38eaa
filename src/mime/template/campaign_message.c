/* Makes, checks and renders the message of a campaign. What a placeholder can be in is a slot; the
 * rest of the fields stays the same from mail to mail. mq_compose() makes each mail, so that it
 * keeps the promises of composed mail. */
#include "mime/template/campaign_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_tree.h"
#include "mime/compose/own_header.h"
#include "mime/compose/part.h"
#include "mime/header.h"
#include "mime/template/campaign_octets.h"
#include "mime/template/template.h"
#include "mime/wire/envelope.h"
#include "mime/wire/message.h"

#define SAMPLE_ID "<sample@mailqueue.invalid>"
#define SAMPLE_TO "sample@mailqueue.invalid"

enum { EXTRA = 3 }; /* name, address, unsubscribe */

struct slot {
    struct mq_template *template;
    struct mq_str *text; /* where the rendered text goes */
    struct mq_buffer out;
};

struct mq_campaign_message {
    char *octets;                     /* `fields` points into them */
    struct mq_campaign_fields fields; /* the texts of the slots are those of the last mail */
    struct slot *slots;
    size_t slot_count, uri_count; /* the first ones are those of unsubscribe */
    bool blank;                   /* neither text nor html has any text */
    struct mq_json_tree tree;
    struct mq_buffer headers; /* of check(), which only wants to know whether they can be written */
};

static bool is_blank(const struct mq_compose_fields *fields)
{
    return mq_str_trim(fields->text).len == 0 && mq_str_trim(fields->html).len == 0;
}

/* ---- opening ---- */

static enum mq_status add_slot(struct mq_campaign_message *message, struct mq_str *text,
                               enum mq_template_kind kind, const char *part, struct mq_error *err)
{
    struct slot *slot = &message->slots[message->slot_count];
    if (text->data == NULL) {
        return MQ_OK;
    }
    MQ_TRY(mq_template_new(*text, kind, part, &slot->template, err));
    slot->text = text;
    message->slot_count++;
    return MQ_OK;
}

static enum mq_status add_slots(struct mq_campaign_message *message, struct mq_error *err)
{
    struct mq_campaign_fields *fields = &message->fields;
    struct mq_compose_fields *compose = &fields->compose;
    message->slots =
        calloc(3 + compose->header_count + compose->unsubscribe_count, sizeof *message->slots);
    if (message->slots == NULL) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < compose->unsubscribe_count; i++) {
        MQ_TRY(add_slot(message, &fields->unsubscribe[i], MQ_TEMPLATE_URI, "unsubscribe", err));
    }
    message->uri_count = message->slot_count;
    MQ_TRY(add_slot(message, &compose->subject, MQ_TEMPLATE_HEADER, "subject", err));
    MQ_TRY(add_slot(message, &compose->text, MQ_TEMPLATE_TEXT, "text", err));
    MQ_TRY(add_slot(message, &compose->html, MQ_TEMPLATE_HTML, "html", err));
    for (size_t i = 0; i < compose->header_count; i++) {
        struct mq_compose_header *header = &fields->headers[i];
        char part[MQ_ERROR_FIELD_MAX];
        snprintf(part, sizeof part, "headers[%.*s]", (int)mq_utf8_cut(header->name, 48),
                 header->name.data != NULL ? header->name.data : "");
        MQ_TRY(add_slot(message, &header->value, MQ_TEMPLATE_HEADER, part, err));
    }
    return MQ_OK;
}

/* Whether the octets of a part can be in a message: CR and LF in pairs only, and no NUL. */
static bool is_wire(struct mq_str octets)
{
    const char *last = octets.len > 0 ? memrchr(octets.data, '\n', octets.len) : NULL;
    size_t lines = last != NULL ? (size_t)(last - octets.data) + 1 : 0;
    size_t rest = octets.len - lines;
    return lines > 0 && mq_message_check_wire((struct mq_str){octets.data, lines}, NULL) == MQ_OK &&
           (rest == 0 || (memchr(octets.data + lines, '\r', rest) == NULL &&
                          memchr(octets.data + lines, '\0', rest) == NULL));
}

static enum mq_status open_octets(struct mq_campaign_message *message, size_t len,
                                  struct mq_error *err)
{
    struct mq_compose_fields *compose = &message->fields.compose;
    MQ_TRY(mq_campaign_octets_read((struct mq_str){message->octets, len}, &message->fields, err));
    for (size_t i = 0; i < compose->part_count; i++) {
        if (!is_wire(compose->parts[i].data)) {
            return mq_error_set(err, MQ_CORRUPT, "message",
                                "message: an attachment of the campaign is damaged in the "
                                "database; set the message again");
        }
    }
    message->blank = is_blank(compose);
    return add_slots(message, err);
}

enum mq_status mq_campaign_message_open(struct mq_str octets, struct mq_campaign_message **out,
                                        struct mq_error *err)
{
    struct mq_campaign_message *message = calloc(1, sizeof *message);
    if (message == NULL) {
        return mq_error_nomem(err);
    }
    message->octets = mq_str_dup(octets);
    enum mq_status status =
        message->octets != NULL ? open_octets(message, octets.len, err) : mq_error_nomem(err);
    if (status != MQ_OK) {
        mq_campaign_message_free(message);
        return status;
    }
    *out = message;
    return MQ_OK;
}

void mq_campaign_message_free(struct mq_campaign_message *message)
{
    if (message == NULL) {
        return;
    }
    for (size_t i = 0; i < message->slot_count; i++) {
        mq_template_free(message->slots[i].template);
        mq_buffer_clear(&message->slots[i].out);
    }
    free(message->slots);
    mq_campaign_fields_clear(&message->fields);
    mq_json_tree_clear(&message->tree);
    mq_buffer_clear(&message->headers);
    free(message->octets);
    free(message);
}

/* ---- making ---- */

/* The parts of a message that is being made, encoded. */
struct ready {
    struct mq_compose_part *parts;
    struct mq_buffer *octets;
    size_t count;
};

static void ready_clear(struct ready *ready)
{
    for (size_t i = 0; i < ready->count; i++) {
        mq_buffer_clear(&ready->octets[i]);
    }
    free(ready->parts);
    free(ready->octets);
}

static enum mq_status encode_parts(const struct mq_compose_fields *fields, struct ready *ready,
                                   struct mq_error *err)
{
    size_t count = fields->part_count;
    ready->parts = calloc(count + 1, sizeof *ready->parts);
    ready->octets = calloc(count + 1, sizeof *ready->octets);
    if (ready->parts == NULL || ready->octets == NULL) {
        return mq_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        const struct mq_compose_part *part = &fields->parts[i];
        MQ_TRY(mq_message_check_size(part->data.len, fields->max_size, err));
        ready->count++;
        MQ_TRY(mq_part_ready(part, &ready->octets[i], &ready->parts[i], err));
    }
    return MQ_OK;
}

static enum mq_status check_no_recipients(const struct mq_compose_fields *fields,
                                          struct mq_error *err)
{
    const char *field = fields->to.count > 0    ? "to"
                        : fields->cc.count > 0  ? "cc"
                        : fields->bcc.count > 0 ? "bcc"
                                                : NULL;
    return field == NULL
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, field,
                              "%s: the recipients of a campaign are added to it; leave it out",
                              field);
}

/* Composes the message with samples for the values: refuses what no recipient could get. Errors
 * name the fields as they were given. */
static enum mq_status try_sample(struct mq_campaign_message *message,
                                 const struct mq_compose_fields *given, struct mq_error *err)
{
    static const struct mq_compose_address to = {.address = MQ_STR(SAMPLE_TO), .field = "to"};
    struct mq_compose_fields compose;
    struct mq_envelope envelope = {0};
    struct mq_buffer out = {0};
    bool failed = false;
    for (size_t i = 0; i < message->slot_count; i++) {
        struct slot *slot = &message->slots[i];
        mq_template_sample(slot->template, &slot->out);
        *slot->text = slot->out.data != NULL ? mq_buffer_view(&slot->out) : MQ_STR("");
        failed = failed || slot->out.failed;
    }
    compose = message->fields.compose;
    compose.from = given->from;
    compose.reply_to = given->reply_to;
    compose.parts = given->parts;
    compose.to = (struct mq_compose_addresses){&to, 1};
    compose.message_id = SAMPLE_ID;
    enum mq_status status =
        failed ? mq_error_nomem(err) : mq_compose(&compose, &out, &envelope, err);
    mq_envelope_clear(&envelope);
    mq_buffer_clear(&out);
    return status;
}

static enum mq_status make(const struct mq_compose_fields *fields, struct ready *ready,
                           struct mq_buffer *out, struct mq_error *err)
{
    struct mq_campaign_message *message = NULL;
    struct mq_compose_fields stored = *fields;
    MQ_TRY(check_no_recipients(fields, err));
    MQ_TRY(encode_parts(fields, ready, err));
    stored.parts = ready->parts;
    mq_campaign_octets_write(&stored, out);
    if (out->failed) {
        return mq_error_nomem(err);
    }
    MQ_TRY(mq_campaign_message_open(mq_buffer_view(out), &message, err));
    enum mq_status status = try_sample(message, &stored, err);
    mq_campaign_message_free(message);
    return status;
}

enum mq_status mq_campaign_message_make(const struct mq_compose_fields *fields,
                                        struct mq_buffer *out, struct mq_error *err)
{
    struct ready ready = {.count = 0};
    enum mq_status status = make(fields, &ready, out, err);
    if (status != MQ_OK) {
        mq_buffer_reset(out);
    }
    ready_clear(&ready);
    return status;
}

/* ---- rendering ---- */

static void add_extra(struct mq_template_values *values, struct mq_json_value *extra,
                      struct mq_str key, struct mq_str text)
{
    if (text.len > 0) {
        extra[values->extra_count++] =
            (struct mq_json_value){.kind = MQ_JSON_TEXT, .key = key, .text = text};
    }
}

/* Renders all slots into message->fields.compose. */
static enum mq_status render_slots(struct mq_campaign_message *message,
                                   const struct mq_campaign_recipient *recipient,
                                   struct mq_error *err)
{
    struct mq_compose_fields *compose = &message->fields.compose;
    struct mq_json_value extra[EXTRA];
    struct mq_template_values values = {.fields = &message->tree, .extra = extra};
    bool own = recipient->unsubscribe_count > 0;
    const struct mq_str *uris = own ? recipient->unsubscribe : compose->unsubscribe;
    add_extra(&values, extra, MQ_STR("name"), recipient->name);
    add_extra(&values, extra, MQ_STR("address"), recipient->address);
    for (size_t i = own ? message->uri_count : 0; i < message->slot_count; i++) {
        struct slot *slot = &message->slots[i];
        if (i == message->uri_count && (own || compose->unsubscribe_count > 0)) {
            add_extra(&values, extra, MQ_STR("unsubscribe"), uris[0]);
        }
        MQ_TRY(mq_template_render(slot->template, &values, &slot->out, slot->text, err));
    }
    return MQ_OK;
}

/* Renders the fields for the recipient; to, message_id and date are still to be set. */
static enum mq_status fill_in(struct mq_campaign_message *message,
                              const struct mq_campaign_recipient *recipient,
                              struct mq_compose_fields *compose, struct mq_error *err)
{
    struct mq_str name = recipient->name;
    struct mq_buffer spaced = {0};
    enum mq_status status = mq_header_text(&name, "name", &spaced, err);
    mq_buffer_clear(&spaced);
    MQ_TRY(status);
    MQ_TRY(mq_json_tree_read(&message->tree, recipient->fields, "fields", err));
    MQ_TRY(render_slots(message, recipient, err));
    if (is_blank(&message->fields.compose) && !message->blank) {
        return mq_error_set(err, MQ_MESSAGE, "text",
                            "text: nothing is left of text and html for this recipient; give the "
                            "fields, or write an {{else}}");
    }
    *compose = message->fields.compose;
    if (recipient->unsubscribe_count > 0) {
        compose->unsubscribe = recipient->unsubscribe;
        compose->unsubscribe_count = recipient->unsubscribe_count;
    }
    return MQ_OK;
}

enum mq_status mq_campaign_message_check(struct mq_campaign_message *message,
                                         const struct mq_campaign_recipient *recipient,
                                         struct mq_error *err)
{
    struct mq_compose_fields compose;
    mq_buffer_reset(&message->headers);
    MQ_TRY(fill_in(message, recipient, &compose, err));
    MQ_TRY(mq_own_headers_write(&compose, &message->headers, err));
    MQ_TRY(mq_unsubscribe_write(&compose, &message->headers, err));
    return message->headers.failed ? mq_error_nomem(err) : MQ_OK;
}

enum mq_status mq_campaign_message_render(struct mq_campaign_message *message,
                                          const struct mq_campaign_recipient *recipient,
                                          struct mq_buffer *out, struct mq_envelope *envelope,
                                          struct mq_error *err)
{
    const struct mq_str no_name = MQ_STR("");
    struct mq_compose_address to = {recipient->address,
                                    recipient->name.data != NULL ? recipient->name : no_name, "to"};
    struct mq_compose_fields compose;
    MQ_TRY(fill_in(message, recipient, &compose, err));
    compose.to = (struct mq_compose_addresses){&to, 1};
    compose.message_id = recipient->message_id;
    compose.date_s = recipient->date_s;
    return mq_compose(&compose, out, envelope, err);
}
