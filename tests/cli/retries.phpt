--TEST--
CLI: when failed mail is tried again: --backoff, the environment, names that have no effect
--EXTENSIONS--
mailqueue
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
$file = temp_home() . '/a.sqlite';
$queue = new MailQueue($file);
$queue->enqueue(['from' => 'a@example.org', 'to' => 'b@example.net', 'subject' => 'Hi', 'text' => 'Hi']);
/* Leaves a job one attempt before the policy's maximum. */
$most = function (array $words, array $environment = []) use ($file, $queue): string {
    $queue->hold([1]);
    [$code, $text, $error] = cli(['retry', '--once', '1', '--database', $file, ...$words], $environment);
    return $code === 0 ? $queue->job(1)->attempts + 1 . " attempts\n" : "exit $code: $text$error";
};
foreach (['steps', 'steps:3', 'fixed', 'fixed:15,50', 'fixed:7', 'exponential', 'exponential:10,100,0.5,7', 'exponential:1,2,1'] as $policy) {
    echo "$policy: ", $most(['--backoff', $policy]);
}
foreach (['', 'linear', 'fixed:', 'fixed:1,2,3', 'fixed:x', 'fixed:-1', 'fixed:1.5', 'fixed:0,1001', 'exponential:1,2,3', 'steps:0'] as $policy) {
    echo "\"$policy\": ", $most(['--backoff', $policy]);
}
echo $most([], ['DISPATCH_BACKOFF_BASE_SECONDS' => '10']), $most([], ['DISPATCH_BACKOFF_MAX_SECONDS' => '10', 'DISPATCH_MAX_ATTEMPTS' => '8']);
echo $most(['--backoff=steps:4'], ['DISPATCH_BACKOFF_BASE' => '10']);
echo $most([], ['DISPATCH_BACKOFF_BASE_SECONDS' => 'soon']);
echo $most([], ['DISPATCH_BACKOFF_JITTER' => '1.5']), $most([], ['DISPATCH_BACKOFF_MAX' => '5', 'DISPATCH_BACKOFF_MAX_SECONDS' => '0']);
[, $text] = cli(['doctor', '--database', $file, '--transport', 'null://null'], ['DISPATCH_BACKOF_BASE_SECONDS' => '10', 'DISPATCH_QUEUE' => 'x', 'DISPATCH_BACKOFF_BASE' => '5']);
preg_match_all('/.*DISPATCH_.*\n.*/', $text, $lines);
echo implode("\n", $lines[0]), "\n";
echo cli(['sendmail', '--backoff', 'steps', 'a@example.org'])[2];
?>
--EXPECT--
steps: 10 attempts
steps:3: 3 attempts
fixed: 50 attempts
fixed:15,50: 50 attempts
fixed:7: 50 attempts
exponential: 5 attempts
exponential:10,100,0.5,7: 7 attempts
exponential:1,2,1: 5 attempts
"": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "".
"linear": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "linear".
"fixed:": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "fixed:".
"fixed:1,2,3": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "fixed:1,2,3".
"fixed:x": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "fixed:x".
"fixed:-1": exit 64: mailqueue: --backoff must be steps[:ATTEMPTS], fixed[:SECONDS[,ATTEMPTS]] or exponential[:SECONDS[,MAX[,JITTER[,ATTEMPTS]]]], not "fixed:-1".
"fixed:1.5": exit 64: mailqueue: --backoff: delay must be of type int, float given.
"fixed:0,1001": exit 64: mailqueue: --backoff: delay must be between 1 and 31622400.
"exponential:1,2,3": exit 64: mailqueue: --backoff: jitter must be between 0 and 1.
"steps:0": exit 64: mailqueue: --backoff: maxAttempts must be between 1 and 1000.
5 attempts
8 attempts
4 attempts
exit 78: mailqueue: DISPATCH_BACKOFF_BASE_SECONDS must be a number, not "soon".
exit 78: mailqueue: DISPATCH_BACKOFF_JITTER must be between 0 and 1, not "1.5".
exit 78: mailqueue: DISPATCH_BACKOFF_MAX_SECONDS must be between 1 and 31622400, not "0".
look  DISPATCH_BACKOF_BASE_SECONDS in the environment has no effect. Did you mean DISPATCH_BACKOFF_BASE_SECONDS?
      Correct its name, or unset it: mailqueue work --help lists the names.
look  DISPATCH_QUEUE in the environment has no effect.
      Correct its name, or unset it: mailqueue work --help lists the names.
mailqueue: sendmail takes no --backoff: programs give it words of strangers. Name the queue with --database, --table, --config-table and --reference-column.
