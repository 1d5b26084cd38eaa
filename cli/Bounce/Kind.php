<?php

declare(strict_types=1);

namespace MailQueue\Cli\Bounce;

/** What became of a mail after its relay had accepted it. */
enum Kind: string
{
    /** The address does not exist, or never will take mail. */
    case Hard = 'hard';
    /** The mail could not be delivered now. */
    case Soft = 'soft';
    /** The sender is blocked: its address, host or network. */
    case Blocked = 'blocked';
    /** The mailbox is full. */
    case Quota = 'quota';
    /** The mail is not wanted as it is: its content, its size, its signature. */
    case Policy = 'policy';
    /** A person's program answered, such as for a vacation. */
    case AutoReply = 'auto_reply';
    case Unknown = 'unknown';
    /** The recipient says that it is spam. */
    case Complaint = 'complaint';
    /** The recipient wants no more mail. */
    case Unsubscribe = 'unsubscribe';
}
