--TEST--
A database password never appears in messages, traces, dumps, logs, the process list, phpinfo() or the command line's output
--EXTENSIONS--
mailqueue
pdo_pgsql
--SKIPIF--
<?php require __DIR__ . '/../lib/pgsql.inc'; die(MailQueueTest\PostgreSQL::missing()); ?>
--INI--
zend.exception_ignore_args=0
zend.exception_string_param_max_len=1000
--FILE--
<?php
require __DIR__ . '/dsn.inc';

$server = new PasswordServer();
$dsn = $server->dsn();
$quoted = "'" . addcslashes(SECRET, "'\\") . "'";
/** The positions in a text at which the secret, or a separate piece of it, occurs. */
$tell = function (string $what, string $text): void {
    foreach ([SECRET, addcslashes(SECRET, "'\\"), "s3cr't", 's3cr', 'rd=9', 'wrong-one'] as $piece) {
        if (str_contains($text, $piece)) {
            echo "$what has $piece: ", substr($text, 0, 2000), "\n";
            return;
        }
    }
    echo "$what: ", strlen($text) > 0 ? 'clean' : 'empty', "\n";
};
/**
 * Everything visible of an exception and its previous ones; of stack frames only those that are not
 * this test's, because its own variables contain the secret.
 */
$all = function (?Throwable $e): string {
    $text = '';
    for (; $e !== null; $e = $e->getPrevious()) {
        $text .= get_class($e) . $e->getMessage();
        foreach ($e->getTrace() as $frame) {
            $isOurs = in_array($frame['class'] ?? '', ['MailQueue', 'PDO', 'PDOStatement'], true);
            $text .= $isOurs ? "$frame[function] " . print_r($frame['args'] ?? [], true) : '';
        }
    }
    return $text;
};
$throws = function (callable $call) use ($all): string {
    try {
        $call();
        return 'nothing thrown: rd=9';
    } catch (Throwable $e) {
        return $all($e);
    }
};

echo "-- exceptions\n";
$credentials = ['MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD' => SECRET];
$wrong = ['MAILQUEUE_DATABASE_PASSWORD' => 'wrong-one'] + $credentials;
$tell('refused', with_environment($wrong, fn() => $throws(fn() => new MailQueue($dsn))));
$tell('refused, in the DSN', $throws(fn() => new MailQueue("$dsn;user=app;password=wrong-one")));
$tell('unquoted in the DSN', $throws(fn() => new MailQueue("$dsn;user=app;password=" . SECRET)));
$tell('an open quote', $throws(fn() => new MailQueue("$dsn;password='" . SECRET . "x")));
$tell('cut by a semicolon', $throws(fn() => new MailQueue("$dsn;password=x;s3cr=rd=9")));
$tell('MySQL, cut by a semicolon', $throws(fn() => new MailQueue('mysql:host=x;password=x;s3cr=rd=9')));
$tell('the key of a certificate', $throws(fn() => new MailQueue("$dsn;sslpassword=$quoted;password=$quoted;user=none")));
$tell('another kind', $throws(fn() => new MailQueue('postgres://app:s3cr@db/app')));
foreach (['postgres://app:s3cr@db/app', 'PGSQL://app:s3cr@db/app', 'Odbc:x;Pwd=s3cr'] as $given) {
    $tell("tables() $given[0]", $throws(fn() => MailQueue\Internal::tables($given)));
}
$tell('an argument beside it', $throws(fn() => new MailQueue("$dsn;password=$quoted", busyTimeout: -1)));
$tell('tables()', $throws(fn() => MailQueue\Internal::tables("$dsn;user=app;password=wrong-one")));
$tell('connect()', $throws(fn() => MailQueue\Internal::connect("$dsn;user=app;password=wrong-one")));
$tell('connect(), refused', with_environment($wrong, fn() => $throws(fn() => MailQueue\Internal::connect($dsn))));
echo with_environment($credentials, fn() => MailQueue\Internal::connect($dsn))->query('SELECT current_user')->fetchColumn(), "\n";
/* Before PHP 8.2 no parameter can be marked as sensitive: the marked ones must not contain it. */
try {
    new MailQueue("$dsn;user=app;password=wrong-one");
} catch (Exception $e) {
    $shown = $e->getTrace()[0]['args'][0];
    $shown = is_object($shown) ? $shown->getValue() : $shown;
    $tell('the argument in the trace', $shown);
    echo $shown === $dsn ? "it is the DSN alone\n" : "$shown\n";
}
$queue = with_environment($credentials, fn() => new MailQueue($dsn));
$own = new MailQueue("$dsn;user=app;password=$quoted");
$own->migrate();
$server->root('app')->exec('ALTER TABLE mail_queue RENAME TO other');
$tell('a statement that fails', $throws(fn() => $own->enqueue(mail_fields())));
$server->root('app')->exec('ALTER TABLE other RENAME TO mail_queue');

echo "-- objects\n";
ob_start();
var_dump($queue, $own);
print_r($own);
var_export((array) $own);
echo json_encode($own), print_r(get_mangled_object_vars($own), true), print_r($own->diagnostics(), true), print_r($own->stats(), true);
$tell('dumps', ob_get_clean());
$text = '';
set_error_handler(function () use (&$text): bool {
    $text .= print_r(array_map(fn(array $frame): array => ['object' => null] + $frame, debug_backtrace()), true);
    return true;
});
$throws(fn() => new MailQueue("pgsql:host=nowhere.invalid;password=$quoted"));
$throws(fn() => new MailQueue("mysql:host=nowhere.invalid;password=$quoted"));
restore_error_handler();
echo "handlers see $text.\n";

