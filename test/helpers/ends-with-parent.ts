/**
 * Ties a started program to this process, so that a test run that is killed leaves no nodes behind.
 *
 * Owns: the words in front of the command. Knows nothing of: the command.
 * Rules: the kernel sends the signal however this process ends, also to a program that is suspended. It takes setpriv of util-linux;
 * where there is none the program is started as it is, and may be left behind.
 */
import { spawnSync } from 'node:child_process'

let isPossible: boolean | null = null

/** The command for spawn. `signal`: TERM for a program that has to end others. */
export function endsWithParent(signal: 'KILL' | 'TERM', command: readonly string[]): readonly string[] {
  isPossible ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0
  return isPossible ? ['setpriv', '--pdeathsig', signal, ...command] : command
}
