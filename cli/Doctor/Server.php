<?php

declare(strict_types=1);

namespace MailQueue\Cli\Doctor;

use MailQueue\Cli\Terminal;

/** Checks of a database server. */
final class Server extends Check
{
    private const CLOCK_SLACK_S = 5;
    private const TRANSACTION_MAX_S = 3600;

    /** @param array<string, mixed> $server from diagnostics(); old versions are refused before */
    public function look(array $server): void
    {
        $isPgsql = $server['kind'] === 'pgsql';
        $isMariaDb = str_contains($server['version'], 'MariaDB');
        $name = $isPgsql ? 'PostgreSQL' : ($isMariaDb ? 'MariaDB' : 'MySQL');
        $this->add(true, "$name {$server['version']}"
            . ($server['encrypted'] ? ', by TLS' : ', without TLS'), '');
        $this->add(
            !$server['standby'] && !$server['readOnly'],
            $server['standby'] ? 'the server is a standby, which only reads'
                : 'the server ' . ($server['readOnly'] ? 'is read-only' : 'can be written'),
            $server['standby'] ? 'Give the DSN of the primary server (PostgreSQL: hosts with '
                . 'commas between and target_session_attrs=read-write find it).'
                : ($isPgsql ? 'Look at default_transaction_read_only of the server, database and '
                    . 'role.' : 'Give the DSN of the primary server, or look at its read_only.')
        );
        $off = abs($server['ahead']);
        $this->add(
            $off <= self::CLOCK_SLACK_S,
            sprintf('the server\'s clock is %.1F s %s this '
            . 'host\'s', $off, $server['ahead'] < 0 ? 'behind' : 'ahead of'),
            'The queue goes by the server\'s clock, and sendAt by that of the host that enqueues: '
            . 'check both (timedatectl).'
        );
        if ($isPgsql) {
            !$server['sharesSessions'] || $this->add(
                false,
                'a pooler gives each transaction another session (pgbouncer\'s pool_mode = '
                . 'transaction)',
                'The worker needs the server\'s own address, or one with pool_mode = session: '
                . 'its slot is a session lock. enqueue() alone may use the pooler, by a '
                . 'DSN or by a PDO with PDO::ATTR_EMULATE_PREPARES.'
            );
            $this->vacuum($server);
        }
    }

    /** @param array<string, mixed> $server */
    private function vacuum(array $server): void
    {
        $this->add(
            $server['autovacuum'],
            'autovacuum is ' . ($server['autovacuum'] ? 'on' : 'off'),
            'A queue changes all the time and becomes slow without it: autovacuum = on.'
        );
        $age = $server['oldestTransaction'];
        $this->add(
            $age === null || $age <= self::TRANSACTION_MAX_S,
            $age === null
            ? 'no transaction is open for long'
            : 'the oldest open transaction began ' . Terminal::span($age) . ' ago',
            'Rows of mail that was sent cannot be removed before it ends: look for it in '
            . 'pg_stat_activity, by xact_start.'
        );
    }
}
