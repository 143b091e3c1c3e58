/** A program that a killed test has started ends too, even when it is suspended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { endsWithParent } from '../helpers/ends-with-parent.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

const HELPER = new URL('../helpers/ends-with-parent.ts', import.meta.url).href
/** Starts a program that would run for an hour, prints its number, and waits. */
const PARENT = `
import { spawn } from 'node:child_process'
import { endsWithParent } from '${HELPER}'
const [program, ...args] = endsWithParent('KILL', ['sleep', '3600'])
console.log(spawn(program, args, { stdio: 'ignore' }).pid)
setInterval(() => undefined, 1000)
`
const isPossible = endsWithParent('KILL', ['sleep'])[0] !== 'sleep'
const skip = isPossible ? false : 'setpriv of util-linux is not here'

/** What the kernel calls its state; null: it is gone, and so is one that only waits to be reaped. */
function stateOf(pid: number): string | null {
  try {
    const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null
    return state === 'Z' ? null : state
  } catch {
    return null
  }
}

async function startedBy(parent: ChildProcess): Promise<number> {
  let printed = ''
  parent.stdout?.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
  await until('the parent has started a program', () => printed.includes('\n'))
  const pid = Number(printed)
  await until('it runs', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'))
  return pid
}

for (const isSuspended of [false, true]) {
  t.test(
    `a program that is ${isSuspended ? 'suspended' : 'running'} ends with its parent`,
    { skip },
    async (t) => {
      const [program, args] = withoutLoader(process.execPath, '--input-type=module', '--eval', PARENT)
      const parent = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const pid = await startedBy(parent)
      if (isSuspended) {
        process.kill(pid, 'SIGSTOP')
        await until('it is suspended', () => stateOf(pid) === 'T')
      }
      parent.kill('SIGKILL')
      await until('it has ended', () => stateOf(pid) === null)
      t.equal(stateOf(pid), null)
    },
  )
}
