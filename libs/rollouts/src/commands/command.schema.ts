import { type Infer, int, list, literal, note, nullable, object, optional, str, uuid } from '@fairlead/schema';

/** Characters of all words of a command together. */
export const MOST_CHARACTERS = 16_384;
const LONGEST_S = 3600;

/** Body of a request to run a command. */
export const commandRequest = object('CommandRequest', {
  command: note(
    list(str({ max: MOST_CHARACTERS, pattern: /^[^\0]*$/ }), { min: 1, max: 256 }),
    'Words of the command, the program first; together at most 16,384 characters. No shell reads them: `["sh", "-c", "…"]` asks for one.',
  ),
  timeout: note(
    optional(int({ ge: 1, le: LONGEST_S }), 600),
    'Seconds after which the command and all that it started are ended.',
  ),
});

export type CommandRequest = Infer<typeof commandRequest>;

/** One line of the answer. */
export const commandLine = object('CommandLine', {
  type: note(
    literal(['started', 'stdout', 'stderr', 'running', 'ended']),
    '`started` is the first line. `stdout` and `stderr` are output. `running` is sent every 15 seconds. `ended` is the last line; without it the connection was lost.',
  ),
  'command_id?': note(uuid(), 'Identifier of the command, also in the history; only in `started`.'),
  'revision_id?': note(uuid(), 'The revision whose files and variables the command has; only in `started`.'),
  'text?': note(str(), 'Output, in which values of secrets are `[redacted]`; only in `stdout` and `stderr`.'),
  'exit_code?': note(
    nullable(int()),
    'Exit code of the command, 128 and the number of the signal that ended it, or null when it did not end by itself; only in `ended`.',
  ),
  'reason?': note(
    nullable(str()),
    'Why it was not started or was ended, such as a limit; null when the exit code says all; only in `ended`.',
  ),
  'duration_ms?': note(int(), 'How long it took; only in `ended`.'),
});

export type CommandLine = Infer<typeof commandLine>;
