/* The channel and the pool that an SMTP session under test talks to. */
#include "smtp_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake *fake_of(struct mq_smtp_owner *owner)
{
    return (struct fake *)((char *)owner - offsetof(struct fake, owner));
}

static int64_t clock_s(void *context)
{
    return 1000000 + ((struct fake *)context)->now_ms / 1000;
}

static int64_t clock_us(void *context)
{
    return clock_s(context) * 1000000;
}

static int64_t clock_ms(void *context)
{
    return ((struct fake *)context)->now_ms;
}

/* ---- the channel ---- */

static enum mq_io fake_send(struct mq_channel *channel, const void *data, size_t len, size_t *n)
{
    struct fake *fake = (struct fake *)channel;
    assert_true(len > 0 && len <= MQ_SMTP_CHUNK);
    if (fake->pending != NULL) {
        /* OpenSSL's "bad write retry". */
        assert_ptr_equal(data, fake->pending);
        assert_int_equal(len, fake->pending_len);
        fake->pending = NULL;
    }
    if (fake->out_broken) {
        return MQ_IO_ERROR;
    }
    if (fake->out_blocked) {
        fake->pending = data;
        fake->pending_len = len;
        return MQ_IO_AGAIN;
    }
    *n = fake->out_cut != 0 && len > fake->out_cut ? fake->out_cut : len;
    assert_true(fake->out_len + *n < FAKE_BYTES);
    memcpy(fake->out + fake->out_len, data, *n);
    fake->out_len += *n;
    fake->writes++;
    return MQ_IO_OK;
}

static enum mq_io fake_recv(struct mq_channel *channel, void *data, size_t len, size_t *n)
{
    struct fake *fake = (struct fake *)channel;
    size_t left = fake->in_len - fake->in_pos;
    if (left == 0) {
        return fake->in_reset ? MQ_IO_ERROR : fake->in_eof ? MQ_IO_EOF : MQ_IO_AGAIN;
    }
    *n = left < len ? left : len;
    if (fake->in_cut != 0 && *n > fake->in_cut) {
        *n = fake->in_cut;
    }
    memcpy(data, fake->in + fake->in_pos, *n);
    fake->in_pos += *n;
    return MQ_IO_OK;
}

static void fake_close(struct mq_channel *channel)
{
    ((struct fake *)channel)->closed = true;
}

static const struct mq_channel_ops channel_ops = {fake_send, fake_recv, fake_close};

/* ---- the pool ---- */

/* Sets the result of a transfer that is not back yet. */
#define NOT_BACK ((enum mq_transfer_end)99)

static struct mq_transfer *fake_next(struct mq_smtp_owner *owner, bool behind)
{
    struct fake *fake = fake_of(owner);
    (void)behind;
    if (fake->waiting_count == 0) {
        return NULL;
    }
    struct fake_mail *mail = fake->waiting[0];
    fake->waiting_count--;
    memmove(fake->waiting, fake->waiting + 1, fake->waiting_count * sizeof *fake->waiting);
    return &mail->transfer;
}

static void fake_closed(struct mq_smtp_owner *owner, struct mq_smtp_session *session,
                        const char *why)
{
    struct fake *fake = fake_of(owner);
    (void)session;
    snprintf(fake->why, sizeof fake->why, "%s", why);
}

static bool fake_crowded(struct mq_smtp_owner *owner, const struct mq_smtp_tx *tx, const char *why,
                         int64_t wait_s)
{
    struct fake *fake = fake_of(owner);
    (void)tx;
    (void)why;
    (void)wait_s;
    fake->crowds++;
    return fake->has_more_sessions;
}

static bool fake_enter(struct mq_transfer *transfer, enum mq_transfer_phase phase)
{
    struct fake_mail *mail = (struct fake_mail *)transfer;
    char letter = "EBARP"[phase - MQ_PHASE_ENVELOPE];
    size_t n = strlen(mail->phases);
    assert_true(n + 1 < sizeof mail->phases);
    mail->phases[n] = letter;
    mail->phases[n + 1] = '\0';
    if (transfer->target_count <= FAKE_TARGETS) {
        memcpy(mail->seen, fake_results(mail), sizeof mail->seen);
    }
    return mail->refuse != letter;
}

