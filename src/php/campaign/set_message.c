/* Campaign::setMessage(), preview() and test(). */
#include "stubs/mailqueue_methods.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/mailing.h"
#include "core/ascii.h"
#include "core/clock.h"
#include "mime/idn.h"
#include "mime/subject.h"
#include "mime/template/campaign_message.h"
#include "mime/wire/correct.h"
#include "php/campaign/campaign_object.h"
#include "php/class/conversion.h"
#include "php/class/exceptions.h"
#include "php/message/given_message.h"
#include "php/message/holder.h"
#include "php/message/mail.h"
#include "php_mailqueue.h"
#include "queue/campaign/campaign.h"
#include "queue/queue.h"

/* ---- setMessage() ---- */

/* Arguments that are not converted yet; NULL: not given. */
struct given {
    zval *message, *expires_at, *dsn;
    zend_string *sender;
};

struct setting {
    struct mq_php_fields fields;
    struct mq_php_arguments args; /* only expires_at and notify, which own nothing */
    struct mq_campaign_setup setup;
    struct mq_buffer octets;
    char *message_id, *envelope_from;
};

static void clear_setting(void *data)
{
    struct setting *setting = data;
    mq_php_array_clear(&setting->fields);
    mq_buffer_clear(&setting->octets);
    free(setting->message_id);
    free(setting->envelope_from);
}

/* The envelope's sender: as given, or else the address of From. */
static enum mq_status find_sender(struct setting *setting, const zend_string *given,
                                  struct mq_error *err)
{
    struct mq_php_message message = {.fields = setting->fields};
    if (given && ZSTR_LEN(given) == 0) { /* the null reverse-path */
        setting->envelope_from = mq_str_dup(MQ_STR(""));
        return setting->envelope_from ? MQ_OK : mq_error_nomem(err);
    }
    return given ? mq_idn_address(mq_php_str(given), "envelopeFrom", &setting->envelope_from, err)
                 : mq_php_message_sender(&message, &setting->envelope_from, err);
}

static enum mq_status make_id(struct setting *setting, struct mq_error *err)
{
    struct mq_php_message message = {.fields = setting->fields};
    char *from = NULL;
    MQ_TRY(mq_php_message_sender(&message, &from, err));
    setting->message_id = mq_message_new_id(from);
    free(from);
    return setting->message_id ? MQ_OK : mq_error_nomem(err);
}

static enum mq_status check_fields(const struct mq_php_fields *fields, struct mq_error *err)
{
    const char *extra = fields->date_given ? "date" : fields->message_id ? "message_id" : NULL;
    return extra ? mq_error_set(err, MQ_MESSAGE, extra,
                                "%s: each mail of a campaign gets its own; leave it out", extra)
                 : MQ_OK;
}

/* Takes the header X-MailQueue-Relay out of the message; an argument has priority over it. */
static enum mq_status take_relay(struct setting *setting, struct mq_error *err)
{
    struct mq_php_fields *fields = &setting->fields;
    struct mq_str named = {NULL, 0};
    size_t kept = 0;
    for (size_t i = 0; i < fields->compose.header_count; i++) {
        if (mq_php_is_relay_header(fields->headers[i].name)) {
            named = mq_str_trim(fields->headers[i].value);
        } else {
            fields->headers[kept++] = fields->headers[i];
        }
    }
    fields->compose.header_count = kept;
    setting->setup.relay = setting->setup.relay.data ? setting->setup.relay : named;
    return mq_str_find(named, '{') < named.len
               ? mq_error_set(err, MQ_MESSAGE, "headers",
                              "headers: X-MailQueue-Relay is the same for all mails of a campaign, "
                              "so it cannot be a template; write the key of a relay")
               : MQ_OK;
}

static enum mq_status make_message(struct setting *setting, const zend_string *sender,
                                   struct mq_error *err)
{
    struct mq_php_fields *fields = &setting->fields;
    fields->compose.max_size = (size_t)MAILQUEUE_G(max_message_size);
    MQ_TRY(check_fields(fields, err));
    MQ_TRY(mq_php_check_list(setting->setup.list, fields->list, err));
    MQ_TRY(take_relay(setting, err));
    MQ_TRY(find_sender(setting, sender, err));
    MQ_TRY(make_id(setting, err));
    enum mq_status status = mq_campaign_message_make(&fields->compose, &setting->octets, err);
    if (status == MQ_IO) { /* an attached file failed; MQ_IO would mean the database */
        status = mq_error_set(err, MQ_MESSAGE, err->field, "%s", err->text);
    }
    setting->setup.message = mq_buffer_view(&setting->octets);
    setting->setup.message_id = setting->message_id;
    setting->setup.envelope_from = setting->envelope_from;
    setting->setup.list = fields->list.data ? fields->list : setting->setup.list;
    setting->setup.list_url = fields->list_url;
    return status;
}

