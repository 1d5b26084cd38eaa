<?php

declare(strict_types=1);

namespace MailQueue\Cli;

/** The codes of sysexits.h, and FINDINGS: the command found a fault, or did not find the mail. */
final class ExitCode
{
    public const OK = 0;
    public const FINDINGS = 1;
    public const USAGE = 64;
    public const DATAERR = 65;
    public const NOINPUT = 66;
    public const NOUSER = 67;
    public const UNAVAILABLE = 69;
    public const SOFTWARE = 70;
    public const CANTCREAT = 73;
    public const IOERR = 74;
    public const TEMPFAIL = 75;
    public const NOPERM = 77;
    public const CONFIG = 78;
}