struct fake *fake_new(unsigned caps)
{
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->out = malloc(FAKE_BYTES);
    assert_non_null(fake->out);
    fake->channel.ops = &channel_ops;
    fake->now_ms = 1000;
    fake->transport.clock = (struct mq_clock){clock_us, clock_ms, fake};
    fake->dsn = (struct mq_dsn){.command_timeout_ms = 300000,
                                .data_timeout_ms = 120000,
                                .block_timeout_ms = 180000,
                                .final_timeout_ms = 600000,
                                .idle_ms = 10000,
                                .mails_per_connection = 100};
    fake->owner = (struct mq_smtp_owner){.transport = &fake->transport,
                                         .dsn = &fake->dsn,
                                         .following = MQ_SMTP_FOLLOW_DOT,
                                         .next = fake_next,
                                         .closed = fake_closed,
                                         .crowded = fake_crowded};
    struct mq_smtp_caps offered = {.pipelining = caps & FAKE_PIPELINING,
                                   .eightbit = caps & FAKE_8BIT,
                                   .smtputf8 = caps & FAKE_UTF8,
                                   .dsn = caps & FAKE_DSN,
                                   .size = caps & FAKE_SIZE,
                                   .size_max = caps & FAKE_SIZE ? 100000 : 0};
    mq_smtp_session_init(&fake->session, &fake->owner);
    mq_smtp_session_ready(&fake->session, &fake->channel, &offered);
    return fake;
}

void fake_free(struct fake *fake)
{
    if (fake->session.channel != NULL) {
        mq_smtp_session_lost(&fake->session, "test over");
    }
    for (int i = 0; i < MQ_SMTP_STATE_COUNT; i++) {
        assert_int_equal(fake->owner.in_state[i], 0);
    }
    free(fake->out);
    free(fake);
}

void fake_mail_init(struct fake_mail *mail, const char *message, size_t recipients)
{
    static const char *const addresses[FAKE_TARGETS] = {"a@x", "b@x", "c@x", "d@x",
                                                        "e@x", "f@x", "g@x", "h@x"};
    memset(mail, 0, sizeof *mail);
    mail->transfer.from = "s@y";
    mail->transfer.targets = mail->targets;
    mail->transfer.target_count = recipients;
    mail->transfer.message = mq_str_of(message);
    mail->transfer.enter = fake_enter;
    mail->transfer.end = NOT_BACK;
    for (size_t i = 0; i < recipients; i++) {
        mail->targets[i].address = addresses[i];
    }
}

void fake_queue(struct fake *fake, struct fake_mail *mail)
{
    fake->waiting[fake->waiting_count++] = mail;
}

void fake_submit(struct fake *fake, struct fake_mail *mail)
{
    fake_queue(fake, mail);
    mq_smtp_session_pump(&fake->session);
}

void fake_says(struct fake *fake, const char *text)
{
    fake->in_len = strlen(text);
    fake->in_pos = 0;
    memcpy(fake->in, text, fake->in_len);
    while (fake->in_pos < fake->in_len && fake->session.channel != NULL) {
        mq_smtp_session_readable(&fake->session);
    }
}

void fake_hangs_up(struct fake *fake)
{
    fake->in_eof = true;
    mq_smtp_session_readable(&fake->session);
}

void fake_resets(struct fake *fake)
{
    fake->in_reset = true;
    mq_smtp_session_readable(&fake->session);
}

const char *fake_wire(struct fake *fake)
{
    fake->out[fake->out_len] = '\0';
    fake->out_len = 0;
    return fake->out;
}

const char *fake_results(const struct fake_mail *mail)
{
    static char letters[FAKE_TARGETS + 1];
    memset(letters, 0, sizeof letters);
    for (size_t i = 0; i < mail->transfer.target_count; i++) {
        letters[i] = "UARLD?X"[mail->targets[i].result];
    }
    return letters;
}

void fake_set_plain(struct fake_mail *mail)
{
    mail->transfer.transport_flags |= MQ_SMTP_TRANSFER_PLAIN;
}

enum mq_status fake_open(const char *dsn, const struct mq_transport_options *options,
                         struct mq_transport **out, int64_t *final_ms, struct mq_error *err)
{
    struct mq_dsn parsed;
    enum mq_status status = mq_dsn_parse(mq_str_of(dsn), &parsed, err);
    if (status == MQ_OK) {
        *final_ms = parsed.final_timeout_ms;
        status = mq_transport_open(&parsed, options, out, err);
    }
    return status;
}

bool fake_is_back(const struct fake_mail *mail)
{
    return mail->transfer.end != NOT_BACK;
}

void fake_assert_back(const struct fake_mail *mail, enum mq_transfer_end end, const char *results)
{
    assert_int_equal(mail->transfer.end, end);
    assert_string_equal(fake_results(mail), results);
}
