--TEST--
mailqueue page --password in a shell with job control: what is typed is not shown, and is shown again afterwards, also after Ctrl+C, Ctrl+\ and a kill
--EXTENSIONS--
mailqueue
--SKIPIF--
<?php require __DIR__ . '/../lib/servers.inc'; echo MailQueueTest\missing('/usr/bin/python3'); ?>
--FILE--
<?php
require __DIR__ . '/../lib/cli.inc';
$script = <<<'PYTHON'
import os, pty, re, signal, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.execvpe('sh', ['sh', '-i'], dict(os.environ, PS1='ready> ', ENV=''))
seen = ''
def until(what):
    global seen
    while what not in seen:
        seen += os.read(fd, 4096).decode()
    said, _, seen = seen.partition(what)
    return said
def echoes(wanted):
    for _ in range(1000):
        if bool(termios.tcgetattr(fd)[3] & termios.ECHO) == wanted:
            return wanted
        time.sleep(0.01)
    return not wanted
def children(of):
    return [int(p) for p in os.listdir('/proc') if p.isdigit() and of == parent(p)]
def parent(p):
    try:
        return int(open('/proc/%s/stat' % p).read().rsplit(')', 1)[1].split()[1])
    except OSError:
        return 0
until('ready> ')
for name, keys in [('a line', 'correct \\horse \n'), ('Ctrl+C', 'half\x03'), ('Ctrl+\\', 'half\x1c'), ('kill', None)]:
    os.write(fd, ('ulimit -c 0; ' + sys.argv[1] + '\n').encode())
    until('Password: ')
    hidden = not echoes(False)
    if keys is None:
        os.kill(children(pid)[0], signal.SIGTERM)
    else:
        os.write(fd, keys.encode())
    said = until('ready> ')
    shown = echoes(True)
    hash = re.search(r'\$2y\$\S+', said)
    leaked = re.search('half|horse', said)
    print(name + ': ' + ', '.join(['hidden' if hidden and not leaked else 'not hidden',
        'shown again' if shown else 'not shown again', hash.group() if hash else 'no hash']))
PYTHON;
file_put_contents($file = temp_directory() . '/type.py', $script);
$command = implode(' ', array_map(escapeshellarg(...), cli_command(['page', '--password'])));
$process = proc_open(['timeout', '120', 'python3', $file, $command], [1 => ['pipe', 'w']], $pipes);
preg_match('/\$2y\S+/', $said = stream_get_contents($pipes[1]), $hash);
echo str_replace($hash, password_verify('correct \\horse ', $hash[0] ?? '') ? 'its hash' : 'another hash', $said);
?>
--EXPECT--
a line: hidden, shown again, its hash
Ctrl+C: hidden, shown again, no hash
Ctrl+\: hidden, shown again, no hash
kill: hidden, shown again, no hash
