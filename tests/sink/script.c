/* Decides when a rule of the script fires. */
#include "script.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

static bool in_range(struct range range, int64_t value)
{
    return value >= range.from && value <= range.to;
}

static bool glob_matches(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

/* At data and later the argument is any of the accepted recipients. */
static bool argument_matches(const struct rule *rule, const struct conn *c, const struct event *e)
{
    if (e->stage != STAGE_DATA && e->stage != STAGE_BODY && e->stage != STAGE_DOT) {
        return glob_matches(rule->match, e->argument);
    }
    const char *recipient = c->mail.recipients.data;
    for (size_t i = 0; i < c->mail.count; i++) {
        if (glob_matches(rule->match, recipient)) {
            return true;
        }
        recipient += strlen(recipient) + 1;
    }
    return false;
}

/* The conditions that do not depend on how often the rule was asked before. */
static bool conditions_hold(const struct rule *rule, struct conn *c, const struct event *e)
{
    const struct script *script = c->sink->script;
    int64_t age_ms = (clock_monotonic_ns() - script->loaded_ns) / 1000000;

    if (rule->stage == STAGE_ANY) {
        if (e->stage <= STAGE_CONNECT || e->stage == STAGE_BODY || e->stage == STAGE_IDLE) {
            return false;
        }
    } else if (rule->stage != e->stage) {
        return false;
    }
    if (rule->match != NULL && !argument_matches(rule, c, e)) {
        return false;
    }
    if (rule->from != NULL && !glob_matches(rule->from, c->mail.from)) {
        return false;
    }
    if (rule->testid != NULL && !glob_matches(rule->testid, c->message.testid)) {
        return false;
    }
    if (rule->tls >= 0 && (rule->tls == 1) != (c->ssl != NULL)) {
        return false;
    }
    if (e->stage == STAGE_IDLE && e->idle_ms < rule->after_ms) {
        return false;
    }
    if (e->stage == STAGE_BODY && (e->body_before >= rule->bytes || e->body_now < rule->bytes)) {
        return false;
    }
    return in_range(rule->connection, (int64_t)c->number) && in_range(rule->mails, c->mails) &&
           in_range(rule->connection_nth, c->stage_count[e->stage]) &&
           in_range(rule->open, (int64_t)c->sink->counters.open) &&
           in_range(rule->window_ms, age_ms);
}

static bool rule_fires(struct rule *rule, struct conn *c, const struct event *e)
{
    if (!conditions_hold(rule, c, e)) {
        return false;
    }
    rule->seen++;
    if (!in_range(rule->nth, rule->seen)) {
        return false;
    }
    if (rule->every > 1 && rule->seen % rule->every != 0) {
        return false;
    }
    if (rule->times >= 0 && rule->fired >= rule->times) {
        return false;
    }
    if (rule->percent < 100) {
        double drawn = (double)(random_next(&c->sink->random) >> 11) / 9007199254740992.0;
        if (drawn * 100 >= rule->percent) {
            return false;
        }
    }
    rule->fired++;
    return true;
}

const struct rule *script_match(struct conn *c, const struct event *event)
{
    struct script *script = c->sink->script;
    if (script == NULL || !script->stages[event->stage]) {
        return NULL;
    }
    for (size_t i = 0; i < script->count; i++) {
        if (rule_fires(&script->rules[i], c, event)) {
            return &script->rules[i];
        }
    }
    return NULL;
}

int64_t script_next_idle(const struct script *script, int64_t idle_ms)
{
    int64_t next = -1;
    if (script == NULL || !script->stages[STAGE_IDLE]) {
        return -1;
    }
    for (size_t i = 0; i < script->count; i++) {
        const struct rule *rule = &script->rules[i];
        if (rule->stage == STAGE_IDLE && rule->after_ms > idle_ms &&
            (next < 0 || rule->after_ms < next)) {
            next = rule->after_ms;
        }
    }
    return next;
}

static void script_add(struct script *script, const struct rule *rule)
{
    script->rules = memory(script->rules, (script->count + 1) * sizeof *rule);
    script->rules[script->count++] = *rule;
    if (rule->stage == STAGE_ANY) {
        for (int stage = 0; stage < STAGES; stage++) {
            script->stages[stage] = true;
        }
    } else {
        script->stages[rule->stage] = true;
    }
}

static void script_free(struct script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        rule_clear(&script->rules[i]);
    }
    free(script->rules);
    free(script);
}

struct script *script_load(const char *path, char *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(error, 256, "%.200s: cannot be read", path);
        return NULL;
    }
    struct script *script = memory(NULL, sizeof *script);
    *script = (struct script){.loaded_ns = clock_monotonic_ns()};
    char *line = NULL;
    size_t size = 0;
    for (int number = 1; getline(&line, &size, file) >= 0; number++) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *start = line + strspn(line, " \t");
        if (*start == '\0' || *start == '#') {
            continue;
        }
        struct rule rule;
        char reason[160];
        if (!rule_parse(&rule, start, reason)) {
            snprintf(error, 256, "line %d: %s", number, reason);
            rule_clear(&rule);
            script_free(script);
            script = NULL;
            break;
        }
        rule.line = number;
        script_add(script, &rule);
    }
    free(line);
    fclose(file);
    return script;
}
