--TEST--
What the page does to all that a filter finds: it takes little memory, and leaves alone what came after the question; the ids that it asks for are those of jobs(), on each database
--EXTENSIONS--
mailqueue
pdo_sqlite
pdo_pgsql
pdo_mysql
posix
--SKIPIF--
<?php
require __DIR__ . '/../lib/backends.inc';
echo backends_missing('pgsql', 'mysql');
?>
--FILE--
<?php
require __DIR__ . '/../lib/backends.inc';
require dirname(__DIR__, 2) . '/web/autoload.php';

use MailQueue\{Internal, Status};
use MailQueue\Web\{Page, Request, Response};

ini_set('error_log', temp_directory() . '/errors');

/** Mails of all states, of which each hundredth is parked, failed and held. */
function fill(PDO $pdo, int $count): void
{
    $states = [1 => 'parked', 2 => 'failed', 3 => 'held'];
    foreach (array_chunk(range(1, $count), 1000) as $ids) {
        $pdo->exec('INSERT INTO mail_queue (id, reference, mail_type, status, parked_for, uncertain_to, last_error, priority, next_attempt_at, created_at, message_id, recipients, subject) VALUES '
            . implode(',', array_map(fn(int $id): string => sprintf("(%d, 'r%1\$d', '%s', '%s', %s, %s, '%s', 0, 1, 1, '<x>', '[\"m%1\$d@example.net\"]', 'Number %1\$d')", $id, $id % 2 ? 'news' : 'mail',
                $states[$id % 100] ?? 'pending', $id % 100 === 1 ? "'exhausted'" : 'NULL', $id % 300 === 1 ? "'[]'" : 'NULL', $id % 3 ? '450 later' : '550 no'), $ids)));
    }
}

on_backends(['native', 'sqlite', 'pgsql', 'mysql'], function (Backend $backend): void {
    $queue = $backend->queue();
    fill($backend->pdo(), 700);
    $queue->claim(1, lease: 600);
    $filters = [[], ['type' => 'news'], ['reference' => 'r7'], ['recipient' => 'M12'], ['error' => 'no'], ['subject' => 'number 9'], ['createdBefore' => 2], ['createdBefore' => 1], ['uncertain' => true], ['campaign' => 'none'],
        ['limit' => 5, 'after' => 90], ['until' => 120], ['type' => 'mail', 'error' => 'later', 'after' => 30, 'until' => 250]];
    foreach ($filters as $filter) {
        foreach ([null, ...Status::cases()] as $status) {
            $all = ['status' => $status] + $filter + ['limit' => 10000];
            $jobs = array_column($queue->jobs(...$all), 'id');
            must(Internal::jobIds($queue, ...$all) === $jobs, json_encode($all));
            $counts[] = count($jobs);
        }
    }
    echo array_sum($counts), "\n";
});
foreach ([['limit' => 0], ['limit' => 10001], ['after' => -1], ['until' => 0], ['createdBefore' => 0]] as $wrong) {
    echo thrown(fn() => Internal::jobIds($queue ??= new MailQueue(database()), ...$wrong)), "\n";
}

const MAILS = 25_000;
$queue = new MailQueue($path = database());
fill($pdo = new PDO("sqlite:$path"), MAILS);
$number = str_repeat('0', 32);
$page = new Page($queue, access: fn(): string => 'admin');
$post = static fn(array $form): Response => $page->respond(new Request(['view' => 'mails'], $form + ['which' => 'all', 'token' => hash_hmac('sha256', 'form 0', $number)],
    ['mailqueue' => $number], ['REMOTE_ADDR' => '127.0.0.1', 'HTTP_HOST' => '127.0.0.1', 'REQUEST_METHOD' => 'POST']));
