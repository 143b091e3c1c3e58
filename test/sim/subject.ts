/**
 * What a simulated group keeps, what its clients want of it, and who watches.
 *
 * Owns: which parts belong together. Knows nothing of: nodes, faults.
 */
import type { MachineRules } from './machine-rules.ts'
import { ObjectOracle } from './object-oracle.ts'
import { OBJECT_RULES } from './object-rules.ts'
import { ObjectWorkload } from './object-workload.ts'
import type { Random } from './random.ts'
import { REGISTER_RULES } from './register-rules.ts'
import { RegisterWorkload } from './register-workload.ts'
import type { Plan } from './swarm.ts'
import type { Witness } from './witness.ts'
import type { Workload } from './workload.ts'

export interface Subject {
  readonly rules: MachineRules
  readonly workload: Workload
  /** Of what a register holds the checker of histories says enough. */
  readonly witness: Witness | null
}

interface SubjectParts {
  readonly random: Random
  readonly violate: (broken: string) => void
  /** So much time goes by everywhere. ms */
  readonly pass: (ms: number) => void
}

export function subjectOf(plan: Plan, { random, violate, pass }: SubjectParts): Subject {
  if (plan.machine === 'registers')
    return { rules: REGISTER_RULES, workload: new RegisterWorkload(random, plan), witness: null }
  const oracle = new ObjectOracle(violate)
  const workload = new ObjectWorkload({ random, oracle, pass }, plan)
  return { rules: OBJECT_RULES, workload, witness: oracle }
}
