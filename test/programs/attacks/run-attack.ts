/**
 * One attack beside its victim: the victim alone, then the attack, then both.
 *
 * Rule: it ends by itself: an attack that does not stop when its signal is aborted is left after STOP_MS.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type Attack, type AttackTarget, type Counts, LEAD_MS } from './attack.ts'
import { type Measured, measure } from './measure.ts'

const STOP_MS = 30_000
/** The first requests of a fresh cluster compile code and open connections. */
const WARM_UP_SECONDS = 2

export interface AttackRow {
  readonly attack: Pick<Attack, 'id' | 'title' | 'victim'>
  readonly alone: Measured
  readonly beside: Measured
  readonly counts: Counts
}

export async function runAttack(attack: Attack, target: AttackTarget, seconds: number): Promise<AttackRow> {
  const { victim } = attack
  let from = Date.now()
  const phase = async (phaseSeconds: number): Promise<Measured> => {
    const measured = await measure(victim, target, { seconds: phaseSeconds, from })
    from += measured.completed + measured.failed + measured.unanswered
    return measured
  }
  await phase(Math.min(WARM_UP_SECONDS, seconds))
  const alone = await phase(seconds)
  const controller = new AbortController()
  const { signal } = controller
  const attacking = attack.run(target, signal)
  // It is awaited again below; until then its error must not end the program.
  attacking.catch(() => undefined)
  try {
    // An attack that fails must not look like one that the victim survives.
    await Promise.race([wait(attack.leadMs ?? LEAD_MS, null, { signal }), attacking.then(tooEarly)])
    const beside = await phase(seconds)
    controller.abort()
    const counts = await Promise.race([attacking, wait(STOP_MS, null, { ref: false })])
    if (counts === null) throw new Error(`Attack ${attack.id} did not stop within ${STOP_MS} ms`)
    return { attack, alone, beside, counts }
  } finally {
    controller.abort()
  }
}

function tooEarly(): never {
  throw new Error('The attack ended before its victim was measured')
}
