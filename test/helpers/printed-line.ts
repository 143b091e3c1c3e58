/**
 * Runs a line that the console shows, as a person does who pastes it into a shell.
 *
 * Rule: it needs `sh` and `curl` of the machine; an answer that is an error fails the line, as `-f` asks.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Resolves with what the line prints. `folder`: where the files are that it names. */
export async function runLine(line: string, token: string, folder = '.'): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', line], {
    cwd: folder,
    env: { ...process.env, TOKEN: token },
  })
  return stdout
}
