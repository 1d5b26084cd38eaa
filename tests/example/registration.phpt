--TEST--
The registration site: mail enqueued in the request, composed and sent by cron, removed with its registration; the queue never makes a request fail
--EXTENSIONS--
mailqueue
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
require __DIR__ . '/../lib/servers.inc';

$root = dirname(__DIR__, 2) . '/examples/registration';
$dir = temp_directory();
$environment = ['PATH' => getenv('PATH'), 'REGISTRATION_DATABASE' => "$dir/site.sqlite", 'REGISTRATION_URL' => 'http://club.example.org']
    + sanitizer_environment();
[$address] = MailQueueTest\web_server(php_command('-d', "error_log=$dir/error.log"), ['-t', "$root/public", "$root/public/index.php"], $environment);

function post(string $path, array $fields): array
{
    global $address;
    $stream = fopen("http://$address$path", 'r', false, stream_context_create(['http' => ['method' => 'POST', 'ignore_errors' => true,
        'header' => 'Content-Type: application/x-www-form-urlencoded', 'content' => http_build_query($fields)]]));
    return [explode(' ', stream_get_meta_data($stream)['wrapper_data'][0])[1], stream_get_contents($stream)];
}
function register(string $name, string $email): array
{
    [$status, $page] = post('/register', ['name' => $name, 'email' => $email]);
    preg_match('/cancel\?number=([^&]+)&amp;key=(\w+)/', $page, $match);
    return [$status, $match[1] ?? strip_tags(strstr((string) strstr($page, '<p class="error"'), '</p>', true)), $match[2] ?? null];
}
$work = static fn(string ...$more): array => cli(['work', '--bootstrap', "$root/bootstrap.php", '--transport', 'null://null', ...$more],
    $environment + ['MAIL_QUEUE_LOG' => "$dir/mail.log"]);

[$status, $number, $key] = register('Zoë <b>', 'zoe@example.com');
echo "$status ", preg_match('/^\d{4}-[0-9a-f]{8}$/', $number), "\n";
echo implode(' ', register("Eve\r\nBcc: x@example.com", 'eve@example.com')), "\n";
echo implode(' ', register('Eve', "eve@example.com\r\nBcc: x@example.com")), "\n";
$queue = new MailQueue("$dir/site.sqlite");
foreach ($queue->jobs() as $job) {
    echo $job->reference === $number ? 'of this registration' : 'of another', " $job->type $job->priority\n";
}
show($work());

echo "-- deleted before it was sent\n";
[, $number, $key] = register('Tom', 'tom@example.com');
$page = file_get_contents("http://$address/cancel?number=$number&key=$key");
echo str_contains($page, "<strong>$number</strong> of Tom will be deleted") ? 'asks first, ' : $page;
echo post('/cancel', ['number' => $number, 'key' => 'guess'])[0], ' ', post('/cancel', ['number' => $number, 'key' => $key])[0], "\n";
show($work());

echo "-- the queue's table is away\n";
(new PDO("sqlite:$dir/site.sqlite"))->exec('ALTER TABLE mail_queue RENAME TO mail_queue_away');
[$status, $number] = register('Ida', 'ida@example.com');
echo "$status ", preg_match('/^\d{4}-/', $number), ' ', preg_match("/registration $number: mails not queued yet/", (string) file_get_contents("$dir/error.log")), "\n";
(new PDO("sqlite:$dir/site.sqlite"))->exec('ALTER TABLE mail_queue_away RENAME TO mail_queue');
show($work());
show($work());

echo "-- the request breaks off between its mails, and where that is noted: all or nothing\n";
$pdo = new PDO("sqlite:$dir/site.sqlite");
$stops = [
    "BEFORE INSERT ON mail_queue WHEN NEW.mail_type = 'organizer'",
    'BEFORE UPDATE OF queued ON registrations WHEN NEW.queued',
];
foreach ($stops as $stop) {
    $pdo->exec("CREATE TRIGGER stop $stop BEGIN SELECT RAISE(ABORT, 'stopped here'); END");
    [$status, $number] = register('Jan', 'jan@example.com');
    echo "$status ", count((new MailQueue("$dir/site.sqlite"))->jobs()), " jobs\n";
    show($work(), $number);
    $pdo->exec('DROP TRIGGER stop');
    show($work());
    show($work());
}
echo $pdo->query('SELECT count(*) FROM registrations WHERE queued = 0')->fetchColumn(), " to be queued\n";

echo "-- a failed attempt is tried again by its own job\n";
[, $number] = register('Max', 'max@example.com');
$nobody = '127.0.0.1:' . MailQueueTest\closed_port();
echo 'exit ', cli(['work', '--bootstrap', "$root/bootstrap.php", '--transport', "smtp://$nobody"], $environment)[0], "\n";
(new MailQueue("$dir/site.sqlite"))->setConfig('mailRelayPause', null);
show($work());
?>
--EXPECT--
200 1
422 Please give your name. 
422 Please give a valid e-mail address. 
of this registration user 10
of this registration organizer 0
exit 0
mailqueue: 2 sent; nothing more is due.
-- deleted before it was sent
asks first, 404 200
exit 0
mailqueue: 0 sent, 2 orphaned; nothing more is due.
-- the queue's table is away
200 1 1
exit 0
mailqueue: 2 sent; nothing more is due.
exit 0
mailqueue: 0 sent; nothing more is due.
-- the request breaks off between its mails, and where that is noted: all or nothing
200 0 jobs
exit 0
mailqueue: 0 sent; nothing more is due.
registration %: mails not queued yet: SQLSTATE[23000]: Integrity constraint violation: 19 stopped here
exit 0
mailqueue: 2 sent; nothing more is due.
exit 0
mailqueue: 0 sent; nothing more is due.
200 0 jobs
exit 0
mailqueue: 0 sent; nothing more is due.
registration %: mails not queued yet: SQLSTATE[23000]: Integrity constraint violation: 19 stopped here
exit 0
mailqueue: 2 sent; nothing more is due.
exit 0
mailqueue: 0 sent; nothing more is due.
0 to be queued
-- a failed attempt is tried again by its own job
exit 69
exit 0
mailqueue: 2 sent; nothing more is due.
