/**
 * What a simulated group keeps, what its clients want of it, and who watches.
 *
 * Owns: which parts belong together. Knows nothing of: nodes, faults.
 */
import type { PeerClaims, PeerObjection } from '../../../cluster/transport/peer-identity.ts'
import type { Clock } from '../../../cluster/base/clock.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { Logger } from '../../../cluster/base/types.ts'
import type { Owner } from './event-queue.ts'
import type { MachineRules } from './machine-rules.ts'
import { MemberOracle } from './member-oracle.ts'
import { MemberService } from './member-service.ts'
import { MemberWorkload } from './member-workload.ts'
import { ObjectOracle } from './object-oracle.ts'
import { OBJECT_RULES } from './object-rules.ts'
import { ObjectWorkload } from './object-workload.ts'
import type { Random } from './random.ts'
import { REGISTER_RULES } from './register-rules.ts'
import { RegisterWorkload } from './register-workload.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimSeat } from './sim-seat.ts'
import type { AddressBook } from './sim-transport.ts'
import type { SimWorld } from './sim-world.ts'
import type { Plan } from './swarm.ts'
import type { Witness } from './witness.ts'
import type { Workload } from './workload.ts'

export interface ServiceParts {
  readonly world: SimWorld
  readonly seat: SimSeat
  readonly owner: Owner
  readonly clock: Clock
  readonly logger: Logger
}

/** What a process does beside its node. */
export interface SimService extends AddressBook {
  /** In force until the log says otherwise. */
  readonly first: Configuration
  objectionTo(claims: PeerClaims): PeerObjection | null
  /** A request was taken that made these claims. */
  heard(claims: PeerClaims): void
  /** Once, before the process starts. */
  attach(process: SimProcess): void
  /** Resolves when what must be durable before the node opens is so. */
  open(): Promise<void>
  /** The node takes part. */
  begin(): void
}

export interface Subject {
  readonly rules: MachineRules
  readonly workload: Workload
  /** Of what a register holds the checker of histories says enough. */
  readonly witness: Witness | null
  /** It does not belong any more, and is not heard. */
  readonly hasLeft: (nodeId: string) => boolean
  /** Null: a process is its node and nothing else. */
  readonly serve: ((parts: ServiceParts) => SimService) | null
}

interface SubjectParts {
  readonly random: Random
  readonly violate: (broken: string) => void
  /** So much time goes by everywhere. ms */
  readonly pass: (ms: number) => void
  readonly world: SimWorld
}

const PLAIN = { hasLeft: () => false, serve: null } as const

export function subjectOf(plan: Plan, { random, violate, pass, world }: SubjectParts): Subject {
  if (plan.machine === 'registers')
    return { ...PLAIN, rules: REGISTER_RULES, workload: new RegisterWorkload(random, plan), witness: null }
  if (plan.machine === 'members') {
    const oracle = new MemberOracle(world, violate)
    const workload = new MemberWorkload(random, oracle, world)
    const hasLeft = (nodeId: string): boolean =>
      oracle.members.departed.some((gone) => gone.nodeId === nodeId)
    const serve = (parts: ServiceParts): SimService => new MemberService(parts)
    return { rules: OBJECT_RULES, workload, witness: oracle, hasLeft, serve }
  }
  const oracle = new ObjectOracle(violate)
  const workload = new ObjectWorkload({ random, oracle, pass }, plan)
  return { ...PLAIN, rules: OBJECT_RULES, workload, witness: oracle }
}
