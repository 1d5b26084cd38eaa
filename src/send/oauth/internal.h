/* Shared by the files of an OAuth2 account. */
#ifndef MQ_SEND_OAUTH_INTERNAL_H
#define MQ_SEND_OAUTH_INTERNAL_H

#include "core/buffer.h"
#include "core/error.h"

#define MQ_OAUTH_FAILURE_MAX 256 /* as MQ_TARGET_REPLY_MAX: a relay's trouble */

struct mq_token_answer;
struct mq_token_request;

/* ---- the members of an account: pairs of a name and a value ---- */

/* The value, borrowed; NULL: there is none, or it is empty. */
const char *mq_oauth_member(const struct mq_strings *members, const char *name);
/* A member that is a number, such as a time in seconds since 1970; 0: none. */
int64_t mq_oauth_number(const struct mq_strings *members, const char *name);
/* Sets or adds a member; false without memory. */
bool mq_oauth_set(struct mq_strings *members, const char *name, struct mq_str value);
void mq_oauth_forget(struct mq_strings *members); /* wipes and frees */

/* ---- account_file.c ---- */

struct mq_oauth_paths {
    char *file, *lock; /* malloc'ed */
};

enum mq_status mq_oauth_paths_of(const char *directory, const char *name,
                                 struct mq_oauth_paths *out, struct mq_error *err);
/* Reads and checks an account's file into *out, which is empty before. */
enum mq_status mq_oauth_file_read(const struct mq_oauth_paths *paths, const char *name,
                                  struct mq_strings *out, struct mq_error *err);
/* The lock of the account's file, so that one process refreshes. *fd is -1 if another has it. */
enum mq_status mq_oauth_file_lock(const struct mq_oauth_paths *paths, int *fd,
                                  struct mq_error *err);
/* Puts a new file in its place that a killed process had written, but not put there: it can have
 * the only refresh token that is still accepted. Call it with the lock. */
void mq_oauth_file_adopt(const struct mq_oauth_paths *paths, const char *name);
/* Creates the file that a new token is written into, with room for it: a token that cannot be
 * stored is not asked for. Call it with the lock. */
enum mq_status mq_oauth_file_reserve(const struct mq_oauth_paths *paths, int *fd,
                                     struct mq_error *err);
/* Writes the members into that file, and puts it in the place of the account's. Closes it. */
enum mq_status mq_oauth_file_replace(const struct mq_oauth_paths *paths, int fd,
                                     const struct mq_strings *members, struct mq_error *err);
void mq_oauth_file_discard(const struct mq_oauth_paths *paths, int fd);

/* ---- grant.c ---- */

/* Begins the request for a token that the account's grant names. */
enum mq_status mq_oauth_grant_begin(const struct mq_strings *members, struct mq_token_request **out,
                                    struct mq_error *err);
/* Takes the tokens of an answer into the members. MQ_TRANSPORT: it has none; `failure` says why,
 * without a secret. */
enum mq_status mq_oauth_grant_take(const struct mq_token_answer *answer, const char *name,
                                   struct mq_strings *members, char failure[MQ_OAUTH_FAILURE_MAX]);
/* Appends the cure: "log in again: mailqueue login …". */
void mq_oauth_append_login(char failure[MQ_OAUTH_FAILURE_MAX], const char *name,
                           const struct mq_strings *members);

/* ---- assertion.c ---- */

/* Appends a JWT (RFC 7523) that shows the token endpoint that we have the key in the account's PEM
 * file, which also has its certificate. The time is in seconds since 1970. */
enum mq_status mq_oauth_assertion(const struct mq_strings *members, int64_t now_s,
                                  struct mq_buffer *out, struct mq_error *err);

#endif
