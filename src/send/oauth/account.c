/* An account's token: when it is refreshed, by which process, and what a refusal leads to. */
#include "send/oauth/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "send/oauth/internal.h"
#include "send/oauth/token_request.h"

/* The pause after a refresh that failed, and between two looks at a lock that another has. */
#define AGAIN_MS 30000
#define LOCK_MS  50
/* A server can name a longer pause, but after a day it is asked again. */
#define AGAIN_MAX_S 86400
/* The pause before a token is stored again that could not be stored. */
#define STORE_AGAIN_MS 1000
/* How long another process may hold the lock: longer than any request takes. */
#define LOCK_MAX_MS 60000
/* How long an answer is waited for at once, and by an account that is closed: as long as it can
 * take, because the old refresh token may be no good any more. */
#define FIRST_WAIT_MS 1000
#define LAST_WAIT_MS  (MQ_TOKEN_TIMEOUT_MS + 1000)

struct mq_oauth {
    char *name;
    struct mq_oauth_paths paths;
    struct mq_strings members; /* as the file has them */
    unsigned generation;       /* of the token in the members */
    char *refused;             /* the token that a relay refused; NULL: none did */
    bool replaced; /* the present token is for a refused one, and no relay took it yet */
    struct mq_token_request *request; /* under way; then the lock and the new file are open */
    int lock_fd, new_fd;
    int64_t next_ms;                    /* nothing is tried before */
    int64_t waits_since_ms;             /* for another process's lock; 0: we do not wait */
    char *unstored;                     /* NULL: the file has the present token. Else what it has */
    char news[MQ_OAUTH_FAILURE_MAX];    /* for the log; "": none */
    char failure[MQ_OAUTH_FAILURE_MAX]; /* of the last refresh; "": it went well, or none ended */
    int64_t retry_after_s;
};

/* ---- what the members say ---- */

static const char *current(const struct mq_oauth *account)
{
    return mq_oauth_member(&account->members, "access_token");
}

static bool is_refused(const struct mq_oauth *account)
{
    const char *token = current(account);
    return account->refused != NULL && token != NULL && strcmp(token, account->refused) == 0;
}

static bool is_usable(const struct mq_oauth *account)
{
    return current(account) != NULL && !is_refused(account) &&
           time(NULL) < mq_oauth_number(&account->members, "expires_at");
}

static bool wants_refresh(const struct mq_oauth *account)
{
    return !is_usable(account) || time(NULL) >= mq_oauth_number(&account->members, "refresh_at");
}

/* ---- the end of a refresh ---- */

static void let_go(struct mq_oauth *account)
{
    if (account->new_fd >= 0) {
        mq_oauth_file_discard(&account->paths, account->new_fd);
    }
    if (account->lock_fd >= 0) {
        close(account->lock_fd);
    }
    account->new_fd = account->lock_fd = -1;
    account->waits_since_ms = 0;
}

static void wipe(char **token)
{
    if (*token != NULL) {
        explicit_bzero(*token, strlen(*token));
    }
    free(*token);
    *token = NULL;
}

/* The members have another token than before. */
static void has_new_token(struct mq_oauth *account)
{
    account->generation++;
    account->replaced = account->refused != NULL;
    wipe(&account->refused);
    account->failure[0] = '\0';
    account->retry_after_s = 0;
    account->next_ms = 0;
}

static void has_failed(struct mq_oauth *account, const char *why, int64_t retry_after_s)
{
    if (why != account->failure) {
        mq_str_printable(account->failure, sizeof account->failure, 0, mq_str_of(why));
    }
    account->retry_after_s = retry_after_s < AGAIN_MAX_S ? retry_after_s : AGAIN_MAX_S;
    account->next_ms =
        mq_clock_monotonic_ms() + (retry_after_s > 0   ? account->retry_after_s * INT64_C(1000)
                                   : account->unstored ? STORE_AGAIN_MS
                                                       : AGAIN_MS);
}

static void tell(struct mq_oauth *account, const char *what, const char *why)
{
    size_t used = (size_t)snprintf(account->news, sizeof account->news, "account %.64s: %s",
                                   account->name, what);
    mq_str_printable(account->news, sizeof account->news, used, mq_str_of(why));
}

