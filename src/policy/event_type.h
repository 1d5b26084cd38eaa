/* What the log and onEvent tell of a job, a relay or a run: symbol and name. */
#ifndef MQ_POLICY_EVENT_TYPE_H
#define MQ_POLICY_EVENT_TYPE_H

#define MQ_EVENT_TYPES(X)                                                                      \
    X(CLAIMED, "claimed")                                                                      \
    X(SENT, "sent")           /* recipients were accepted */                                   \
    X(TRY_LATER, "try_later") /* an attempt failed; next_attempt_at says when */               \
    X(REFUSED, "refused")     /* recipients were refused for good */                           \
    X(PARKED, "parked")                                                                        \
    X(UNCERTAIN, "uncertain") /* nobody knows whether the attempt succeeded */                 \
    X(EXPIRED, "expired")                                                                      \
    X(ORPHAN, "orphan")         /* its reference is gone: deleted */                           \
    X(SUPPRESSED, "suppressed") /* recipients get no mail: suppress/suppress.h */              \
    X(RESENT, "resent")         /* a person sent it again as a new mail; not in the log */     \
    X(STALE, "stale")           /* a result came after the lease was lost: not written */      \
    X(RELAY_TROUBLE, "relay_trouble")                                                          \
    X(RELAY_SESSIONS, "relay_sessions") /* the relay gets fewer sessions, or all again */      \
    X(RELEASED, "released")             /* went back as before the claim */                    \
    X(RECOVERED, "recovered")           /* taken back from a worker that is gone, untouched */ \
    X(RUN, "run")                       /* a worker run ended */
#define MQ_EVENT_SYMBOL(symbol, name) MQ_EVENT_##symbol,
enum mq_event_type { MQ_EVENT_TYPES(MQ_EVENT_SYMBOL) MQ_EVENT_TYPE_COUNT };

#endif
