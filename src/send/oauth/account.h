/* OAuth2 accounts: access tokens for relays and APIs, refreshed before they end.
 *
 * An account is a file NAME.json of mode 0600 (cli/Oauth/ writes it): how to get tokens, and the
 * present ones. All processes that use an account share its file: one of them refreshes, under a
 * lock, and the others read the new token from the file. */
#ifndef MQ_SEND_OAUTH_ACCOUNT_H
#define MQ_SEND_OAUTH_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct mq_oauth;

enum mq_oauth_state {
    MQ_OAUTH_READY,   /* there is a token */
    MQ_OAUTH_WAITING, /* a token is asked for, by this process or another */
    MQ_OAUTH_FAILED   /* there is none, and none can be had now: mq_oauth_failure() says why */
};

/* While mq_oauth_is_busy(), mq_oauth_step() should be called this often. */
#define MQ_OAUTH_STEP_MS 20

/* Opens an account; asks for no token yet. MQ_CONFIG, field "account": a bad name, no such file, a
 * file of another user or with another mode, a file that is not an account. */
enum mq_status mq_oauth_open(const char *directory, const char *name, struct mq_oauth **out,
                             struct mq_error *err);
/* If a token is being asked for, waits for it, at most 31 s: the answer may have the only refresh
 * token that is still accepted. */
void mq_oauth_free(struct mq_oauth *account);

/* Goes on with what is under way, and begins a refresh if the token ends soon, has ended or was
 * refused. Call it before each use of the token. */
enum mq_oauth_state mq_oauth_step(struct mq_oauth *account);
/* Whether a refresh is under way, perhaps while the old token can still be used. */
bool mq_oauth_is_busy(const struct mq_oauth *account);

/* The same, but waits until there is a token. MQ_TRANSPORT: none can be had; the text says why. */
enum mq_status mq_oauth_wait(struct mq_oauth *account, struct mq_error *err);

/* The access token, until the next mq_oauth_step(); NULL unless that returned MQ_OAUTH_READY. */
const char *mq_oauth_token(const struct mq_oauth *account);
/* Which token that is: keep it for the two functions below. */
unsigned mq_oauth_generation(const struct mq_oauth *account);
/* The relay took the token. */
void mq_oauth_accepted(struct mq_oauth *account, unsigned generation);
/* The relay refused the token. True: call mq_oauth_step() and try again with another token. False:
 * a token that was fetched because of an earlier refusal was refused, too; the relay is in trouble.
 * The next mq_oauth_step() gets another one all the same: a person may have logged in again. */
bool mq_oauth_refused(struct mq_oauth *account, unsigned generation);

/* Writes news for the log, such as that a token cannot be stored; if there are none, *out stays. */
void mq_oauth_take_news(struct mq_oauth *account, char *out, size_t size);

/* Why there is no token, with the cure. Has no secret in it, and fits a relay's trouble.
 * *retry_after_s (may be NULL): as the token endpoint named it; 0: it did not. */
const char *mq_oauth_failure(const struct mq_oauth *account, int64_t *retry_after_s);
/* Puts the account and the cure before the reply that refused a new token; "": none is known. */
void mq_oauth_tell_refused(const struct mq_oauth *account, char *reply, size_t size);

#endif
