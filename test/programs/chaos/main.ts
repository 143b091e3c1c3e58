/**
 * `npm run chaos`: a cluster on hosts of its own, struck by faults under load, judged at the end. See options.ts.
 *
 * Owns: exit codes: 0 every promise kept, 1 one broken, 2 wrong usage, 3 this machine does not allow it.
 */
import { UsageError } from '../../../scripts/local/options.ts'
import { CHAOS_USAGE, parseChaosOptions } from './options.ts'
import { obstacle } from './private-host.ts'
import { startRun } from './start-run.ts'

const SEEDS = 2 ** 32
const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function main(): Promise<number> {
  try {
    const options = parseChaosOptions(process.argv.slice(2), () => Math.floor(Math.random() * SEEDS))
    if (options === null) {
      process.stdout.write(CHAOS_USAGE)
      return 0
    }
    const why = obstacle()
    if (why !== null) {
      say(
        `error: no hosts can be made here: ${why}\n  Run it as root on Linux, outside of a container or in a privileged one.`,
      )
      return 3
    }
    const run = startRun(options, 'inherit')
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => run.stop())
    return await run.ended
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return 2
  }
}

process.exitCode = await main()
