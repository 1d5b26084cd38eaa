/* Reads the command line, and prints --help. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"

static const char help[] =
    "usage: mq-sink [options]      a scripted SMTP server for tests, on loopback\n"
    "\n"
    "where\n"
    "  --host ADDRESS       numeric address to listen on (127.0.0.1)\n"
    "  --port N             0 picks a free one (0)\n"
    "  --port-file FILE     the port, written when connections are accepted, atomically\n"
    "  --backlog N          connections waiting for accept (4096)\n"
    "  --receive-buffer N   SO_RCVBUF: a small one makes 'stop-reading' bite soon\n"
    "  --hostname NAME      in greeting and EHLO (mq-sink.test)\n"
    "  --die-with-parent    SIGTERM to itself when its parent dies\n"
    "\n"
    "what is recorded\n"
    "  --log FILE           appended, before the reply is sent, one line per accepted recipient:\n"
    "                       time TAB connection TAB X-Test-Id TAB recipient TAB sender TAB size\n"
    "                       TAB fnv1a64. time: unix seconds with microseconds; X-Test-Id: the\n"
    "                       header's value, '-' without one; sender: '<>' when empty; size and\n"
    "                       hash (64-bit FNV-1a, hex) of the message without dot-stuffing, with\n"
    "                       its last CRLF. Lines that do not start with a digit are notes:\n"
    "                       violation TAB time TAB connection TAB kind TAB detail\n"
    "                       reload TAB time TAB rules TAB 'ok' or the error\n"
    "                       violation kinds: bare-lf bare-cr nul unstuffed-dot long-line 8bit\n"
    "                       long-command unknown-command syntax sequence parameter utf8-address\n"
    "                       not-offered pipelining early-input\n"
    "  --transcript FILE    time TAB connection TAB direction TAB line; direction '<' received,\n"
    "                       '>' sent, '*' event. Credentials stand in it in clear.\n"
    "  --save DIR           each accepted message: NNNNNNNN.eml (CRLF, unstuffed) and .env\n"
    "  --stats              counters to stdout on SIGUSR1 and at the end\n"
    "  --stats-file FILE    the same to a file, atomically\n"
    "\n"
    "what is offered and allowed\n"
    "  --no-pipelining --no-8bitmime --no-smtputf8 --no-size --no-enhanced\n"
    "  --size N             largest message, octets (67108864; 0: no limit)\n"
    "  --max-connections N          beyond: 421 as greeting\n"
    "  --max-mails-per-connection N beyond: 421 to MAIL\n"
    "  --max-recipients N           beyond: 452 4.5.3 to RCPT\n"
    "  --auth USER:PASSWORD         offer AUTH\n"
    "  --auth-mechanisms LIST       'PLAIN LOGIN' (also known: XOAUTH2)\n"
    "  --auth-tls-only              offer AUTH under TLS only\n"
    "  --require-auth --require-tls 530 to MAIL without\n"
    "  --cert FILE --key FILE       PEM; offer STARTTLS\n"
    "  --smtps                      TLS from the first byte\n"
    "  --tls-version V              1.0, 1.1, 1.2 or 1.3 and no other\n"
    "\n"
    "faults\n"
    "  --delay-dot-ms N[-M]  before a 2xx to the final dot; the log is written before the delay\n"
    "  --decide-late         the log is written after the delay, if the client is still there\n"
    "  --script FILE         rules, the first that matches decides; SIGHUP reads it again\n"
    "  --seed N              for percent= and ranges of delays (1)\n"
    "\n"
    "script: at STAGE [condition…] [action…]     ('#' starts a comment)\n"
    "  stages      accept connect ehlo helo starttls authcmd auth mail rcpt data body dot rset\n"
    "              noop quit idle any\n"
    "  conditions  match=GLOB from=GLOB testid=GLOB connection=N[-M] conn-nth=N[-M] mails=N[-M]\n"
    "              tls=0|1 nth=N[-M] after=N every=N times=N percent=P from-ms=N until-ms=N\n"
    "              after-ms=N (idle) bytes=N (body) open=N[-M] (connections)\n"
    "  actions     reply=\"…\" raw=\"…\" behind=\"…\" partial=N split=N split-ms=N repeat=N\n"
    "              delay-ms=N[-M] hide=CAPABILITY,… accept=0|1\n"
    "              close drop reset stall stop-reading (in place of a reply)\n"
    "              then=close|drop|reset|stall|stop-reading|keep then-delay-ms=N[-M]\n"
    "  README.md explains them by example.\n"
    "\n"
    "SIGTERM, SIGINT: exit 0. SIGHUP: read the script again (a note in the log tells when).\n"
    "SIGUSR1: counters.\n";

enum kind { TEXT, FLAG, NUMBER, SMALL, WITHOUT, DELAY, AUTH, HELP };

#define FIELD(name) offsetof(struct options, name)

/* Numbers are at most `value`; for WITHOUT, `value` is the capability that is not offered. */
static const struct entry {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t value;
} table[] = {
    {"host", TEXT, FIELD(host), 0},
    {"port", SMALL, FIELD(port), 65535},
    {"port-file", TEXT, FIELD(port_file), 0},
    {"backlog", SMALL, FIELD(backlog), 65535},
    {"receive-buffer", SMALL, FIELD(receive_buffer), INT32_MAX},
    {"hostname", TEXT, FIELD(hostname), 0},
    {"die-with-parent", FLAG, FIELD(die_with_parent), 0},
    {"log", TEXT, FIELD(log), 0},
    {"transcript", TEXT, FIELD(transcript), 0},
    {"save", TEXT, FIELD(save_dir), 0},
    {"stats", FLAG, FIELD(stats), 0},
    {"stats-file", TEXT, FIELD(stats_file), 0},
    {"no-pipelining", WITHOUT, 0, CAP_PIPELINING},
    {"no-8bitmime", WITHOUT, 0, CAP_8BITMIME},
    {"no-smtputf8", WITHOUT, 0, CAP_SMTPUTF8},
    {"no-size", WITHOUT, 0, CAP_SIZE},
    {"no-enhanced", WITHOUT, 0, CAP_ENHANCED},
    {"size", NUMBER, FIELD(size), INT64_MAX},
    {"max-connections", NUMBER, FIELD(max_connections), INT64_MAX},
    {"max-mails-per-connection", NUMBER, FIELD(max_mails), INT64_MAX},
    {"max-recipients", NUMBER, FIELD(max_recipients), INT64_MAX},
    {"auth", AUTH, 0, 0},
    {"auth-mechanisms", TEXT, FIELD(auth_mechanisms), 0},
    {"auth-tls-only", FLAG, FIELD(auth_tls_only), 0},
    {"require-auth", FLAG, FIELD(require_auth), 0},
    {"require-tls", FLAG, FIELD(require_tls), 0},
    {"cert", TEXT, FIELD(certificate), 0},
    {"key", TEXT, FIELD(key), 0},
    {"smtps", FLAG, FIELD(smtps), 0},
    {"tls-version", TEXT, FIELD(tls_version), 0},
    {"delay-dot-ms", DELAY, FIELD(delay_dot_ms), 0},
    {"decide-late", FLAG, FIELD(decide_late), 0},
    {"script", TEXT, FIELD(script), 0},
    {"seed", NUMBER, FIELD(seed), INT64_MAX},
    {"help", HELP, 0, 0},
};

