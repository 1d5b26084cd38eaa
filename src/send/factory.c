/* Makes the transport that a DSN names. */
#include "send/factory.h"

#include "send/dsn.h"
#include "send/local.h"
#include "send/sendmail/sendmail.h"

static enum mq_status open_sendmail(const struct mq_dsn *dsn,
                                    const struct mq_transport_options *options,
                                    struct mq_transport **out, struct mq_error *err)
{
    if (options->no_command && dsn->command != NULL) {
        return mq_error_set(err, MQ_CONFIG, "transport",
                            "transport: disable_functions in php.ini forbids starting programs "
                            "(proc_open); remove the option command, then sendmail_path is used");
    }
    const struct mq_sendmail_options sendmail = {
        .clock = options->smtp.clock,
        .processes = options->smtp.connections,
        .default_command = options->sendmail_path,
        .own_program = options->own_program,
    };
    return mq_sendmail_new(dsn, &sendmail, out, err);
}

enum mq_status mq_transport_open(struct mq_str dsn, const struct mq_transport_options *options,
                                 struct mq_transport **out, int64_t *final_timeout_ms,
                                 struct mq_error *err)
{
    struct mq_dsn parsed;
    enum mq_status status = mq_dsn_parse(dsn, &parsed, err);
    if (status != MQ_OK) {
        return status;
    }
    *final_timeout_ms = parsed.final_timeout_ms;
    if (mq_dsn_is(&parsed, "null")) {
        *final_timeout_ms = 0;
        status = mq_null_new(options->smtp.clock, out, err);
    } else if (mq_dsn_is(&parsed, "file")) {
        *final_timeout_ms = 0;
        status = mq_maildir_new(&parsed, options->smtp.clock, out, err);
    } else if (mq_dsn_is(&parsed, "sendmail")) {
        status = open_sendmail(&parsed, options, out, err);
    } else {
        status = mq_smtp_new(&parsed, &options->smtp, out, err);
    }
    mq_dsn_clear(&parsed);
    return status;
}

enum mq_status mq_transport_place(struct mq_str dsn, char **out, struct mq_error *err)
{
    struct mq_dsn parsed;
    struct mq_strings words;
    enum mq_status status = mq_dsn_parse(dsn, &parsed, err);
    if (status != MQ_OK) {
        return status;
    }
    mq_strings_init(&words);
    const char *place = parsed.path;
    if (parsed.command != NULL) {
        status = mq_dsn_split_command(mq_str_of(parsed.command), &words, err);
        place = status == MQ_OK ? words.items[0] : NULL;
    }
    *out = place != NULL ? mq_str_dup(mq_str_of(place)) : NULL;
    if (place != NULL && *out == NULL) {
        status = mq_error_nomem(err);
    }
    mq_strings_clear(&words);
    mq_dsn_clear(&parsed);
    return status;
}
