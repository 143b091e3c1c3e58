/** A walk of membership: the operators, the faults of machines, and the figures. */
import { MemberFaults } from './member-faults.ts'
import { MemberOperators } from './member-operators.ts'
import { MemberOracle } from './member-oracle.ts'
import { asConfigured } from './member-places.ts'
import { Random } from './random.ts'
import type { SimWorld } from './sim-world.ts'
import type { Instead } from './traps.ts'

export interface WalkFigures {
  /** Operations, and their outcomes. */
  readonly started: number
  readonly finished: number
  readonly cancelled: number
  readonly failed: number
  /** Requests of operators, and the refused ones. */
  readonly asked: number
  readonly denied: number
  /** Members that were removed, disks that were emptied or came back as an old copy. */
  readonly left: number
  readonly emptied: number
  readonly restored: number
}

export class MemberWalk {
  readonly oracle: MemberOracle
  readonly operators: MemberOperators
  readonly faults: MemberFaults
  /** Operations name themselves by date and chance. */
  readonly instead: Instead

  static of(world: SimWorld): MemberWalk | null {
    const { observer } = world.setup
    return observer instanceof MemberOracle ? new MemberWalk(world, observer) : null
  }

  private constructor(world: SimWorld, oracle: MemberOracle) {
    this.oracle = oracle
    this.operators = new MemberOperators(world, oracle)
    this.faults = new MemberFaults(world, oracle, this.operators)
    const random = new Random(world.plan.seed, 'names')
    this.instead = {
      now: () => Math.floor(world.epochMs + world.scheduler.now),
      randomBytes: (size) => Buffer.from(Array.from({ length: size }, () => random.below(256))),
    }
    for (const host of world.hosts) {
      host.isInstalled = world.voters.includes(host.id)
      host.configured = asConfigured(world.voters)
    }
  }

  start(): void {
    this.operators.start()
    this.faults.start()
  }

  stop(): void {
    this.operators.stop()
    this.faults.isOver = true
  }

  get figures(): WalkFigures {
    const { oracle, operators, faults } = this
    const { started, succeeded: finished, cancelled, failed, left } = oracle.counts
    const { asked, refused: denied } = operators.counts
    const { emptied, restored } = faults.counts
    return { started, finished, cancelled, failed, asked, denied, left, emptied, restored }
  }
}
