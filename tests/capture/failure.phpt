--TEST--
mail(), captured, cannot enqueue: a warning and false, or PHP's own mail() instead
--EXTENSIONS--
mailqueue
mbstring
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/capture.inc';

// Seen to fail with the fallback taken out, with it always taken, and with the exceptions of
// MailQueue::default() left pending.

const TO = 'ann@example.net';
const FROM = 'From: Club <club@example.org>';

function show(string $title, array $calls, array $settings = [], string ...$hidden): void
{
    echo "$title\n";
    foreach (['fail', 'send'] as $policy) {
        $log = temp_directory() . '/mail.log';
        $results = called($calls, true, $settings + ['mailqueue.capture_failure' => $policy, 'mail.log' => $log]);
        foreach ($results as $name => $result) {
            $what = array_keys(array_filter(['queued' => $result['queued'], 'sent' => $result['sent']]));
            $said = implode(' | ', $result['said']);
            // Other tests check the error's text: here the field is enough.
            $said = $title === 'messages' ? preg_replace('/(was not queued[^:]*: [\\w-]+): .*?(?= \\| |$)/', '$1', $said) : $said;
            $said = preg_replace(['~/[\w/.-]*mailqueue-[\w.-]+~', '/waited \d+/', '/process \d+/'],
                ['DIR', 'waited N', 'process N'], $said);
            echo rtrim("  $policy, $name: " . json_encode($result['result']) . ' ' . (implode(' and ', $what) ?: 'nothing')
                . " $said"), "\n";
        }
        // Once for each call that PHP's own function would have logged.
        $lines = count((array) @file($log));
        echo $lines === count($calls) ? '' : "  $policy: $lines lines in mail.log\n";
    }
}

$mail = ['mail', [TO, 'x', 'y', FROM]];
show('messages', [
    'good' => $mail,
    'too large' => ['mail', [TO, 'x', str_repeat("0123456789\n", 200), FROM]],
    'too large when repaired' => ['mail', [TO, 'x', str_repeat('ö', 520), FROM]],
    'no recipient' => ['mail', ['', 'x', 'y', FROM]],
    'bad recipient' => ['mail', ['a@example.net, b@@example.net', 'x', 'y', FROM]],
    'bad Bcc' => ['mail', [TO, 'x', 'y', FROM . "\r\nBcc: -oQ/tmp@example.net"]],
    'bad -f' => ['mail', [TO, 'x', 'y', FROM, '-f a@']],
    'signed' => ['mail', [TO, 'x', 'y', FROM . "\r\nDKIM-Signature: v=1"]],
    'mb_send_mail' => ['mb_send_mail', ['a@@example.net', 'ü', 'y', FROM . "\r\nContent-Type: text/plain; charset=none\r\nContent-Transfer-Encoding: none"]],
    'malformed' => ['mail', [TO, 'x', 'y', "X-A: b\r\n\r\nX-B: c"]],
], ['mailqueue.max_message_size' => 1200]);

$directory = temp_directory();
file_put_contents("$directory/broken.db", str_repeat('not a database ', 1000));
show('no database set', ['mail' => $mail], ['mailqueue.database' => '']);
show('a directory', ['mail' => $mail], ['mailqueue.database' => $directory]);
show('another kind', ['mail' => $mail], ['mailqueue.database' => 'odbc:host=localhost']);
show('in memory', ['mail' => $mail], ['mailqueue.database' => ':memory:']);
show('not SQLite', ['mail' => $mail], ['mailqueue.database' => "$directory/broken.db"]);
show('mb_convert_encoding() disabled', ['mail' => $mail, 'mb_send_mail' => ['mb_send_mail', [TO, 'x', 'y']]], ['disable_functions' => 'mb_convert_encoding']);
show('mb_encode_mimeheader() disabled', ['mb_send_mail' => ['mb_send_mail', [TO, 'x', 'y']]], ['disable_functions' => 'mb_encode_mimeheader']);

$path = database();
new MailQueue($path);
$lock = new PDO("sqlite:$path");
$lock->exec('BEGIN IMMEDIATE');
show('locked', ['mail' => $mail], ['mailqueue.database' => $path]);
$lock->exec('ROLLBACK');

echo "another word\n", output_of('var_dump(ini_get("mailqueue.capture_failure"));', ['mailqueue.capture_failure' => 'ignore']);

/* An error handler that throws: that is the application's decision. */
$code = 'set_error_handler(function ($level, $text) { throw new ErrorException($text, 0, $level); });
    try { mail("a@@example.net", "x", "y"); } catch (ErrorException $e) { echo get_class($e), ": ", $e->getMessage(), "\n"; }
    mail("a@example.net", "x", "y", "From: b@example.org");
    echo MailQueue::default()->stats()->pending, " queued\n";';
