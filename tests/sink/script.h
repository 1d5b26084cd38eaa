/* The script: which replies and faults the sink plays, and when. The language is in README.md. */
#ifndef MQ_SINK_SCRIPT_H
#define MQ_SINK_SCRIPT_H

#include "sink.h"

enum stage {
    STAGE_ACCEPT,
    STAGE_CONNECT,
    STAGE_EHLO,
    STAGE_HELO,
    STAGE_STARTTLS,
    STAGE_AUTHCMD,
    STAGE_AUTH,
    STAGE_MAIL,
    STAGE_RCPT,
    STAGE_DATA,
    STAGE_BODY,
    STAGE_DOT,
    STAGE_RSET,
    STAGE_NOOP,
    STAGE_QUIT,
    STAGE_IDLE,
    STAGES,
    STAGE_ANY = STAGES, /* in a rule only: every command's stage */
};

enum action {
    ACTION_NONE,
    ACTION_KEEP,  /* no reply, and a 421 does not close either */
    ACTION_CLOSE, /* FIN, then reads and drops the rest */
    ACTION_DROP,  /* close(2): FIN, or RST where bytes were left unread */
    ACTION_RESET, /* RST */
    ACTION_STALL, /* reads and drops, never answers */
    ACTION_STOP_READING,
};

struct rule {
    int line;
    enum stage stage;
    /* conditions */
    char *match, *from, *testid;
    struct range connection, connection_nth, open, mails, window_ms, nth;
    int64_t every, times, after_ms, bytes;
    double percent;
    int tls; /* -1: either */
    /* actions */
    struct buffer reply, behind; /* as sent, line ends included */
    bool has_reply;
    bool silent; /* an action in place of a reply */
    enum action then;
    int accept; /* at the dot: -1 as the reply's code says, 0 no, 1 yes */
    unsigned hide;
    struct range delay_ms, then_delay_ms;
    int64_t partial, split, split_ms, repeat; /* partial -1: whole */
    /* counted while it runs */
    int64_t seen, fired;
};

struct script {
    struct rule *rules;
    size_t count;
    int64_t loaded_ns;
    bool stages[STAGES];  /* a rule is about this stage */
    struct script *older; /* connections may still play its rules: never freed */
};

struct event {
    enum stage stage;
    const char *argument; /* address, or the command's argument */
    int64_t body_before, body_now, idle_ms;
};

/* NULL, with a message in error (at least 256 bytes), if the file cannot be read or understood. */
struct script *script_load(const char *path, char *error);
/* One line of the language into *rule; false with the reason in error. */
bool rule_parse(struct rule *rule, const char *line, char *error);
void rule_clear(struct rule *rule);
/* The rule that decides, counted as fired; NULL: the sink's own behaviour. */
const struct rule *script_match(struct conn *c, const struct event *event);
/* Milliseconds of idleness after which a rule may fire, beyond idle_ms; -1: none. */
int64_t script_next_idle(const struct script *script, int64_t idle_ms);
/* Capabilities by names separated by commas; 0: unknown name. */
unsigned capability_mask(const char *names);
const char *stage_name(enum stage stage);

#endif