echo "-- php.ini\n";
$settings = ['-d', 'mailqueue.database="' . addcslashes("$dsn;user=app;password=wrong-one", '"\\') . '"',
    '-d', 'mailqueue.database_user=wrong-one', '-d', 'mailqueue.database_password=wrong-one'];
$said = [];
foreach ([['-i'], ['--ri', 'mailqueue'], ['-r', 'phpinfo();'], ['-r', '$_SERVER = []; try { MailQueue::default(); } catch (Exception $e) { echo $e; }']] as $words) {
    $process = proc_open(php_command(...$settings, ...$words), [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, null, ['PATH' => getenv('PATH')] + sanitizer_environment());
    $said[] = stream_get_contents($pipes[1]);
    $tell(end($words) === 'mailqueue' ? '--ri' : substr($words[0] . ' ' . ($words[1] ?? ''), 0, 12), end($said));
}
echo str_replace($server->host, 'HOST', implode("\n", preg_grep('/^mailqueue.database/', explode("\n", $said[1])))), "\n";

echo "-- the command line\n";
file_put_contents(temp_home() . '/password', SECRET);
chmod(temp_home() . '/password', 0600);
$file = ['MAILQUEUE_DATABASE' => $dsn, 'MAILQUEUE_DATABASE_USER' => 'app', 'MAILQUEUE_DATABASE_PASSWORD_FILE' => temp_home() . '/password'];
foreach ([$file, $credentials + ['MAILQUEUE_DATABASE' => $dsn], ['MAILQUEUE_DATABASE' => "$dsn;user=app;password=$quoted"],
    ['MAILQUEUE_DATABASE' => "$dsn;user=app;password=wrong-one"]] as $i => $environment) {
    foreach ([['migrate'], ['status'], ['status', '--json'], ['doctor'], ['doctor', '--json'], ['list'], ['config'], ['work', '--transport', 'null://null']] as $words) {
        [$code, $output, $errors] = cli($words, $environment);
        $words[0] === 'work' || $codes[$i][] = $code;
        foreach ([SECRET, 's3cr', 'rd=9', 'wrong-one'] as $piece) {
            if (str_contains($output . $errors, $piece)) {
                echo implode(' ', $words), " has $piece: $output$errors\n";
            }
        }
    }
    echo implode(' ', $codes[$i]), "\n";
}
foreach (["$dsn;user=app;password=$quoted", "$dsn password = x", 'mysql:host=x;password=x', "$dsn;sslpassword=x"] as $given) {
    [$code, $output, $errors] = cli(['status', '--database', $given]);
    echo "exit $code, ", strtok($errors, ':'), strtok('.'), "\n";
}
foreach (["PGSQL:host='db'password =s3cr", 'PGSQL://u:s3cr@h/db', 'Postgres://u:s3cr@h/db', 'pgsq:host=db;password=s3cr'] as $given) {
    foreach ([['status', '--database', $given], ['migrate-store', $given, '/nowhere.sqlite'], ['status'], ['doctor']] as $words) {
        [$code, $output, $errors] = cli($words, count($words) === 1 ? ['MAILQUEUE_DATABASE' => $given] : []);
        echo "$code ", str_contains($output . $errors, 's3cr') ? "$output$errors\n" : '';
    }
    echo "$given\n";
}
$found = '';
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator(temp_home(), FilesystemIterator::SKIP_DOTS)) as $path => $about) {
    $found .= basename($path) === 'password' ? '' : file_get_contents($path);
}
echo str_contains($found, 's3cr') ? "in a file\n" : "in no file\n";
?>
--EXPECT--
-- exceptions
refused: clean
refused, in the DSN: clean
unquoted in the DSN: clean
an open quote: clean
cut by a semicolon: clean
MySQL, cut by a semicolon: clean
the key of a certificate: clean
another kind: clean
tables() p: clean
tables() P: clean
tables() O: clean
an argument beside it: clean
tables(): clean
connect(): clean
connect(), refused: clean
app
the argument in the trace: clean
it is the DSN alone
a statement that fails: clean
-- objects
dumps: clean
handlers see .
-- php.ini
-i : clean
--ri: clean
-r phpinfo(): clean
-r $_SERVER : clean
mailqueue.database => pgsql:host=HOST;dbname=app => pgsql:host=HOST;dbname=app
mailqueue.database_user => set => set
mailqueue.database_password => set => set
mailqueue.database_ssl_ca => no value => no value
mailqueue.database_persistent => Off => Off
-- the command line
0 0 0 1 1 0 0
0 0 0 0 0 0 0
0 0 0 0 0 0 0
78 78 78 1 1 78 78
exit 64, mailqueue No password in --database: every user of this machine can read it there (ps)
exit 64, mailqueue No password in --database: every user of this machine can read it there (ps)
exit 64, mailqueue No password in --database: every user of this machine can read it there (ps)
exit 64, mailqueue No password in --database: every user of this machine can read it there (ps)
64 64 75 1 PGSQL:host='db'password =s3cr
64 64 78 1 PGSQL://u:s3cr@h/db
64 64 78 1 Postgres://u:s3cr@h/db
64 64 73 1 pgsq:host=db;password=s3cr
in no file
