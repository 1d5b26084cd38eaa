/* Writes and reads the stored form of a campaign's message. Other programs can write into the
 * database, so nothing that is read is trusted: every length is checked. */
#include "mime/template/campaign_octets.h"

#include <stdlib.h>
#include <string.h>

#include "core/ascii.h"
#include "mime/compose/part.h"

#define MAGIC "mailqueue campaign 1\n" /* another number if the form changes */
#define NONE  UINT32_MAX               /* the length of a text that is not there */

/* ---- writing: numbers have four or eight octets, the lowest first ---- */

static void put_number(struct mq_buffer *out, uint64_t number, size_t octets)
{
    for (size_t i = 0; i < octets; i++) {
        mq_buffer_char(out, (char)(number >> 8 * i & 0xFF));
    }
}

static void put_text(struct mq_buffer *out, struct mq_str text)
{
    bool fits = text.len < NONE;
    out->failed = out->failed || !fits;
    put_number(out, text.data != NULL ? text.len : NONE, 4);
    mq_buffer_append(out, text.data, fits ? text.len : 0);
}

static void put_addresses(struct mq_buffer *out, const struct mq_compose_addresses *list)
{
    put_number(out, list->count, 4);
    for (size_t i = 0; i < list->count; i++) {
        put_text(out, list->items[i].address);
        put_text(out, list->items[i].name);
    }
}

static void put_parts(struct mq_buffer *out, const struct mq_compose_fields *fields)
{
    put_number(out, fields->part_count, 4);
    for (size_t i = 0; i < fields->part_count; i++) {
        put_text(out, fields->parts[i].cid);
        put_number(out, (uint64_t)fields->parts[i].ready, 4);
        put_text(out, fields->parts[i].data);
    }
}

void mq_campaign_octets_write(const struct mq_compose_fields *fields, struct mq_buffer *out)
{
    mq_buffer_cstr(out, MAGIC);
    put_number(out, fields->max_size, 8);
    put_addresses(out, &fields->from);
    put_addresses(out, &fields->reply_to);
    put_text(out, fields->subject);
    put_text(out, fields->text);
    put_text(out, fields->html);
    put_text(out, fields->calendar);
    put_number(out, fields->header_count, 4);
    for (size_t i = 0; i < fields->header_count; i++) {
        put_text(out, fields->headers[i].name);
        put_text(out, fields->headers[i].value);
    }
    put_parts(out, fields);
    put_number(out, fields->unsubscribe_count, 4);
    for (size_t i = 0; i < fields->unsubscribe_count; i++) {
        put_text(out, fields->unsubscribe[i]);
    }
}

/* ---- reading ---- */

struct reader {
    struct mq_str rest;
    bool broken;
    bool no_memory;
};

static uint64_t take_number(struct reader *in, size_t octets)
{
    uint64_t number = 0;
    if (in->rest.len < octets) {
        in->broken = true;
        return 0;
    }
    for (size_t i = octets; i-- > 0;) {
        number = number << 8 | (unsigned char)in->rest.data[i];
    }
    in->rest = mq_str_skip(in->rest, octets);
    return number;
}

static struct mq_str take_text(struct reader *in)
{
    struct mq_str none = {NULL, 0};
    uint64_t len = take_number(in, 4);
    if (len == NONE || in->broken) {
        return none;
    }
    if (len > in->rest.len) {
        in->broken = true;
        return none;
    }
    return mq_str_cut(&in->rest, (size_t)len);
}

/* Takes the number of items and returns an array for them, each of which has `least` octets or
 * more. NULL: none, or the reader has failed. */
static void *take_array(struct reader *in, size_t *count, size_t size, size_t least)
{
    uint64_t number = take_number(in, 4);
    if (number > in->rest.len / least) {
        in->broken = true;
    }
    void *items = in->broken || number == 0 ? NULL : calloc((size_t)number, size);
    in->no_memory = in->no_memory || (items == NULL && number > 0 && !in->broken);
    *count = items != NULL ? (size_t)number : 0;
    return items;
}

static struct mq_compose_address *take_addresses(struct reader *in, const char *field,
                                                 struct mq_compose_addresses *list)
{
    struct mq_compose_address *items = take_array(in, &list->count, sizeof *items, 8);
    for (size_t i = 0; i < list->count; i++) {
        struct mq_str address = take_text(in);
        items[i] = (struct mq_compose_address){address, take_text(in), field};
    }
    list->items = items;
    return items;
}

static void take_headers(struct reader *in, struct mq_campaign_fields *out)
{
    out->headers = take_array(in, &out->compose.header_count, sizeof *out->headers, 8);
    for (size_t i = 0; i < out->compose.header_count; i++) {
        struct mq_str name = take_text(in);
        out->headers[i] = (struct mq_compose_header){name, take_text(in)};
    }
    out->compose.headers = out->headers;
}

static void take_parts(struct reader *in, struct mq_campaign_fields *out)
{
    out->parts = take_array(in, &out->compose.part_count, sizeof *out->parts, 12);
    for (size_t i = 0; i < out->compose.part_count; i++) {
        struct mq_compose_part *part = &out->parts[i];
        *part = (struct mq_compose_part){.fd = -1, .field = "attachments"};
        part->cid = take_text(in);
        uint64_t ready = take_number(in, 4);
        part->data = take_text(in);
        in->broken = in->broken || ready == 0 || ready > MQ_PART_READY(MQ_ENCODING_BASE64);
        part->ready = in->broken ? 0 : (int)ready;
    }
    out->compose.parts = out->parts;
}

static void take_unsubscribe(struct reader *in, struct mq_campaign_fields *out)
{
    size_t *count = &out->compose.unsubscribe_count;
    out->unsubscribe = take_array(in, count, sizeof *out->unsubscribe, 4);
    for (size_t i = 0; i < *count; i++) {
        out->unsubscribe[i] = take_text(in);
    }
    out->compose.unsubscribe = out->unsubscribe;
}

enum mq_status mq_campaign_octets_read(struct mq_str octets, struct mq_campaign_fields *out,
                                       struct mq_error *err)
{
    struct reader in = {.rest = octets};
    struct mq_compose_fields *fields = &out->compose;
    in.broken = !mq_str_begins(octets, MAGIC);
    in.rest = mq_str_skip(octets, in.broken ? octets.len : strlen(MAGIC));
    fields->max_size = (size_t)take_number(&in, 8);
    out->from = take_addresses(&in, "from", &fields->from);
    out->reply_to = take_addresses(&in, "reply_to", &fields->reply_to);
    fields->subject = take_text(&in);
    fields->text = take_text(&in);
    fields->html = take_text(&in);
    fields->calendar = take_text(&in);
    take_headers(&in, out);
    take_parts(&in, out);
    take_unsubscribe(&in, out);
    if (in.no_memory) {
        return mq_error_nomem(err);
    }
    if (in.broken || in.rest.len > 0) {
        return mq_error_set(err, MQ_CORRUPT, "message",
                            "message: the stored message of the campaign is damaged, or another "
                            "version wrote it; set the message again");
    }
    return MQ_OK;
}

void mq_campaign_fields_clear(struct mq_campaign_fields *fields)
{
    free(fields->from);
    free(fields->reply_to);
    free(fields->headers);
    free(fields->parts);
    free(fields->unsubscribe);
    *fields = (struct mq_campaign_fields){.from = NULL};
}
