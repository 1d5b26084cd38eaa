<?php

// Database servers for rows, one for each row; the same as the tests'.

declare(strict_types=1);

namespace Torture;

require_once dirname(__DIR__) . '/lib/pgsql.inc';
require_once dirname(__DIR__) . '/lib/mariadb.inc';

use MailQueueTest\MariaDB;
use MailQueueTest\PostgreSQL;

/** Room for as many connections as a row has processes. */
function postgresql(string $clock = ''): PostgreSQL
{
    $missing = PostgreSQL::missing();
    $missing === '' || throw new Failure($missing);
    return new PostgreSQL(['max_connections' => '100', 'shared_buffers' => '128MB'], $clock);
}

function mariadb(): MariaDB
{
    $missing = MariaDB::missing();
    $missing === '' || throw new Failure($missing);
    $server = new MariaDB(['innodb-flush-log-at-trx-commit' => '1', 'max-connections' => '100']);
    $server->restart(); // MariaDB cannot recover new files if it is killed in its first second
    return $server;
}
