/* Makes the transport that a DSN names. */
#include "send/factory.h"

#include "send/dsn.h"
#include "send/maildir.h"
#include "send/null.h"
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
    char *place = NULL;
    enum mq_status status = mq_dsn_parse(dsn, &parsed, err);
    if (status != MQ_OK) {
        return status;
    }
    if (mq_dsn_is(&parsed, "file")) {
        place = mq_str_dup(mq_str_of(parsed.path));
        status = place ? MQ_OK : mq_error_nomem(err);
    } else if (parsed.command != NULL) {
        status = mq_sendmail_program(parsed.command, &place, err);
    }
    mq_dsn_clear(&parsed);
    if (status == MQ_OK) {
        *out = place;
    }
    return status;
}
