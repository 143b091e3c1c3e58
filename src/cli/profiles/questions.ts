/**
 * Questions of a command on a terminal; the answer to a secret one is not shown.
 *
 * Rule: without a terminal nothing is asked, so that a script never waits.
 */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { interruption } from '../base/interruption.ts'

const hasTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Null: there is no terminal, or the answer is empty. */
export async function answerTo(question: string, isSecret = false): Promise<string | null> {
  if (!hasTerminal()) return null
  process.stderr.write(question)
  const hidden = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? hidden : process.stderr,
    terminal: isSecret,
  })
  try {
    const answer = (await lines.question('', { signal: interruption() })).trim()
    return answer === '' ? null : answer
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}
