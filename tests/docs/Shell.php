<?php

declare(strict_types=1);

namespace MailQueueTest\Docs;

/** A root shell in the system under test: background processes of one step remain for the next. */
final class Shell
{
    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];

    /** @param list<string> $command starts the shell */
    public function __construct(array $command)
    {
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $this->pipes);
        $process || throw new \Exception("cannot start $command[0]");
        $this->process = $process;
    }

    public function __destruct()
    {
        fclose($this->pipes[0]);
        proc_close($this->process);
    }

    /** Runs a line in the shared shell itself, so that later steps see its effect. */
    public function type(string $line): void
    {
        fwrite($this->pipes[0], "$line\n");
    }

    /**
     * Runs a script as a login of that user; the first command that fails ends it.
     *
     * @return array{int, string} exit code and output
     */
    public function run(string $script, string $user, string $directory, int $seconds): array
    {
        $mark = bin2hex(random_bytes(8));
        $lines = 'cd ' . escapeshellarg($directory) . " || exit\n$script";
        fwrite($this->pipes[0], 'printf %s ' . escapeshellarg(base64_encode($lines))
            . " | base64 -d >/tmp/step.$mark; chmod 644 /tmp/step.$mark\n"
            . "timeout -k 5 $seconds su - " . escapeshellarg($user)
            . " -c 'bash -e /tmp/step.$mark' </dev/null >/tmp/out.$mark 2>&1; code=\$?\n"
            . "echo; echo $mark \$code; base64 -w 0 /tmp/out.$mark; echo; rm -f /tmp/*.$mark\n");
        while (($line = fgets($this->pipes[1])) !== false) {
            if (str_starts_with($line, $mark)) {
                return [(int) substr($line, strlen($mark)),
                    base64_decode(fgets($this->pipes[1]) ?: '')];
            }
        }
        throw new \Exception('the system under test is gone');
    }
}
