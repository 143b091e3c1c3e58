/**
 * The state machine, the workload and the observer of a simulated group.
 *
 * Owns: the combinations of parts. Knows nothing of: nodes, faults.
 */
import type { PeerClaims, PeerObjection } from '../../../cluster/transport/peer-identity.ts'
import type { Clock } from '../../../cluster/base/clock.ts'
import type { Configuration } from '../../../cluster/raft/types.ts'
import type { Logger } from '../../../cluster/base/types.ts'
import type { Owner } from './event-queue.ts'
import { BackgroundOracle } from './background-oracle.ts'
import { BackgroundWorkload } from './background-workload.ts'
import { Backups } from './backups.ts'
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
import { SiteSteps } from './site-steps.ts'
import { TwoSites } from './two-sites.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimHost } from './sim-host.ts'
import type { AddressBook } from './sim-transport.ts'
import type { SimWorld } from './sim-world.ts'
import type { Plan } from './swarm.ts'
import type { ApplyObserver } from './apply-observer.ts'
import type { Workload } from './workload.ts'

export interface ServiceParts {
  readonly world: SimWorld
  readonly host: SimHost
  readonly owner: Owner
  readonly clock: Clock
  readonly logger: Logger
}

/** The service of a process beside its node. */
export interface SimService extends AddressBook {
  /** In force until the log says otherwise. */
  readonly first: Configuration
  objectionTo(claims: PeerClaims): PeerObjection | null
  /** A request with these claims was accepted. */
  answer(claims: PeerClaims): void
  /** Once, before the process starts. */
  attach(process: SimProcess): void
  /** Resolves when everything that the node needs at its start is durable. */
  open(): Promise<void>
  /** The node takes part. */
  begin(): void
}

export type BesideParts = ServiceParts

/** Work of a process beside its node, which changes nothing of how nodes reach each other. */
export interface Beside {
  /** Once, before the process starts. */
  attach(process: SimProcess): void
  /** The node takes part. */
  begin(): void
}

export interface SimSetup {
  readonly rules: MachineRules
  readonly workload: Workload
  /** Null for registers: the checker of histories covers them. */
  readonly observer: ApplyObserver | null
  /** It is no longer a member, and is refused. */
  readonly hasLeft: (nodeId: string) => boolean
  /** Null: a process is its node and nothing else. */
  readonly serve: ((parts: ServiceParts) => SimService) | null
  /** Null: a process does no work beside its node. */
  readonly beside: ((parts: BesideParts) => Beside) | null
}

interface SetupParts {
  readonly random: Random
  readonly violate: (broken: string) => void
  /** Advances all clocks by this much. ms */
  readonly pass: (ms: number) => void
  readonly world: SimWorld
}

const PLAIN = { hasLeft: () => false, serve: null, beside: null } as const

export function setupOf(plan: Plan, { random, violate, pass, world }: SetupParts): SimSetup {
  if (plan.machine === 'registers')
    return { ...PLAIN, rules: REGISTER_RULES, workload: new RegisterWorkload(random, plan), observer: null }
  if (plan.machine === 'members') {
    const oracle = new MemberOracle(world, violate)
    const workload = new MemberWorkload(random, oracle, world)
    const hasLeft = (nodeId: string): boolean =>
      oracle.members.departed.some((gone) => gone.nodeId === nodeId)
    const serve = (parts: ServiceParts): SimService => new MemberService(parts)
    return { ...PLAIN, rules: OBJECT_RULES, workload, observer: oracle, hasLeft, serve }
  }
  const oracle = new ObjectOracle(violate)
  const workload = new ObjectWorkload({ random, oracle, pass }, plan)
  if (plan.machine === 'background') {
    const sites = new TwoSites(world, oracle, violate)
    const backups = new Backups(world, oracle)
    const steps = new SiteSteps(random, oracle, (name) => sites.second.idOf(name))
    return {
      ...PLAIN,
      rules: OBJECT_RULES,
      workload: new BackgroundWorkload({ random, objects: workload, sites: steps, backups, pass }),
      observer: new BackgroundOracle(oracle, { sites, backups }, violate),
      beside: (parts) => together([sites.beside(parts), backups.beside(parts)]),
    }
  }
  return { ...PLAIN, rules: OBJECT_RULES, workload, observer: oracle }
}

function together(works: readonly Beside[]): Beside {
  return {
    attach: (process) => {
      for (const work of works) work.attach(process)
    },
    begin: () => {
      for (const work of works) work.begin()
    },
  }
}