enum { ENTRIES = sizeof table / sizeof table[0] };

bool number_parse(const char *text, int64_t *number)
{
    char *end = NULL;
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0') {
        return false;
    }
    *number = value;
    return true;
}

bool range_parse(const char *text, struct range *range)
{
    char from[24];
    struct range parsed;
    size_t length = strcspn(text, "-");
    if (length >= sizeof from) {
        return false;
    }
    memcpy(from, text, length);
    from[length] = '\0';
    if (!number_parse(from, &parsed.from)) {
        return false;
    }
    parsed.to = parsed.from;
    if (text[length] == '-') {
        parsed.to = INT64_MAX;
        if (text[length + 1] != '\0' &&
            (!number_parse(text + length + 1, &parsed.to) || parsed.to < parsed.from)) {
            return false;
        }
    }
    *range = parsed;
    return true;
}

static int64_t number(const struct entry *entry, const char *text)
{
    int64_t value;
    if (!number_parse(text, &value) || value > entry->value) {
        fail(64, "--%s: a number from 0 to %lld, not '%s'", entry->name, (long long)entry->value,
             text);
    }
    return value;
}

static void auth_set(struct options *options, const char *text)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL) {
        fail(64, "--auth: USER:PASSWORD");
    }
    options->auth_user = text_copy(text, (size_t)(colon - text));
    options->auth_password = colon + 1;
}

static void option_set(struct options *options, const struct entry *entry, const char *text)
{
    void *field = (char *)options + entry->offset;
    switch (entry->kind) {
    case TEXT:
        *(const char **)field = text;
        break;
    case FLAG:
        *(bool *)field = true;
        break;
    case NUMBER:
        *(int64_t *)field = number(entry, text);
        break;
    case SMALL:
        *(int *)field = (int)number(entry, text);
        break;
    case WITHOUT:
        options->capabilities &= ~(unsigned)entry->value;
        break;
    case DELAY:
        if (!range_parse(text, field)) {
            fail(64, "--%s: N or N-M, not '%s'", entry->name, text);
        }
        break;
    case AUTH:
        auth_set(options, text);
        break;
    case HELP:
        fputs(help, stdout);
        exit(0);
    }
}

void options_parse(struct options *options, int argc, char **argv)
{
    struct option names[ENTRIES + 1] = {0};
    int index = 0, code;
    for (size_t i = 0; i < ENTRIES; i++) {
        enum kind kind = table[i].kind;
        names[i].name = table[i].name;
        names[i].has_arg = kind != FLAG && kind != WITHOUT && kind != HELP;
    }
    *options = (struct options){
        .host = "127.0.0.1",
        .hostname = "mq-sink.test",
        .auth_mechanisms = "PLAIN LOGIN",
        .backlog = 4096,
        .size = 64 << 20,
        .capabilities = CAP_PIPELINING | CAP_8BITMIME | CAP_SMTPUTF8 | CAP_SIZE | CAP_ENHANCED |
                        CAP_STARTTLS | CAP_AUTH,
        .seed = 1,
    };
    while ((code = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (code != 0) {
            fail(64, "see mq-sink --help");
        }
        option_set(options, &table[index], optarg);
    }
    if (optind < argc) {
        fail(64, "unexpected argument '%s'; see mq-sink --help", argv[optind]);
    }
    if (options->smtps && options->certificate == NULL) {
        fail(64, "--smtps needs --cert");
    }
}
