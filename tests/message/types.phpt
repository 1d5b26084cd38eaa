--TEST--
Array messages: the media type of an attachment
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/queue.inc';
require __DIR__ . '/mime.inc';
final class Types
{
    public static function show(): void
    {
        $queue = new MailQueue(database());
        $png = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89";
        $zip = "PK\x03\x04\x14\0\0\0\0\0";
        foreach ([
            ['a.pdf', "%PDF-1.7\n..."], ['A.PDF', '%PDF-'], ['a.docx', $zip], ['a.xlsx', $zip], ['a.odt', $zip], ['a.zip', $zip], ['a.csv', "a,b\n"], ['a.ics', "BEGIN:VCALENDAR\r\n"],
            ['a.vcf', "BEGIN:VCARD\r\n"], ['a.json', '{}'], ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'], ['a.html', '<p>ä'], ['a.md', '# x'], ['a.js', 'x'], ['a.txt', "\xe4"], ['a.txt', ''], ['a.txt', 'ä'],
            ['a.txt', str_repeat('x', 8191) . 'ä'], ['a.txt', str_repeat('x', 8191) . "\xe4\xe4\xe4\xe4"], ['a.png', $png], ['photo.jpg', $png], ['a.pdf', 'no pdf'], ['noname', $png], ['', '%PDF-1.7'], ['.pdf', '%PDF-1.7'],
            ['a.eml', "From: a@example.org\r\nTo: b@example.org\r\nSubject: x\r\n\r\nx"], ['a.unknown', "\0\1\2\3"], ['a.unknown', 'just text'], ['', ''], ['a.', 'x'], ['a.pdf', ''],
        ] as [$name, $data]) {
            $id = $queue->enqueue(['attachments' => [['data' => $data, 'name' => $name]]] + mail_fields());
            $leaf = leaves($queue->job($id)->message)[1];
            must($leaf['content'] === $data, 'the content is the same');
            echo '  ', json_encode([$name, strlen($data) > 30 ? strlen($data) : $data], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES),
                " $leaf[type] $leaf[charset]", "\n";
        }
        $path = temp_directory() . '/a';
        file_put_contents($path, $png);
        $id = $queue->enqueue(['attachments' => [$path, [ 'path' => $path, 'type' => 'x/y'], fopen($path, 'r')]] + mail_fields());
        $texts = [
            'ASCII' => str_repeat('x', 8192), 'more ASCII' => str_repeat('x', 8193), 'ISO 8859-1 at the end' => str_repeat('x', 9000) . "\xe4", 'UTF-8 at the end' => str_repeat('x', 9000) . 'ä',
            'ISO 8859-1 across the end of the head' => str_repeat('x', 8191) . "\xe4 and more", 'UTF-8 across it' => 'ä' . str_repeat('x', 8189) . 'ä and more', 'short ISO 8859-1' => "\xe4",
        ];
        foreach ($texts as $what => $text) {
            file_put_contents("$path.txt", $text);
            $job = $queue->job($queue->enqueue(['attachments' => ["$path.txt", ['data' => $text, 'name' => 'a.txt']]] + mail_fields()));
            $leaves = leaves($job->message);
            echo "  $what: file \"{$leaves[1]['charset']}\", data \"{$leaves[2]['charset']}\"\n";
        }
        echo '  from files: ', implode(' ', array_column(leaves($queue->job($id)->message), 'type')), "\n";
    }
}
Types::show();
?>
--EXPECT--
  ["a.pdf","%PDF-1.7\n..."] application/pdf 
  ["A.PDF","%PDF-"] application/pdf 
  ["a.docx","PK\u0003\u0004\u0014\u0000\u0000\u0000\u0000\u0000"] application/vnd.openxmlformats-officedocument.wordprocessingml.document 
  ["a.xlsx","PK\u0003\u0004\u0014\u0000\u0000\u0000\u0000\u0000"] application/vnd.openxmlformats-officedocument.spreadsheetml.sheet 
  ["a.odt","PK\u0003\u0004\u0014\u0000\u0000\u0000\u0000\u0000"] application/vnd.oasis.opendocument.text 
  ["a.zip","PK\u0003\u0004\u0014\u0000\u0000\u0000\u0000\u0000"] application/zip 
  ["a.csv","a,b\n"] text/csv utf-8
  ["a.ics","BEGIN:VCALENDAR\r\n"] text/calendar utf-8
  ["a.vcf","BEGIN:VCARD\r\n"] text/vcard utf-8
  ["a.json","{}"] application/json 
  ["a.svg",41] image/svg+xml 
  ["a.html","<p>ä"] text/html utf-8
  ["a.md","# x"] text/markdown utf-8
  ["a.js","x"] text/javascript utf-8
  ["a.txt","�"] text/plain 
  ["a.txt",""] text/plain utf-8
  ["a.txt","ä"] text/plain utf-8
  ["a.txt",8193] text/plain utf-8
  ["a.txt",8195] text/plain 
  ["a.png",33] image/png 
  ["photo.jpg",33] image/jpeg 
  ["a.pdf","no pdf"] application/pdf 
  ["noname",33] image/png 
  ["","%PDF-1.7"] application/pdf 
  [".pdf","%PDF-1.7"] application/pdf 
  ["a.eml",55] application/octet-stream 
  ["a.unknown","\u0000\u0001\u0002\u0003"] application/octet-stream 
  ["a.unknown","just text"] application/octet-stream 
  ["",""] application/octet-stream 
  ["a.","x"] application/octet-stream 
  ["a.pdf",""] application/pdf 
  ASCII: file "utf-8", data "utf-8"
  more ASCII: file "", data "utf-8"
  ISO 8859-1 at the end: file "", data ""
  UTF-8 at the end: file "", data "utf-8"
  ISO 8859-1 across the end of the head: file "", data ""
  UTF-8 across it: file "utf-8", data "utf-8"
  short ISO 8859-1: file "", data ""
  from files: text/plain image/png x/y image/png