/* A token that could not be stored is used all the same: the old one may be no good any more. */
static void finish(struct mq_oauth *account, const struct mq_token_answer *answer)
{
    struct mq_error err;
    char *before = strdup(current(account) ? current(account) : "");
    enum mq_status status =
        mq_oauth_grant_take(answer, account->name, &account->members, account->failure);
    if (status == MQ_OK) {
        has_new_token(account);
        status = mq_oauth_file_replace(&account->paths, account->new_fd, &account->members, &err);
        account->new_fd = -1;
        if (status != MQ_OK) {
            account->unstored = before;
            before = NULL;
            tell(account, "a new token is used, but not stored yet: ", err.text);
            has_failed(account, err.text, 0);
        }
    } else {
        has_failed(account, account->failure, answer->retry_after_s);
    }
    wipe(&before);
    mq_token_request_free(account->request); /* the answer was its */
    account->request = NULL;
    let_go(account);
}

/* Waits for the answer, and stores it. Until then, a new refresh token is nowhere on our side, and
 * the old one may be no good any more: nothing else should be done in between, such as PHP code. */
static void await_answer(struct mq_oauth *account, int64_t ms)
{
    int64_t until_ms = mq_clock_monotonic_ms() + ms;
    struct mq_token_answer answer;
    while (account->request != NULL && ms > 0) {
        if (mq_token_request_step(account->request, (int)ms, &answer)) {
            finish(account, &answer);
        }
        ms = until_ms - mq_clock_monotonic_ms();
    }
}

/* ---- the begin of a refresh ---- */

/* Takes over a token that another process has fetched. */
static enum mq_status read_again(struct mq_oauth *account, struct mq_error *err)
{
    struct mq_strings fresh = {0};
    const char *before = current(account);
    enum mq_status status = mq_oauth_file_read(&account->paths, account->name, &fresh, err);
    if (status != MQ_OK) {
        mq_oauth_forget(&fresh);
        return status;
    }
    const char *token = mq_oauth_member(&fresh, "access_token");
    bool differs = token != NULL && (before == NULL || strcmp(before, token) != 0);
    mq_oauth_forget(&account->members);
    account->members = fresh;
    if (differs && !is_refused(account)) {
        has_new_token(account);
    }
    return MQ_OK;
}

/* Stores a token that could not be stored, unless the file has changed: then that one counts. */
static enum mq_status store_again(struct mq_oauth *account, struct mq_error *err)
{
    struct mq_strings there = {0};
    enum mq_status status = mq_oauth_file_read(&account->paths, account->name, &there, err);
    const char *token = mq_oauth_member(&there, "access_token");
    bool same = status == MQ_OK && strcmp(token ? token : "", account->unstored) == 0;
    mq_oauth_forget(&there);
    if (same) {
        status = mq_oauth_file_reserve(&account->paths, &account->new_fd, err);
    }
    if (same && status == MQ_OK) {
        status = mq_oauth_file_replace(&account->paths, account->new_fd, &account->members, err);
        account->new_fd = -1;
    }
    if (status == MQ_OK) {
        tell(account, same ? "the new token is stored" : "another token was stored meanwhile", "");
        wipe(&account->unstored);
        account->failure[0] = '\0';
    }
    return status;
}

static enum mq_status begin_locked(struct mq_oauth *account, struct mq_error *err)
{
    mq_oauth_file_adopt(&account->paths, account->name);
    MQ_TRY(account->unstored != NULL ? store_again(account, err) : MQ_OK);
    MQ_TRY(read_again(account, err));
    if (!wants_refresh(account)) {
        let_go(account);
        return MQ_OK;
    }
    MQ_TRY(mq_oauth_file_reserve(&account->paths, &account->new_fd, err));
    return mq_oauth_grant_begin(&account->members, &account->request, err);
}

static enum mq_status wait_for_lock(struct mq_oauth *account, struct mq_error *err)
{
    int64_t now_ms = mq_clock_monotonic_ms();
    account->next_ms = now_ms + LOCK_MS;
    if (account->waits_since_ms == 0) {
        account->waits_since_ms = now_ms;
    }
    if (now_ms - account->waits_since_ms < LOCK_MAX_MS) {
        return MQ_OK;
    }
    account->waits_since_ms = 0;
    return mq_error_set(err, MQ_TRANSPORT, "account",
                        "account %s: another process has held %s for a minute; end it if it hangs",
                        account->name, account->paths.lock);
}

static void begin(struct mq_oauth *account)
{
    struct mq_error err;
    enum mq_status status = mq_oauth_file_lock(&account->paths, &account->lock_fd, &err);
    if (status == MQ_OK) {
        status = account->lock_fd >= 0 ? begin_locked(account, &err) : wait_for_lock(account, &err);
    }
    if (status != MQ_OK) {
        let_go(account);
        has_failed(account, err.text, 0);
    }
    await_answer(account, FIRST_WAIT_MS);
}

