--TEST--
Array messages: attachments and images in the HTML, from paths, texts and streams
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/mime.inc';
$queue = new MailQueue(database());
$dir = temp_directory();
chdir($dir);
file_put_contents('report.csv', "a,b\nä,2\n");
file_put_contents('logo.png', "\x89PNG\r\n\x1a\n....");
file_put_contents('Grüße, "Anna".txt', 'hello');
file_put_contents('empty.txt', '');
file_put_contents('all.bin', $all = implode('', array_map('chr', range(0, 255))));
symlink('report.csv', 'latest.csv');

final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { return $this->text; }
}
function stream(string $content, int $at = 0)
{
    $stream = fopen('php://temp', 'w+');
    fwrite($stream, $content);
    fseek($stream, $at);
    return $stream;
}
foreach ([
    'a path' => ['attachments' => 'report.csv'],
    'paths' => ['attachments' => ['report.csv', "$dir/logo.png", 'empty.txt', 'latest.csv', new Text('all.bin')]],
    'a name that is none of ASCII' => ['attachments' => ['Grüße, "Anna".txt']],
    'keys are names' => ['attachments' => ['Bericht 2026.csv' => 'report.csv', 'x.txt' => ['data' => 'x'], 'from stream.txt' => stream('s')]],
    'entries' => ['attachments' => [
        ['path' => 'report.csv', 'name' => 'r.txt', 'type' => 'text/plain; charset=utf-8'],
        ['data' => $all, 'name' => 'bytes'],
        ['data' => new Text('text'), 'name' => new Text('t.txt'), 'type' => new Text('text/x-mine')],
        ['data' => ''], ['data' => 'no name at all', 'type' => 'application/x-y'], 'k.txt' => ['data' => 'd', 'name' => 'entry wins.txt'],
        ['path' => 'report.csv', 'data' => null, 'stream' => null, 'name' => null, 'type' => null, 'cid' => null],
    ]],
    'streams' => ['attachments' => [stream('from the begin'), stream('from where it stands', 5), ['stream' => fopen('report.csv', 'r')], ['stream' => fopen('logo.png', 'r'), 'name' => 'l.png'],
        fopen('data:text/plain,from%20a%20URL', 'r')]],
    'a stream alone' => ['attachments' => stream('alone')],
    'file objects' => ['attachments' => [new SplFileInfo('report.csv'), new SplFileObject('all.bin'), ['path' => new SplFileInfo('logo.png')]]],
    'inline' => ['inline' => ['logo' => 'logo.png', 'logo2@example.org' => ['data' => 'x', 'type' => 'image/gif', 'name' => 'x.gif']], 'html' => '<img src="cid:logo">'],
    'inline, the name is the cid' => ['inline' => ['logo.png', ['path' => 'logo.png', 'cid' => 'other']], 'html' => '<img src="cid:logo.png">'],
    'both, and a cid among the attachments' => ['inline' => ['logo' => 'logo.png'], 'attachments' => ['report.csv', ['path' => 'logo.png', 'cid' => 'second']], 'html' => '<img src="cid:logo">'],
    'none' => ['attachments' => [], 'inline' => null],
] as $what => $fields) {
    echo "$what:\n";
    $id = null;
    echo ($error = thrown(function () use ($queue, $fields, &$id) { $id = $queue->enqueue($fields + mail_fields()); })) === 'nothing' ? '' : "  $error\n";
    if ($id) {
        show_parts($queue->job($id)->message);
    }
}
$before = count($queue->jobs(limit: 1000));

