/**
 * The requests of clients where work in the background runs: those on objects, those on buckets that are replicated, and those of operators for backups.
 *
 * Owns: the mixture.
 */
import type { Command } from '../../../src/state-machine/commands.ts'
import type { Backups } from './backups.ts'
import type { ObjectWorkload } from './object-workload.ts'
import { encodeCall, replyIn } from './object-rules.ts'
import type { Random } from './random.ts'
import type { SiteSteps } from './site-steps.ts'
import type { Call } from './sim-clients.ts'
import { NONE } from './sim-commands.ts'
import type { Requested, Workload, Write } from './workload.ts'

const HOUR_MS = 3_600_000
const PASSED_HOURS = [0.001, 1, 3, 25]

export interface BackgroundWorkloadParts {
  readonly random: Random
  readonly objects: ObjectWorkload
  readonly sites: SiteSteps
  readonly backups: Backups
  /** Advances all clocks by this much. ms */
  readonly pass: (ms: number) => void
}

export class BackgroundWorkload implements Workload {
  readonly #parts: BackgroundWorkloadParts

  constructor(parts: BackgroundWorkloadParts) {
    this.#parts = parts
  }

  next(): Requested | null {
    const { random, objects, sites, backups, pass } = this.#parts
    const missing = sites.missing()
    if (missing !== null) return writeOf(missing)
    if (random.chance(0.03)) {
      pass(random.pick(PASSED_HOURS) * HOUR_MS)
      return null
    }
    if (random.chance(0.06)) return writeOf(backups.next())
    const garbage = random.chance(0.3) ? backups.garbage() : null
    if (garbage !== null) return writeOf(garbage)
    return random.chance(0.5) ? writeOf(sites.next()) : objects.next()
  }

  last(): Write {
    return this.#parts.objects.last()
  }

  learned(call: Call, output: string): void {
    this.#parts.objects.learned(call, output)
  }
}

function writeOf(command: Command): Write {
  return {
    type: 'write',
    kind: 'other',
    key: '',
    expected: NONE,
    command: (id) => encodeCall(id, command),
    reported: (text) => (replyIn(text).ok ? 'ok' : null),
  }
}
