/**
 * One hunt, as a process of its own: `node --import ./test/programs/mutants/switch.ts test/programs/mutants/hunt.ts <first> <seeds> <events>`.
 *
 * Owns: running seeds until one fails. Prints one line of JSON, a Hunted. Rule: the sources are imported only here, after the
 * switch is in place, and only once per process.
 */
import assert from 'node:assert/strict'
import type { Hunted } from './hunter.ts'
import type { Killers } from './mutant.ts'
import { mutantOf } from './mutants.ts'

const [first = 1, seeds = 1, events = 1] = process.argv.slice(2).map(Number)
const { killers } = mutantOf(process.env['HOLDFAST_MUTANT'])
assert(typeof killers === 'string', 'a hunt has a mutant that dies by seeds')
const run = await runnerOf(killers)

process.stdout.write(`${JSON.stringify(await hunted())}\n`)

async function hunted(): Promise<Hunted> {
  for (let seed = first; seed < first + seeds; seed += 1) {
    try {
      await run(seed, events)
    } catch (error) {
      return { seed, why: error instanceof Error ? error.message : String(error) }
    }
  }
  return { seed: null, why: `survived ${seeds} seeds` }
}

async function runnerOf(world: Extract<Killers, string>): Promise<(seed: number, events: number) => unknown> {
  if (world === 'core') return (await import('./core-world.ts')).runCoreSeed
  if (world === 'members') return (await import('./member-world.ts')).runMemberSeed
  if (world === 'disks') return (await import('./disk-world.ts')).runDiskSeed
  if (world === 'background') return (await import('./walk-world.ts')).runWalkSeed
  return (await import('./object-world.ts')).runObjectSeed
}