echo "wrong:\n";
$closed = stream('');
fclose($closed);
$at_end = stream('x', 1);
foreach ([
    'a number' => ['attachments' => 7],
    'a number in the list' => ['attachments' => ['report.csv', 7]],
    'null in the list' => ['attachments' => [null]],
    'an object' => ['attachments' => [new stdClass()]],
    'an entry outside of a list' => ['attachments' => ['path' => 'report.csv']],
    'nothing in it' => ['attachments' => [[]]],
    'no content' => ['attachments' => [['name' => 'x']]],
    'two contents' => ['attachments' => [['path' => 'report.csv', 'data' => 'x']]],
    'unknown key' => ['attachments' => [['path' => 'report.csv', 'mime' => 'x']]],
    'unknown key, near' => ['attachments' => [['contents' => 'x', 'nam' => 'y']]],
    'a list in the list' => ['attachments' => [['report.csv', 'logo.png']]],
    'a stream as path' => ['attachments' => [['path' => stream('x')]]],
    'a path as stream' => ['attachments' => [['stream' => 'report.csv']]],
    'data a number' => ['attachments' => [['data' => 1]]],
    'name a number' => ['attachments' => [['data' => 'x', 'name' => 1]]],
    'closed' => ['attachments' => [$closed]],
    'at its end' => ['attachments' => ['x.txt' => $at_end]],
    'no stream' => ['attachments' => [stream_context_create()]],
    'for writing only' => ['attachments' => [@fopen('written.txt', 'w')]],
    'no cid' => ['inline' => [['data' => 'x']], 'html' => 'x'],
] as $what => $fields) {
    echo "  $what: ", @thrown(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo "wrong for the composer:\n";
foreach ([
    'a type that is none' => ['attachments' => [['data' => 'x', 'type' => 'text']]],
    'a bad cid' => ['inline' => ['a b' => ['data' => 'x']], 'html' => 'x'],
    'a cid twice' => ['inline' => ['logo' => 'logo.png', ['data' => 'x', 'cid' => 'logo']], 'html' => 'x'],
    'inline without HTML' => ['inline' => ['logo' => 'logo.png']],
] as $what => $fields) {
    echo "  $what: ", refused_field(fn() => $queue->enqueue($fields + mail_fields())), "\n";
}
echo count($queue->jobs(limit: 1000)) - $before, " stored\n";
?>
--EXPECT--
a path:
  mixed(text/plain text/csv)
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
paths:
  mixed(text/plain text/csv image/png text/plain text/csv application/octet-stream)
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
  attachment image/png "logo.png" "�PNG\r\n\u001a\n...."
  attachment text/plain utf-8 "empty.txt" ""
  attachment text/csv utf-8 "latest.csv" "a,b\nä,2\n"
  attachment application/octet-stream "all.bin" 256 bytes
a name that is none of ASCII:
  mixed(text/plain text/plain)
  attachment text/plain utf-8 "Grüße, "Anna".txt" "hello"
keys are names:
  mixed(text/plain text/csv text/plain text/plain)
  attachment text/csv utf-8 "Bericht 2026.csv" "a,b\nä,2\n"
  attachment text/plain utf-8 "x.txt" "x"
  attachment text/plain utf-8 "from stream.txt" "s"
entries:
  mixed(text/plain text/plain application/octet-stream text/x-mine application/octet-stream application/x-y text/plain text/csv)
  attachment text/plain utf-8 "r.txt" "a,b\nä,2\n"
  attachment application/octet-stream "bytes" 256 bytes
  attachment text/x-mine "t.txt" "text"
  attachment application/octet-stream "" ""
  attachment application/x-y "" "no name at all"
  attachment text/plain utf-8 "entry wins.txt" "d"
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
streams:
  mixed(text/plain application/octet-stream application/octet-stream text/csv image/png application/octet-stream)
  attachment application/octet-stream "" "from the begin"
  attachment application/octet-stream "" "where it stands"
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
  attachment image/png "l.png" "�PNG\r\n\u001a\n...."
  attachment application/octet-stream "" "from a URL"
a stream alone:
  mixed(text/plain application/octet-stream)
  attachment application/octet-stream "" "alone"
file objects:
  mixed(text/plain text/csv application/octet-stream image/png)
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
  attachment application/octet-stream "all.bin" 256 bytes
  attachment image/png "logo.png" "�PNG\r\n\u001a\n...."
inline:
  alternative(text/plain related(text/html image/png image/gif))
  inline image/png "logo.png" cid=logo "�PNG\r\n\u001a\n...."
  inline image/gif "x.gif" cid=logo2@example.org "x"
inline, the name is the cid:
  alternative(text/plain related(text/html image/png image/png))
  inline image/png "logo.png" cid=logo.png "�PNG\r\n\u001a\n...."
  inline image/png "logo.png" cid=other "�PNG\r\n\u001a\n...."
both, and a cid among the attachments:
  mixed(alternative(text/plain related(text/html image/png image/png)) text/csv)
  inline image/png "logo.png" cid=second "�PNG\r\n\u001a\n...."
  inline image/png "logo.png" cid=logo "�PNG\r\n\u001a\n...."
  attachment text/csv utf-8 "report.csv" "a,b\nä,2\n"
none:
  text/plain
wrong:
  a number: MailQueue\MessageException [attachments]: attachments: must be a path, a stream or an array of path, data or stream, int given
  a number in the list: MailQueue\MessageException [attachments[1]]: attachments[1]: must be a path, a stream or an array of path, data or stream, int given
  null in the list: MailQueue\MessageException [attachments[0]]: attachments[0]: must be a path, a stream or an array of path, data or stream, null given
  an object: MailQueue\MessageException [attachments[0]]: attachments[0]: must be a path, a stream or an array of path, data or stream, stdClass given
  an entry outside of a list: MailQueue\MessageException [attachments]: attachments: must be a list; write [['path' => …]], or with a key that is the name
  nothing in it: MailQueue\MessageException [attachments[0]]: attachments[0]: give one of path, data and stream
  no content: MailQueue\MessageException [attachments[0]]: attachments[0]: give one of path, data and stream
  two contents: MailQueue\MessageException [attachments[0]]: attachments[0]: give one of path, data and stream
  unknown key: MailQueue\MessageException [attachments[0]]: attachments[0]: unknown key "mime"; known are path, data, stream, name, type and cid
  unknown key, near: MailQueue\MessageException [attachments[0]]: attachments[0]: unknown key "contents"; known are path, data, stream, name, type and cid
  a list in the list: MailQueue\MessageException [attachments[0]]: attachments[0]: unknown key "0"; known are path, data, stream, name, type and cid
  a stream as path: MailQueue\MessageException [attachments[0]]: attachments[0]: must be a path, resource given
  a path as stream: MailQueue\MessageException [attachments[0]]: attachments[0]: must be an open stream, string given
  data a number: MailQueue\MessageException [attachments[0][data]]: attachments[0][data]: must be a string, int given
  name a number: MailQueue\MessageException [attachments[0][name]]: attachments[0][name]: must be a string, int given
  closed: MailQueue\MessageException [attachments[0]]: attachments[0]: must be an open stream, resource given
  at its end: MailQueue\MessageException [attachments[x.txt]]: attachments[x.txt]: the stream is at its end; rewind() it first
  no stream: MailQueue\MessageException [attachments[0]]: attachments[0]: must be an open stream, resource given
  for writing only: MailQueue\MessageException [attachments[0]]: attachments[0]: the stream did not give all that it has; it must be readable and blocking
  no cid: MailQueue\MessageException [inline[0]]: inline[0]: what the HTML shows needs a cid; give it as key, such as 'inline' => ['logo' => …] for <img src="cid:logo">
wrong for the composer:
  a type that is none: attachments[0]
  a bad cid: inline[a b]
  a cid twice: inline[0]
  inline without HTML: inline[logo]
0 stored