/* The queue checks the range. */
static int to_int(zend_long value)
{
    return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

static enum mq_status convert(const struct given *given, struct setting *setting,
                              struct mq_error *err)
{
    struct mq_php_arguments *args = &setting->args;
    MQ_TRY(mq_php_array_read_template(given->message, &setting->fields, err));
    MQ_TRY(given->dsn ? mq_php_arguments_dsn(args, given->dsn, err) : MQ_OK);
    MQ_TRY(given->expires_at ? mq_php_time_of(given->expires_at, "expiresAt", &args->expires_at,
                                              &args->expires, err)
                             : MQ_OK);
    setting->setup.expires_at = args->expires_at;
    setting->setup.notify = &args->notify;
    return make_message(setting, given->sender, err);
}

/* Converting can run PHP code, so the queue is opened afterwards. */
static void set_message(zval *object, const struct given *given, struct setting *setting)
{
    struct mq_php_campaign self;
    struct mq_error err;
    enum mq_status status = convert(given, setting, &err);
    if (!mq_php_ok(status, &err) || mq_php_is_leaving() || !mq_php_campaign_use(object, &self)) {
        return;
    }
    int64_t now_s = mq_clock_now_s(mq_queue_clock(self.queue));
    status = mq_php_arguments_check_expiry(&setting->args, now_s, &err);
    if (status == MQ_OK) {
        status = mq_campaign_set(self.queue, self.id, &setting->setup, &err);
    }
    mq_php_campaign_ok(&self, status, &err);
}

ZEND_METHOD(MailQueue_Campaign, setMessage)
{
    zval holder;
    struct given given = {.message = NULL};
    zend_string *type = NULL, *relay = NULL, *list = NULL;
    zend_long priority = -10, attempts = 0;
    bool no_maximum = true;

    if (zend_parse_parameters(ZEND_NUM_ARGS(), "a|Sll!S!S!z!a!S!", &given.message, &type, &priority,
                              &attempts, &no_maximum, &given.sender, &relay, &given.expires_at,
                              &given.dsn, &list) == FAILURE) {
        RETURN_THROWS();
    }
    struct setting *setting = mq_php_holder_new(&holder, sizeof *setting, clear_setting);
    setting->setup.mail_type = type ? mq_php_str(type) : MQ_STR("campaign");
    setting->setup.priority = to_int(priority);
    setting->setup.max_attempts = no_maximum ? 0 : attempts == 0 ? -1 : to_int(attempts);
    setting->setup.relay = mq_php_str(relay);
    setting->setup.list = mq_php_str(list);
    set_message(ZEND_THIS, &given, setting);
    zval_ptr_dtor(&holder);
}

/* ---- preview() and test() ---- */

/* The mail to an address of test(). */
struct test_mail {
    char *address, *message_id;
    struct mq_strings recipients; /* the address; borrowed */
    struct mq_buffer octets, subject;
};

/* A recipient's mail. */
struct sample {
    struct mq_mailing *mailing;
    struct mq_campaign campaign;
    struct mq_notify notify;
    struct mq_recipient_row row;
    struct mq_buffer mail;
    char *address;
    struct test_mail *tests; /* request memory; NULL: none */
    size_t test_count;
};

static void clear_sample(void *data)
{
    struct sample *sample = data;
    mq_mailing_free(sample->mailing);
    mq_campaign_clear(&sample->campaign);
    mq_recipient_row_clear(&sample->row);
    mq_buffer_clear(&sample->mail);
    free(sample->address);
    for (size_t i = 0; i < sample->test_count; i++) {
        struct test_mail *mail = &sample->tests[i];
        free(mail->address);
        free(mail->message_id);
        mq_buffer_clear(&mail->octets);
        mq_buffer_clear(&mail->subject);
    }
    if (sample->tests) {
        efree(sample->tests);
    }
}

static enum mq_status find_recipient(const struct mq_php_campaign *self, const zend_string *address,
                                     struct sample *sample, struct mq_error *err)
{
    if (address) {
        MQ_TRY(mq_idn_address(mq_php_str(address), "address", &sample->address, err));
    }
    MQ_TRY(mq_campaign_find(self->queue, self->id, mq_str_of(sample->address), &sample->row, err));
    return sample->row.id ? MQ_OK
           : address      ? mq_error_set(err, MQ_CONFIG, "address",
                                         "%s is not a recipient of the campaign: add it first",
                                         sample->address)
                          : mq_error_set(err, MQ_CONFIG, "recipients",
                                         "the campaign has no recipient yet: add one first");
}

/* Renders the recipient's mail, to another address if one is given. */
static enum mq_status render(struct sample *sample, const char *address, const char *message_id,
                             struct mq_error *err)
{
    const struct mq_clock clock = mq_clock_system();
    const struct mq_addressee to = {.address = mq_str_of(address ? address : sample->row.address),
                                    .name = mq_str_of(sample->row.name),
                                    .fields = mq_str_of(sample->row.fields),
                                    .message_id = message_id,
                                    .date_s = mq_clock_now_s(&clock)};
    mq_buffer_reset(&sample->mail);
    return mq_mailing_render(sample->mailing, &to, &sample->mail, err);
}

static enum mq_status open_sample(const struct mq_php_campaign *self, const zend_string *address,
                                  struct sample *sample, struct mq_error *err)
{
    int64_t expires_at; /* a test does not expire */
    MQ_TRY(mq_campaign_read(self->queue, self->id, &sample->campaign, err));
    MQ_TRY(mq_campaign_terms(self->queue, self->id, &expires_at, &sample->notify, err));
    MQ_TRY(mq_mailing_open(self->queue, self->id, &sample->mailing, err));
    return find_recipient(self, address, sample, err);
}

/* The first one may have been added before the message was set. */
static enum mq_status check_first(const struct mq_php_campaign *self, struct sample *sample,
                                  struct mq_error *err)
{
    const struct mq_str first = {0};
    MQ_TRY(mq_campaign_find(self->queue, self->id, first, &sample->row, err));
    if (sample->row.id == 0) {
        return MQ_OK;
    }
    const struct mq_addressee to = {.address = mq_str_of(sample->row.address),
                                    .name = mq_str_of(sample->row.name),
                                    .fields = mq_str_of(sample->row.fields)};
    MQ_TRY(mq_mailing_open(self->queue, self->id, &sample->mailing, err));
    return mq_mailing_check(sample->mailing, &to, err);
}

bool mq_php_campaign_fits(zval *object)
{
    struct mq_php_campaign self;
    struct mq_error err;
    zval holder;
    if (!mq_php_campaign_use(object, &self)) {
        return false;
    }
    struct sample *sample = mq_php_holder_new(&holder, sizeof *sample, clear_sample);
    bool fits = mq_php_campaign_ok(&self, check_first(&self, sample, &err), &err);
    zval_ptr_dtor(&holder);
    return fits;
}

/* Renders it with the Message-ID that it gets when it is sent. */
static enum mq_status render_own(struct sample *sample, struct mq_error *err)
{
    struct mq_buffer id = {0};
    const char *of_all = sample->campaign.message_id;
    size_t begin = strcspn(of_all, "@");
    mq_buffer_append(&id, of_all, begin);
    mq_buffer_printf(&id, ".%lld%s", (long long)sample->row.id, of_all + begin);
    enum mq_status status = id.failed ? mq_error_nomem(err) : render(sample, NULL, id.data, err);
    mq_buffer_clear(&id);
    return status;
}

static void preview(zval *object, const zend_string *address, zval *return_value)
{
    struct mq_php_campaign self;
    struct mq_error err;
    zval holder;
    if (!mq_php_campaign_use(object, &self)) {
        return;
    }
    struct sample *sample = mq_php_holder_new(&holder, sizeof *sample, clear_sample);
    enum mq_status status = open_sample(&self, address, sample, &err);
    if (status == MQ_OK) {
        status = render_own(sample, &err);
    }
    if (mq_php_campaign_ok(&self, status, &err)) {
        RETVAL_STRINGL(sample->mail.data, sample->mail.len);
    }
    zval_ptr_dtor(&holder);
}

ZEND_METHOD(MailQueue_Campaign, preview)
{
    zend_string *address;

    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_STR(address)
    ZEND_PARSE_PARAMETERS_END();

    preview(ZEND_THIS, address, return_value);
}

/* `mail` is zeroed, and cleared with the sample also after a failure. */
static enum mq_status make_test_mail(struct sample *sample, const zval *item,
                                     struct test_mail *mail, struct mq_error *err)
{
    if (Z_TYPE_P(item) != IS_STRING) {
        return mq_php_wrong_type("addresses", "a list of strings", item, err);
    }
    MQ_TRY(mq_idn_address(mq_php_str(Z_STR_P(item)), "addresses", &mail->address, err));
    mail->recipients = (struct mq_strings){&mail->address, 1, 1};
    mail->message_id = mq_message_new_id(sample->campaign.envelope_from);
    MQ_TRY(mail->message_id ? render(sample, mail->address, mail->message_id, err)
                            : mq_error_nomem(err));
    mail->octets = sample->mail;
    sample->mail = (struct mq_buffer){0};
    mq_subject_of(mq_buffer_view(&mail->octets), &mail->subject);
    return MQ_OK;
}

static enum mq_status make_test_mails(struct sample *sample, HashTable *addresses,
                                      struct mq_error *err)
{
    zval *item;
    sample->tests = ecalloc(zend_hash_num_elements(addresses) + 1, sizeof *sample->tests);
    ZEND_HASH_FOREACH_VAL (addresses, item) {
        ZVAL_DEREF(item);
        MQ_TRY(make_test_mail(sample, item, &sample->tests[sample->test_count++], err));
    }
    ZEND_HASH_FOREACH_END();
    return MQ_OK;
}

/* Ahead of the campaign's own mails. All or none: an address that is wrong can be corrected, and
 * nobody gets the mail twice. */
static enum mq_status enqueue_tests(const struct mq_php_campaign *self, const struct sample *sample,
                                    int64_t *ids, struct mq_error *err)
{
    const struct mq_campaign *campaign = &sample->campaign;
    struct mq_new_job *jobs = safe_emalloc(sample->test_count + 1, sizeof *jobs, 0);
    for (size_t i = 0; i < sample->test_count; i++) {
        const struct test_mail *mail = &sample->tests[i];
        jobs[i] = (struct mq_new_job){
            .mail_type = mq_str_of(campaign->mail_type),
            .message_id = mail->message_id,
            .envelope_from = campaign->envelope_from,
            .recipients = &mail->recipients,
            .notify = &sample->notify,
            .relay = {campaign->relay, campaign->relay ? strlen(campaign->relay) : 0},
            .body = mq_buffer_view(&mail->octets),
            .subject = mq_buffer_view(&mail->subject)};
    }
    enum mq_status status = mq_queue_enqueue(self->queue, jobs, sample->test_count, ids, err);
    efree(jobs);
    return status;
}

static void test(zval *object, HashTable *addresses, const zend_string *as, zval *return_value)
{
    struct mq_php_campaign self;
    struct mq_error err;
    zval holder;
    if (!mq_php_campaign_use(object, &self)) {
        return;
    }
    int64_t *ids = safe_emalloc(zend_hash_num_elements(addresses) + 1, sizeof *ids, 0);
    struct sample *sample = mq_php_holder_new(&holder, sizeof *sample, clear_sample);
    enum mq_status status = open_sample(&self, as, sample, &err);
    status = status == MQ_OK ? make_test_mails(sample, addresses, &err) : status;
    status = status == MQ_OK ? enqueue_tests(&self, sample, ids, &err) : status;
    if (mq_php_campaign_ok(&self, status, &err)) {
        array_init(return_value);
        for (size_t i = 0; i < sample->test_count; i++) {
            add_next_index_long(return_value, (zend_long)ids[i]);
        }
    }
    zval_ptr_dtor(&holder);
    efree(ids);
}

ZEND_METHOD(MailQueue_Campaign, test)
{
    HashTable *addresses;
    zend_string *as = NULL;

    ZEND_PARSE_PARAMETERS_START(1, 2)
        Z_PARAM_ARRAY_HT(addresses)
        Z_PARAM_OPTIONAL
        Z_PARAM_STR_OR_NULL(as)
    ZEND_PARSE_PARAMETERS_END();

    test(ZEND_THIS, addresses, as, return_value);
}
