/**
 * `npm run attacks [-- --only ID,... --seconds N --build DIR]`: attacks on a real cluster, each beside a victim of another tenant.
 *
 * Owns: progress on standard error, the table on standard output. Each attack gets a fresh cluster.
 */
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../../scripts/local/options.ts'
import type { Attack } from './attack.ts'
import { attackTable } from './attack-table.ts'
import { startAttackWorld } from './attack-world.ts'
import { ATTACKS } from './attacks.ts'
import { closeCalls } from './call.ts'
import { type AttackOptions, parseAttackOptions, usageOf } from './options.ts'
import { type AttackRow, runAttack } from './run-attack.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

async function attackFresh(attack: Attack, { mainFile, seconds }: AttackOptions): Promise<AttackRow> {
  const ends: (() => unknown)[] = []
  try {
    const target = await startAttackWorld({ teardown: (end) => ends.unshift(end) }, mainFile)
    return await runAttack(attack, target, seconds)
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
  const rows: AttackRow[] = []
  for (const attack of options.attacks) {
    process.stderr.write(`${attack.id}: ${attack.title}\n`)
    rows.push(await attackFresh(attack, options))
  }
  const load = loadavg()[0]?.toFixed(1)
  process.stdout.write(`${attackTable(rows)}\n\nload ${load} on ${availableParallelism()} processors\n`)
  return 0
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
