<?php

// The rows of tools/torture, one after the other. Each takes a directory of its own below the work
// directory and throws Failure with all that it found wrong.

declare(strict_types=1);

namespace Torture;

foreach (['lib', 'store', 'sink', 'oracle', 'worker_kill', 'producer_kill', 'terminate', 'many_workers', 'stopped_worker', 'second_start', 'servers', 'many_hosts', 'server_kill', 'disk_image', 'disk', 'large_mails', 'relays', 'campaign'] as $part) {
    require __DIR__ . "/$part.php";
}

const ROWS = [
    'worker-kill' => __NAMESPACE__ . '\\worker_kill',
    'worker-kill-pgsql' => __NAMESPACE__ . '\\worker_kill_pgsql',
    'worker-kill-mysql' => __NAMESPACE__ . '\\worker_kill_mysql',
    'producer-kill' => __NAMESPACE__ . '\\producer_kill',
    'terminate' => __NAMESPACE__ . '\\terminate',
    'many-workers' => __NAMESPACE__ . '\\many_workers',
    'stopped-worker' => __NAMESPACE__ . '\\stopped_worker',
    'second-start' => __NAMESPACE__ . '\\second_start',
    'many-hosts' => __NAMESPACE__ . '\\many_hosts',
    'server-kill' => __NAMESPACE__ . '\\server_kill',
    'disk' => __NAMESPACE__ . '\\disk',
    'large-mails' => __NAMESPACE__ . '\\large_mails',
    'relays' => __NAMESPACE__ . '\\relays',
    'campaign' => __NAMESPACE__ . '\\campaign',
];

/** @param list<string> $words */
function options(array $words): Options
{
    $given = ['rows' => []];
    $usage = static fn(string $why) => throw new Failure($why);
    while (($word = array_shift($words)) !== null) {
        if (preg_match('/^--(kills|mails|runs|seed)(?:=(.*))?$/', $word, $match)) {
            $value = $match[2] ?? array_shift($words) ?? '';
            preg_match('/^\d{1,9}$/', $value) || $usage("--$match[1] needs a number");
            $given[$match[1]] = (int) $value;
        } elseif ($word === '--keep') {
            $given['keep'] = true;
        } elseif (isset(ROWS[$word])) {
            $given['rows'][] = $word;
        } else {
            $usage("there is no row or option \"$word\"");
        }
    }
    return new Options(...$given);
}

function main(array $argv): int
{
    $work = $argv[1];
    try {
        $options = options(array_slice($argv, 2));
    } catch (Failure $e) {
        fwrite(STDERR, "torture: {$e->getMessage()}; tools/torture --help\n");
        remove_tree($work);
        return 64;
    }
    end_in_order();
    printf("seed %d\n", $options->seed);
    $passed = $failed = 0;
    foreach ($options->rows ?: array_keys(ROWS) as $name) {
        $begun = hrtime(true);
        // Each row has its own random sequence, so that it can be repeated alone.
        mt_srand($options->seed ^ crc32($name));
        mkdir("$work/$name", 0700);
        $row = new Row($name, "$work/$name", $options);
        try {
            (ROWS[$name])($row);
        } catch (\Throwable $e) {
            $row->problem($e instanceof Failure ? $e->getMessage() : (string) $e);
        } finally {
            stop_children();
        }
        $row->print((hrtime(true) - $begun) / 1e9);
        $row->problems ? $failed++ : $passed++;
    }
    printf("%d passed, %d failed\n", $passed, $failed);
    if ($failed > 0 || $options->keep) {
        echo "databases and logs: $work\n";
    } else {
        remove_tree($work);
    }
    return $failed > 0 ? 1 : 0;
}

exit(main($argv));
