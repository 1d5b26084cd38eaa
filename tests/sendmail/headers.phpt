--TEST--
mailqueue sendmail -t: recipients in the headers: Bcc, Resent-, groups, folding, comments, local users; each once
--EXTENSIONS--
mailqueue
posix
--FILE--
<?php
require __DIR__ . '/sendmail.inc';

$queue = new MailQueue($database = database());
$last = 0;
$try = static function (string $what, string $header, string ...$arguments) use ($queue, $database, &$last): void {
    foreach (["\n", "\r\n"] as $eol) {
        [$code, , $errors] = sendmail(['-t', ...$arguments], str_replace("\n", $eol, "$header\nhi\n"), ['MAILQUEUE_DATABASE' => $database]);
        $said[] = "exit $code " . ($code === 0 ? envelope_of($queue, $last) : $errors);
        foreach ($queue->jobs(after: $last) as $job) {
            $last = $job->id;
            [$head] = explode("\r\n\r\n", $queue->job($last)->message);
            if (preg_match('/^(?:Resent-)?Bcc|secret|^(To|Cc|Reply-To|Subject):.*^\1:/mis', $head)) {
                echo "Bcc or two fields stayed:\n$head\n";
            }
        }
    }
    echo "$what: ", trim($said[0]), $said[0] === $said[1] ? '' : ", with CRLF $said[1]", "\n";
};
$from = "From: me@example.org\n";
$try('all three', "{$from}To: a@example.net\nCc: b@example.net, c@example.net\nBcc: secret@example.net\n");
$try('Bcc only', "{$from}Bcc: secret@example.net\n");
$try('several fields', "{$from}To: a@example.net\nTo: b@example.net\nBCC: secret@example.net\nbcc: secret2@example.net\n");
echo preg_match('/^To:.*(?:\R\s.*)*/m', $queue->job($last)->message, $match) ? "  $match[0]\n" : '';
$try('two of each', "Cc: b@example.net\nSubject: 1\nTo: a@example.net\nBcc: secret@example.net\n{$from}Cc: C\n <c@example.net>\nSubject: 2\nReply-To: r@example.org\nReply-To: s@example.org\n");
$try('an old Bcc', "{$from}To: a@example.net\nBcc : secret@example.net\n");
$try('folded', "{$from}To:\n a@example.net,\n\tb@example.net\n , c@example.net\nBcc: \n secret@example.net\n");
$try('empty fields', "{$from}To: \nCc:\nBcc: secret@example.net\n");
$try('names', "{$from}To: Ann <a@example.net>, \"B, b\" <b@example.net>, =?UTF-8?Q?Zo=C3=AB?= <c@example.net>, Zoë <d@example.net>\n");
$try('comments', "{$from}To: a@example.net (Ann, or root), (x) b@example.net\n");
$try('groups', "{$from}To: Team: a@example.net, B <b@example.net>;, c@example.net\nCc: undisclosed-recipients:;\n");
$try('an empty group only', "{$from}To: undisclosed-recipients:;\n");
$try('that and an argument', "{$from}To: undisclosed-recipients:;\n", 'a@example.net');
$try('twice', "{$from}To: a@example.net, a@example.net\nCc: a@example.net\nBcc: a@EXAMPLE.net\n", 'a@example.net');
$try('local users', "{$from}To: root, webmaster (the one), <postmaster>, Joe <joe>, \"J, K\" <jk>, a@example.net\n");
$try('resent', "Resent-From: re@example.org\nResent-To: r@example.net\nResent-Bcc: secret@example.net\n{$from}To: a@example.net\nBcc: secret2@example.net\n");
$try('resent, with the sender', "Resent-Sender: s@example.org\nResent-From: re@example.org\nResent-Cc: r@example.net\n{$from}To: a@example.net\n");
$try('resent twice', "Resent-From: second@example.org\nResent-To: two@example.net\nResent-Date: x\nResent-From: first@example.org\nResent-To: one@example.net\n{$from}To: a@example.net\n");
$try('resent twice, a Received between', "Resent-To: two@example.net\nReceived: by x; now\nResent-To: one@example.net\n{$from}To: a@example.net\n");
$try('UTF-8 before the @', "From: zoë@example.org\nTo: łukasz@example.net\n");
$try('a bad one', "{$from}To: a@example.net, b@@example.net\n");
$try('a bad Bcc', "{$from}To: a@example.net\nBcc: <secret example.net>\n");
$try('a bad sender', "From: <x y>\nTo: a@example.net\n");
$try('in the text only', "{$from}Subject: x\n\nTo: a@example.net\n");
$try('a header that is not one', "{$from}X-To: b@example.net\nTo-Do: c@example.net\nTo: a@example.net\n");
$many = implode(",\n ", array_map(static fn(int $i): string => "person$i@example.net", range(1, 5000)));
[$code, , $errors] = sendmail(['-t'], "{$from}To: $many\n\nhi\n", ['MAILQUEUE_DATABASE' => $database]);
echo "5,000: exit $code $errors", count($queue->jobs(after: $last)[0]->recipients), "\n";
// The time must not grow with the square of the input. CPU time, because that stays the same when
// the machine is busy.
$cpu = static fn(): float => ($used = getrusage(1))['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6;
$begun = $cpu();
foreach (['"', '(', '<', ',', '"(', '(")', '\\', 'a,', '(a', '=?'] as $piece) {
    sendmail(['-t'], "{$from}To: " . chunk_split(str_repeat($piece, 100_000), 900, "\n ") . "a@example.net\n\nhi\n", ['MAILQUEUE_DATABASE' => $database]);
}
$took = $cpu() - $begun;
echo $took < 20 ? "in time\n" : "it took $took s\n";
?>
--EXPECT--
all three: exit 0 me@example.org -> a@example.net b@example.net c@example.net secret@example.net
Bcc only: exit 0 me@example.org -> secret@example.net
several fields: exit 0 me@example.org -> a@example.net b@example.net secret@example.net secret2@example.net
  To: a@example.net,
 b@example.net
two of each: exit 0 me@example.org -> b@example.net a@example.net secret@example.net c@example.net
an old Bcc: exit 0 me@example.org -> a@example.net secret@example.net
folded: exit 0 me@example.org -> a@example.net b@example.net c@example.net secret@example.net
empty fields: exit 0 me@example.org -> secret@example.net
names: exit 0 me@example.org -> a@example.net b@example.net c@example.net d@example.net
comments: exit 0 me@example.org -> a@example.net b@example.net
groups: exit 0 me@example.org -> a@example.net b@example.net c@example.net
an empty group only: exit 64 mailqueue: sendmail: the message names no recipient in To, Cc or Bcc; add one, or give recipients as arguments.
that and an argument: exit 0 me@example.org -> a@example.net
twice: exit 0 me@example.org -> a@example.net
local users: exit 0 me@example.org -> USER@HOST webmaster@HOST postmaster@HOST joe@HOST jk@HOST a@example.net
resent: exit 0 re@example.org -> r@example.net secret@example.net
resent, with the sender: exit 0 s@example.org -> r@example.net
resent twice: exit 0 second@example.org -> two@example.net
resent twice, a Received between: exit 0 me@example.org -> two@example.net
UTF-8 before the @: exit 0 zoë@example.org -> łukasz@example.net
a bad one: exit 67 mailqueue: To: the address "b@@example.net" has a character that is not allowed in a domain; use letters, digits, "-" and "." only
a bad Bcc: exit 67 mailqueue: Bcc: the address "secret example.net" has no "@"; write it as name@example.org
a bad sender: exit 0 USER@HOST -> a@example.net
in the text only: exit 64 mailqueue: sendmail: the message names no recipient in To, Cc or Bcc; add one, or give recipients as arguments.
a header that is not one: exit 0 me@example.org -> a@example.net
5,000: exit 0 5000
in time