enum mq_oauth_state mq_oauth_step(struct mq_oauth *account)
{
    struct mq_token_answer answer;
    if (account->request != NULL && mq_token_request_step(account->request, 0, &answer)) {
        finish(account, &answer);
    } else if (account->request == NULL && (account->unstored != NULL || wants_refresh(account)) &&
               mq_clock_monotonic_ms() >= account->next_ms) {
        begin(account);
    }
    return is_usable(account)                                        ? MQ_OAUTH_READY
           : account->failure[0] != '\0' && account->request == NULL ? MQ_OAUTH_FAILED
                                                                     : MQ_OAUTH_WAITING;
}

enum mq_status mq_oauth_wait(struct mq_oauth *account, struct mq_error *err)
{
    const struct timespec pause = {.tv_nsec = MQ_OAUTH_STEP_MS * 1000000L};
    enum mq_oauth_state state;
    while ((state = mq_oauth_step(account)) == MQ_OAUTH_WAITING) {
        nanosleep(&pause, NULL);
    }
    return state == MQ_OAUTH_READY
               ? MQ_OK
               : mq_error_set(err, MQ_TRANSPORT, "account", "%s", account->failure);
}

/* ---- the rest ---- */

enum mq_status mq_oauth_open(const char *directory, const char *name, struct mq_oauth **out,
                             struct mq_error *err)
{
    struct mq_oauth *account = calloc(1, sizeof *account);
    if (account == NULL) {
        return mq_error_nomem(err);
    }
    account->lock_fd = account->new_fd = -1;
    account->generation = 1;
    account->name = strdup(name);
    enum mq_status status = account->name ? mq_oauth_paths_of(directory, name, &account->paths, err)
                                          : mq_error_nomem(err);
    if (status == MQ_OK) {
        status = mq_oauth_file_read(&account->paths, name, &account->members, err);
    }
    if (status != MQ_OK) {
        mq_oauth_free(account);
        return status;
    }
    *out = account;
    return MQ_OK;
}

void mq_oauth_free(struct mq_oauth *account)
{
    await_answer(account, LAST_WAIT_MS);
    if (account->request != NULL) {
        mq_token_request_free(account->request);
    }
    if (account->unstored != NULL && account->lock_fd < 0 &&
        mq_oauth_file_lock(&account->paths, &account->lock_fd, NULL) == MQ_OK &&
        account->lock_fd >= 0) {
        store_again(account, NULL);
    }
    let_go(account);
    mq_oauth_forget(&account->members);
    wipe(&account->refused);
    wipe(&account->unstored);
    free(account->paths.file);
    free(account->paths.lock);
    free(account->name);
    free(account);
}

bool mq_oauth_is_busy(const struct mq_oauth *account)
{
    return account->request != NULL || account->waits_since_ms != 0;
}

const char *mq_oauth_token(const struct mq_oauth *account)
{
    return is_usable(account) ? current(account) : NULL;
}

unsigned mq_oauth_generation(const struct mq_oauth *account)
{
    return account->generation;
}

void mq_oauth_accepted(struct mq_oauth *account, unsigned generation)
{
    account->replaced = account->replaced && generation != account->generation;
}

bool mq_oauth_refused(struct mq_oauth *account, unsigned generation)
{
    if (generation != account->generation) {
        return true;
    }
    const char *token = current(account);
    if (account->refused == NULL && token != NULL) {
        account->refused = strdup(token);
        account->next_ms = 0;
    }
    return account->refused != NULL && !account->replaced;
}

void mq_oauth_take_news(struct mq_oauth *account, char *out, size_t size)
{
    if (account->news[0] != '\0') {
        snprintf(out, size, "%s", account->news);
        account->news[0] = '\0';
    }
}

const char *mq_oauth_failure(const struct mq_oauth *account, int64_t *retry_after_s)
{
    if (retry_after_s != NULL) {
        *retry_after_s = account->retry_after_s;
    }
    return account->failure;
}

void mq_oauth_tell_refused(const struct mq_oauth *account, char *reply, size_t size)
{
    char why[MQ_OAUTH_FAILURE_MAX];
    snprintf(why, sizeof why,
             "the relay refuses a new token of account %s: may it send as this user? If so, ",
             account->name);
    mq_oauth_append_login(why, account->name, &account->members);
    size_t used = mq_str_printable(why, sizeof why, strlen(why),
                                   mq_str_of(reply[0] != '\0' ? "; it said: " : ""));
    mq_str_printable(why, sizeof why, used, mq_str_of(reply));
    snprintf(reply, size, "%s", why);
}
