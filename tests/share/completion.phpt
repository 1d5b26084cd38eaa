--TEST--
Completion of the command line in bash, zsh and fish: commands, options, their values, what they say, config keys, files
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php
require __DIR__ . '/../lib/servers.inc';
echo MailQueueTest\missing('/bin/bash', '/usr/bin/zsh', '/usr/bin/fish');
?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';

$dir = temp_directory();
mkdir("$dir/bin");
mkdir("$dir/here");
touch("$dir/here/copy one.sqlite");
touch("$dir/bin/mailqueue"); // fish completes only commands that exist
chmod("$dir/bin/mailqueue", 0755);
$share = dirname(__DIR__, 2) . '/share';
/** @return list<string> */
$run = static function (array $command) use ($dir): array {
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes, "$dir/here",
        ['PATH' => "$dir/bin:" . getenv('PATH'), 'HOME' => $dir, 'TERM' => 'dumb', 'LC_ALL' => 'C.UTF-8']);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return array_values(array_filter(explode("\n", $text)));
};
$fish = static fn(string $line): array => $run(['fish', '-c', 'set fish_complete_path $argv[1]/fish/vendor_completions.d; complete -C $argv[2]', $share, $line]);
$shells = [
    // Readline's words: it divides at "=".
    'bash' => static fn(string $line): array => $run(['bash', '-c', 'source "$0/bash-completion/completions/mailqueue"
        for word in $1; do
            case $word in
            --*=*) COMP_WORDS+=("${word%%=*}" = "${word#*=}") ;;
            *) COMP_WORDS+=("$word") ;;
            esac
        done
        case $1 in
        *" ") COMP_WORDS+=("") ;;
        *=) unset "COMP_WORDS[-1]" ;;
        esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _mailqueue
        printf "%s\n" "${COMPREPLY[@]}"', $share, $line]),
    'zsh' => static fn(string $line): array => $run(['zsh', '-f', dirname(__DIR__) . '/tools/complete.zsh', "$share/zsh/site-functions", $line]),
    'fish' => static fn(string $line): array => preg_replace('/\t.*/', '', $fish($line)),
];
$options = static fn(array $table): array => array_map(static fn(string $name): string => '--' . explode('=', $name)[0], array_keys($table));
require "$share/../cli/Command/Command.php";
require "$share/../cli/Command/Bounce.php";
require "$share/../cli/Command/Bounces.php";
require "$share/../cli/Command/Suppress.php";
require "$share/../cli/Command/Campaign.php";
require "$share/../cli/Commands.php";
$commands = MailQueue\Cli\Commands::ALL;
$expected = [
    'mailqueue ' => array_keys($commands),
    'mailqueue mi' => ['migrate', 'migrate-store'],
    'mailqueue --table x li' => ['list'],
    'mailqueue list --st' => ['--status'],
    'mailqueue list --status ' => array_column(MailQueue\Status::cases(), 'value'),
    'mailqueue list --status=pa' => ['parked'],
    'mailqueue work --on-uncertain=' => ['retry', 'hold'],
    'mailqueue work --backoff=f' => ['fixed'],
    'mailqueue config mailQueue' => preg_grep('/^mailQueue/', array_keys(MailQueue::configKeys())),
    'mailqueue --database ' => ['copy one.sqlite'],
    'mailqueue work --log=co' => ['copy one.sqlite'],
    'mailqueue migrate-store ' => ['copy one.sqlite'],
    'mailqueue work --lease=' => [],
    'mailqueue delete ' => [],
    'mailqueue suppress ' => ['add', 'remove', 'list', 'import', 'export'],
    'mailqueue campaign ca' => ['cancel'],
    'mailqueue campaign --relay=' => [],
];
foreach ($commands as $name => $about) {
    $expected["mailqueue $name --"] = [...$options($about['options']), ...$options(MailQueue\Cli\Commands::GLOBAL)];
}
foreach ($shells as $shell => $complete) {
    $right = 0;
    foreach ($expected as $line => $words) {
        // A shell may write the option before its value, a backslash before a space, "=" after an option.
        $found = preg_replace(['/\A--[a-z-]+=(?=.)/', '/=\z/', '/\\\\/'], '', $complete($line));
        $found = array_unique($found);
        sort($found);
        sort($words);
        $found === $words ? $right++ : print("$shell: $line\n  offers " . implode(' | ', $found) . "\n  not    " . implode(' | ', $words) . "\n");
    }
    echo "$shell: ", $right === count($expected) ? 'all' : $right, "\n";
}
foreach (['campaign --type', 'campaign --limit', 'retry --all', 'work --lease'] as $line) {
    echo strtr($fish("mailqueue $line")[0], ["\t" => ': ']), "\n";
}
?>
--EXPECT--
bash: all
zsh: all
fish: all
--type: create: the type of its mails
--limit: status, failures: how many
--all: without ids: also mail that was put on hold
--lease: how long a claim holds before it can be taken back
