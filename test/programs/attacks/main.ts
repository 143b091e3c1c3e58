/**
 * `npm run attacks [-- --only ID,... --build DIR,... --rounds N --minutes N --seconds N]`: attacks on a real cluster, each beside a victim of
 * another tenant.
 *
 * Owns: progress on standard error, the table on standard output. Each run gets a fresh cluster.
 */
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../../scripts/local/options.ts'
import { attackTable } from './attack-table.ts'
import { onThread } from './attack-thread.ts'
import { startAttackWorld } from './attack-world.ts'
import { ATTACKS } from './attacks.ts'
import { closeCalls } from './call.ts'
import { parseAttackOptions, usageOf } from './options.ts'
import { type AttackRow, runAttack } from './run-attack.ts'
import { type PlannedRun, runPlan } from './run-plan.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

async function runFresh({ attack, build }: PlannedRun, seconds: number): Promise<AttackRow> {
  const ends: (() => unknown)[] = []
  try {
    const target = await startAttackWorld({ teardown: (end) => ends.unshift(end) }, build.mainFile)
    return await runAttack(onThread(attack), target, seconds)
  } finally {
    for (const end of ends) await end()
  }
}

async function main(): Promise<number> {
  const options = parseAttackOptions(process.argv.slice(2), ATTACKS, ROOT)
  if (options === null) {
    process.stdout.write(usageOf(ATTACKS))
    return 0
  }
  const { rows, left } = await runPlan(options, {
    run: (planned) => runFresh(planned, options.seconds),
    report: (line) => process.stderr.write(`${line}\n`),
    now: () => performance.now(),
  })
  const load = loadavg()[0]?.toFixed(1)
  const lines = [attackTable(rows), '', `load ${load} on ${availableParallelism()} processors`]
  if (left.length > 0)
    lines.push(`no time for ${[...new Set(left.map(({ attack }) => attack.id))].join(', ')}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  return left.length > 0 || rows.some(({ outcome }) => outcome instanceof Error) ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usageOf(ATTACKS)}`)
  process.exitCode = 2
} finally {
  await closeCalls()
}