echo output_of($code, ['mailqueue.capture_mail' => 1, 'mailqueue.database' => database()]);
// With "send" the warning comes before the mail leaves, so a caller that tries again sends it
// once.
$settings = ['mailqueue.capture_mail' => 1, 'mailqueue.capture_failure' => 'send', 'mailqueue.database' => database(), 'sendmail_path' => keeper($directory)];
echo output_of($code, $settings), is_file("$directory/message") ? "sent all the same\n" : "not sent\n";
?>
--EXPECT--
messages
  fail, good: true queued
  fail, too large: false nothing 2 mail(): The mail was not queued: message
  fail, too large when repaired: false nothing 2 mail(): The mail was not queued: message
  fail, no recipient: false nothing 2 mail(): The mail was not queued: recipients
  fail, bad recipient: false nothing 2 mail(): The mail was not queued: To
  fail, bad Bcc: false nothing 2 mail(): The mail was not queued: Bcc
  fail, bad -f: false nothing 2 mail(): The mail was not queued: -f
  fail, signed: false nothing 2 mail(): The mail was not queued: message
  fail, mb_send_mail: false nothing 2 mb_send_mail(): The mail was not queued: To
  fail, malformed: false nothing 2 mail(): Multiple or malformed newlines found in additional_header
  send, good: true queued
  send, too large: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: message
  send, too large when repaired: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: message
  send, no recipient: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: recipients
  send, bad recipient: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: To
  send, bad Bcc: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: Bcc
  send, bad -f: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: -f
  send, signed: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: message
  send, mb_send_mail: true sent 8 mb_send_mail(): The mail was not queued but is handed to sendmail_path: To | 2 mb_send_mail(): Unsupported charset "none" - will be regarded as ascii | 2 mb_send_mail(): Unsupported transfer encoding "none" - will be regarded as 8bit
  send, malformed: false nothing 2 mail(): Multiple or malformed newlines found in additional_header
no database set
  fail, mail: false nothing 2 mail(): The mail was not queued: The ini setting mailqueue.database is empty: set it to the path of the SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: The ini setting mailqueue.database is empty: set it to the path of the SQLite file, or to a server's DSN, in php.ini, or use new MailQueue($path)
a directory
  fail, mail: false nothing 2 mail(): The mail was not queued: cannot open DIR: it is a directory: give the path of a file
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: cannot open DIR: it is a directory: give the path of a file
another kind
  fail, mail: false nothing 2 mail(): The mail was not queued: $database: there is no such kind of database: give the path of an SQLite file, "sqlite:" and the path, "pgsql:host=db;dbname=app" (PostgreSQL) or "mysql:host=db;dbname=app" (MySQL, MariaDB)
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: $database: there is no such kind of database: give the path of an SQLite file, "sqlite:" and the path, "pgsql:host=db;dbname=app" (PostgreSQL) or "mysql:host=db;dbname=app" (MySQL, MariaDB)
in memory
  fail, mail: false nothing 2 mail(): The mail was not queued: ValueError: MailQueue::default(): Argument #1 must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: ValueError: MailQueue::default(): Argument #1 must be the path of an SQLite file, which other processes can open too: an empty path, ":memory:" and URIs cannot be used
not SQLite
  fail, mail: false nothing 2 mail(): The mail was not queued: DIR/broken.db is not an SQLite database (or an encrypted or damaged one): correct the path, or restore a backup; see also: sqlite3 DIR/broken.db .recover
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: DIR/broken.db is not an SQLite database (or an encrypted or damaged one): correct the path, or restore a backup; see also: sqlite3 DIR/broken.db .recover
mb_convert_encoding() disabled
  fail, mail: true queued
  fail, mb_send_mail: false nothing 2 mb_send_mail(): The mail was not queued: mb_send_mail() cannot be captured without mb_convert_encoding(): take it out of disable_functions
  send, mail: true queued
  send, mb_send_mail: true sent 8 mb_send_mail(): The mail was not queued but is handed to sendmail_path: mb_send_mail() cannot be captured without mb_convert_encoding(): take it out of disable_functions
mb_encode_mimeheader() disabled
  fail, mb_send_mail: false nothing 2 mb_send_mail(): The mail was not queued: mb_send_mail() cannot be captured without mb_encode_mimeheader(): take it out of disable_functions
  send, mb_send_mail: true sent 8 mb_send_mail(): The mail was not queued but is handed to sendmail_path: mb_send_mail() cannot be captured without mb_encode_mimeheader(): take it out of disable_functions
locked
  fail, mail: false nothing 2 mail(): The mail was not queued: another connection holds the write lock on DIR/mail.db; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
  send, mail: true sent 8 mail(): The mail was not queued but is handed to sendmail_path: another connection holds the write lock on DIR/mail.db; waited N ms: keep its transactions short, or raise the busy timeout; if it is the application's own connection in this process, call this after its commit
another word

Warning: mailqueue.capture_failure must be "fail" or "send" in Unknown on line 0
string(4) "fail"
ErrorException: mail(): The mail was not queued: To: the address "a@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
1 queued
ErrorException: mail(): The mail was not queued but is handed to sendmail_path: To: the address "a@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
1 queued
not sent