$question = static fn(array $form): string => preg_match('~<h1>(.*?)</h1>~', $post($form)->body, $match) ? $match[1] : '-';
echo $question(['action' => 'hold']), "\n"; // it compiles what this needs
gc_mem_caches();
ini_set('memory_limit', (string) (memory_get_usage(true) + 12_000_000));
echo $question(['action' => 'hold']), ' ', $question(['action' => 'delete', 'status' => 'failed']), ' ', $question(['action' => 'delete', 'type' => 'news', 'subject' => 'number 2']), "\n";
// Another mail comes as soon as this begins.
$pdo->exec("CREATE TRIGGER late AFTER UPDATE ON mail_queue WHEN OLD.id = 4 BEGIN INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, created_at, message_id, recipients)
    VALUES ('mail', 'pending', 0, 1, 1, '<x>', '[]'); END");
echo $post(['action' => 'hold', 'sure' => '24500'])->headers['Location'], ' ', json_encode($pdo->query('SELECT status, count(*) FROM mail_queue GROUP BY status')->fetchAll(PDO::FETCH_KEY_PAIR)), "\n";
echo $post(['action' => 'delete', 'status' => 'parked', 'sure' => '24749'])->status, ' ', $post(['action' => 'delete', 'status' => 'parked', 'sure' => '24750'])->headers['Location'], ' ', $queue->stats()->parked, "\n";

echo "-- mail that comes between the question and the answer is not asked about\n";
$pdo->exec('DROP TRIGGER late');
$pdo->exec('DELETE FROM mail_queue');
fill($pdo, 300);
foreach (['hold', 'delete'] as $action) {
    preg_match_all('/type="hidden" name="(\w+)" value="([^"]*)"/', $post(['action' => $action])->body, $hidden);
    $yes = array_combine($hidden[1], $hidden[2]);
    $pdo->exec("INSERT INTO mail_queue (mail_type, status, priority, next_attempt_at, created_at, message_id, recipients) VALUES ('mail', 'pending', 0, 1, 1, '<x>', '[]')");
    echo $post($yes)->status, ' ', json_encode($pdo->query('SELECT status, count(*) FROM mail_queue GROUP BY status')->fetchAll(PDO::FETCH_KEY_PAIR)), "\n";
}

echo "-- each is changed once, also if it is parked again meanwhile\n";
$pdo->exec('DELETE FROM mail_queue');
fill($pdo, 3000);
$pdo->exec("CREATE TRIGGER again AFTER UPDATE ON mail_queue WHEN OLD.status = 'failed' AND NEW.status = 'pending' BEGIN UPDATE mail_queue SET status = 'parked', parked_for = 'refused' WHERE id = NEW.id; END");
echo $post(['action' => 'retry', 'sure' => '60'])->headers['Location'], ' ', json_encode($pdo->query("SELECT id % 100, status FROM mail_queue WHERE id % 100 IN (1, 2) GROUP BY 1, 2")->fetchAll(PDO::FETCH_KEY_PAIR)), "\n";
?>
--EXPECT--
4431
ValueError: MailQueue\Internal::jobIds(): Argument #3 ($limit) must be between 1 and 10000
ValueError: MailQueue\Internal::jobIds(): Argument #3 ($limit) must be between 1 and 10000
ValueError: MailQueue\Internal::jobIds(): Argument #4 ($after) must be an id, or 0 to begin
ValueError: MailQueue\Internal::jobIds(): Argument #13 ($until) must be an id, or null for all
ValueError: MailQueue\Internal::jobIds(): Argument #10 ($createdBefore) must be a time after 1970
Park 24,500 mails?
Park 24,500 mails? Delete 250 mails? They are not sent. Delete 3,055 mails? They are not sent.
?view=mails&done=hold&count=24500 {"held":250,"parked":24750,"pending":1}
200 ?view=mails&status=parked&done=delete&count=24750 0
-- mail that comes between the question and the answer is not asked about
303 {"held":3,"parked":297,"pending":1}
303 {"pending":1}
-- each is changed once, also if it is parked again meanwhile
?view=mails&done=retry&count=60 {"1":"pending","2":"parked"}
