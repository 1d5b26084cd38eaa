/* Composes a message from fields. All fields are checked before the first byte is written. */
#include "mime/compose/composer.h"

#include <string.h>

#include "mime/address.h"
#include "mime/compose/own_header.h"
#include "mime/compose/part_tree.h"
#include "mime/header.h"
#include "mime/mailbox.h"
#include "mime/text/html.h"
#include "mime/wire/envelope.h"

#define MESSAGE_ID   "Message-ID: "
#define DATE_FIRST_S INT64_C(-2208988800)  /* the year 1900: RFC 5322, 3.3 */
#define DATE_LAST_S  INT64_C(253402300799) /* the end of the year 9999 */

/* All that a message is made of, after the checks. */
struct work {
    const struct mq_compose_fields *fields;
    struct mq_mailboxes from, to, cc, bcc, reply_to;
    struct mq_str subject;
    struct mq_buffer spaced;    /* the subject, if it had pasted separators */
    struct mq_buffer made_text; /* text that was made from the HTML */
    struct mq_str text;         /* the text that is sent; data NULL: none */
    struct mq_buffer head;      /* header fields, except those that describe the body */
    struct mq_part_tree tree;
};

static void work_clear(struct work *work)
{
    mq_mailboxes_clear(&work->from);
    mq_mailboxes_clear(&work->to);
    mq_mailboxes_clear(&work->cc);
    mq_mailboxes_clear(&work->bcc);
    mq_mailboxes_clear(&work->reply_to);
    mq_buffer_clear(&work->spaced);
    mq_buffer_clear(&work->made_text);
    mq_buffer_clear(&work->head);
    mq_part_tree_clear(&work->tree);
}

/* ---- checks ---- */

static enum mq_status parse_addresses(const struct mq_compose_addresses *addresses,
                                      struct mq_mailboxes *list, struct mq_error *err)
{
    for (size_t i = 0; i < addresses->count; i++) {
        const struct mq_compose_address *item = &addresses->items[i];
        MQ_TRY(item->name.data == NULL
                   ? mq_mailboxes_parse(item->address, item->field, list, err)
                   : mq_mailboxes_add(item->name, item->address, item->field, list, err));
    }
    return MQ_OK;
}

static enum mq_status check_addresses(struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    MQ_TRY(parse_addresses(&fields->from, &work->from, err));
    MQ_TRY(parse_addresses(&fields->to, &work->to, err));
    MQ_TRY(parse_addresses(&fields->cc, &work->cc, err));
    MQ_TRY(parse_addresses(&fields->bcc, &work->bcc, err));
    MQ_TRY(parse_addresses(&fields->reply_to, &work->reply_to, err));
    size_t senders = work->from.addresses.count;
    if (senders != 1) {
        return mq_error_set(err, MQ_MESSAGE, "from", "from: %zu addresses; give one", senders);
    }
    if (work->to.addresses.count + work->cc.addresses.count + work->bcc.addresses.count == 0) {
        return mq_error_set(err, MQ_MESSAGE, "to",
                            "to: nobody gets the message; give at least one address in to, cc or "
                            "bcc");
    }
    return MQ_OK;
}

static enum mq_status check_text(struct mq_str text, const char *field, struct mq_error *err)
{
    const char *nul = text.len > 0 ? memchr(text.data, '\0', text.len) : NULL;
    if (nul != NULL) {
        return mq_error_set(err, MQ_MESSAGE, field, "%s: a NUL at byte %zu; remove it", field,
                            (size_t)(nul - text.data) + 1);
    }
    size_t good = mq_utf8_span(text);
    return good == text.len
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, field,
                              "%s: byte %zu is not valid UTF-8; convert the text", field, good + 1);
}

/* An id of another form could inject headers. */
static enum mq_status check_message_id(const char *message_id, struct mq_error *err)
{
    struct mq_str id = mq_str_of(message_id);
    size_t ats = 0;
    bool good = id.len > 4 && strlen(MESSAGE_ID) + id.len <= MQ_LINE_MAX && id.data[0] == '<' &&
                id.data[1] != '@' && id.data[id.len - 2] != '@' && id.data[id.len - 1] == '>';
    for (size_t i = 1; good && i + 1 < id.len; i++) {
        char c = id.data[i];
        good = c > 32 && c < 127 && c != '<' && c != '>';
        ats += c == '@';
    }
    if (!good || ats != 1) {
        return mq_error_set(err, MQ_MESSAGE, "message_id",
                            "message_id: it must be \"<unique@domain>\" in printable ASCII");
    }
    return MQ_OK;
}

static enum mq_status check_date(int64_t date_s, struct mq_error *err)
{
    return date_s >= DATE_FIRST_S && date_s <= DATE_LAST_S
               ? MQ_OK
               : mq_error_set(err, MQ_MESSAGE, "date",
                              "date: it is before 1900 or after 9999; correct it");
}

/* Returns the field to name when the message is too large: the largest one. */
static const char *largest_field(const struct work *work)
{
    const struct mq_compose_fields *fields = work->fields;
    const char *field = fields->html.len > fields->text.len ? "html" : "text";
    size_t largest = fields->html.len > fields->text.len ? fields->html.len : fields->text.len;
    if (fields->calendar.len > largest) {
        largest = fields->calendar.len;
        field = "calendar";
    }
    for (size_t i = 0; i < fields->part_count; i++) {
        const struct mq_compose_part *part = &fields->parts[i];
        if (part->data.len > largest) {
            largest = part->data.len;
            field = part->field;
        }
    }
    return field;
}

