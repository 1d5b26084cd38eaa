/* A machine that loses its power, for the tests of the SQLite driver: a VFS before SQLite's own
 * that knows what is on the disk.
 *
 * As pessimistic as POSIX: what was written to a file is on the disk with a sync of that file, and
 * a name (or that it is gone) with a sync of the directory. SQLite syncs the directory with the
 * first sync of a journal or WAL that it opened to be created, and with a deletion that asks for
 * it; the sync of a new database does not. Nothing is really synced, so that tests are quick. One
 * process, one thread. */
#ifndef MQ_TESTS_POWER_VFS_H
#define MQ_TESTS_POWER_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum power_kind { POWER_MAIN, POWER_JOURNAL, POWER_WAL, POWER_KINDS };

struct power_counts {
    int syncs[POWER_KINDS];
    int directories;
    int operations; /* writes, truncations, syncs, deletions */
};

/* Makes it the default; false: failed. */
bool power_install(void);
/* With nothing open, as the two that follow. */
void power_uninstall(void);
/* What is there now is on the disk; counts begin again, and the power is on. */
void power_settle(void);
/* What is found when the power comes back. Seed 0: nothing that was not synced; otherwise each
 * write is there, is not, or is in part (sectors of 512 bytes), and each name, by chance. */
void power_restore(uint32_t seed);

/* The power goes off with the n-th operation from now (1: the next), which does nothing any more.
 * From then on each one fails, and each opening. */
void power_off_at(int operation);
void power_off(void);
bool power_is_off(void);
/* The next `count` syncs of such files fail. `lost`: what it should have written is not written by
 * later syncs either, as with Linux, which marks pages clean whose writing failed; nor what is
 * written there later, as with ext4 where the file was to grow. */
void power_fail_syncs(enum power_kind kind, int count, bool lost);
/* The n-th operation from now fails with EIO and does nothing, reads and openings counted too; with
 * `lasting` all that follow, until power_heal(). What a sync of a WAL should have written is lost
 * then, as above. */
void power_fail_at(int operation, bool lasting);
bool power_has_failed(void); /* whether it came to that */
void power_heal(void);
/* Called at the beginning of each sync, but not of those within it; NULL: no more. */
void power_on_sync(void (*hook)(void *context, enum power_kind kind), void *context);
const struct power_counts *power_counted(void);

#endif