static enum mq_status check_size(const struct work *work, size_t size, struct mq_error *err)
{
    size_t max = work->fields->max_size;
    if (max == 0 || size <= max) {
        return MQ_OK;
    }
    const char *field = largest_field(work);
    return mq_error_set(err, MQ_MESSAGE, field,
                        "%s: the message has %zu bytes or more, at most %zu are allowed; make it "
                        "smaller or raise the limit",
                        field, size, max);
}

/* Checks the sizes as given, before anything is read: no encoding makes a field smaller. */
static enum mq_status check_given_size(const struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    size_t size = fields->text.len + fields->html.len + fields->calendar.len;
    for (size_t i = 0; i < fields->part_count; i++) {
        size_t more = fields->parts[i].data.len;
        /* Later calculations use several times the size. */
        if (more > SIZE_MAX / 16 || size > SIZE_MAX / 16) {
            return mq_error_nomem(err);
        }
        size += more;
    }
    return check_size(work, size, err);
}

/* Finds the text that is sent: the one given, or one made from the HTML. */
static enum mq_status find_text(struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    work->text = fields->text;
    if (fields->text.data != NULL) {
        return MQ_OK;
    }
    mq_html_to_text(fields->html, &work->made_text);
    if (work->made_text.len > 0) {
        work->text = mq_buffer_view(&work->made_text);
    }
    return work->made_text.failed ? mq_error_nomem(err) : MQ_OK;
}

static enum mq_status check_texts(struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    if (fields->text.data == NULL && fields->html.data == NULL) {
        return mq_error_set(err, MQ_MESSAGE, "text",
                            "text: there is neither text nor html; give one, which may be empty");
    }
    MQ_TRY(check_text(fields->text, "text", err));
    MQ_TRY(check_text(fields->html, "html", err));
    MQ_TRY(check_text(fields->calendar, "calendar", err));
    return find_text(work, err);
}

/* ---- header ---- */

static enum mq_status make_head(struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    struct mq_buffer *head = &work->head;
    mq_buffer_reserve(head, 1000 + 3 * work->subject.len);
    mq_buffer_cstr(head, "Date: ");
    mq_encode_date(head, fields->date_s);
    mq_buffer_append(head, "\r\n", 2);
    mq_mailboxes_write(head, "From", &work->from);
    mq_mailboxes_write(head, "Reply-To", &work->reply_to);
    mq_mailboxes_write(head, "To", &work->to);
    mq_mailboxes_write(head, "Cc", &work->cc);
    if (work->to.addresses.count + work->cc.addresses.count == 0) {
        /* Some relays add a To if there is none. */
        mq_buffer_cstr(head, "To: undisclosed-recipients:;\r\n");
    }
    mq_encode_header(head, "Subject", work->subject);
    mq_buffer_cstr(head, MESSAGE_ID);
    mq_buffer_cstr(head, fields->message_id);
    mq_buffer_append(head, "\r\n", 2);
    MQ_TRY(mq_own_headers_write(fields, head, err));
    MQ_TRY(mq_unsubscribe_write(fields, head, err));
    mq_buffer_cstr(head, "MIME-Version: 1.0\r\n");
    return head->failed ? mq_error_nomem(err) : MQ_OK;
}

static enum mq_status check(struct work *work, struct mq_error *err)
{
    const struct mq_compose_fields *fields = work->fields;
    work->subject = fields->subject;
    MQ_TRY(check_given_size(work, err));
    MQ_TRY(check_addresses(work, err));
    MQ_TRY(mq_header_text(&work->subject, "subject", &work->spaced, err));
    MQ_TRY(check_message_id(fields->message_id, err));
    MQ_TRY(check_date(fields->date_s, err));
    MQ_TRY(make_head(work, err));
    return check_texts(work, err);
}

/* ---- envelope ---- */

/* Collects the recipients: each address once, in the order of to, cc, bcc. */
static enum mq_status collect(const struct work *work, struct mq_strings *recipients,
                              struct mq_error *err)
{
    const struct mq_strings *lists[] = {&work->to.addresses, &work->cc.addresses,
                                        &work->bcc.addresses};
    bool done = true;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        for (size_t i = 0; i < lists[list]->count && done; i++) {
            done = mq_strings_add(recipients, mq_str_of(lists[list]->items[i]));
        }
    }
    return done && mq_addresses_once(recipients) ? MQ_OK : mq_error_nomem(err);
}

/* ---- the whole ---- */

static enum mq_status write_message(struct work *work, struct mq_buffer *out, struct mq_error *err)
{
    MQ_TRY(mq_part_tree_prepare(work->fields, work->text, &work->tree, err));
    /* Reserved at once: a buffer that grows needs its old and its new memory together. */
    mq_buffer_reserve(out, work->head.len + work->tree.size);
    mq_buffer_str(out, mq_buffer_view(&work->head));
    MQ_TRY(mq_part_tree_write(&work->tree, out, err));
    return out->failed ? mq_error_nomem(err) : check_size(work, out->len, err);
}

enum mq_status mq_compose(const struct mq_compose_fields *fields, struct mq_buffer *out,
                          struct mq_envelope *envelope, struct mq_error *err)
{
    struct work work = {.fields = fields};
    struct mq_strings recipients = {0};
    enum mq_status status = check(&work, err);
    if (status == MQ_OK) {
        status = collect(&work, &recipients, err);
    }
    if (status == MQ_OK) {
        status = write_message(&work, out, err);
    }
    if (status == MQ_OK) {
        mq_envelope_clear(envelope);
        *envelope = (struct mq_envelope){work.from.addresses.items[0], recipients};
        work.from.addresses.items[0] = NULL;
    } else {
        mq_buffer_reset(out);
        mq_strings_clear(&recipients);
    }
    work_clear(&work);
    return status;
}
