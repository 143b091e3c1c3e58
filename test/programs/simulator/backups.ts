/**
 * Backups of the simulated group: drivers in its processes, one target, requests of operators.
 *
 * Owns: the wiring, the pace, the requests. Knows nothing of: what must hold; backup-judge.ts owns that.
 */
import { Condition } from '../../../cluster/base/types.ts'
import { decodeReply } from '../../../src/commands/command-codec.ts'
import { SiteFault } from '../../../src/operations/base/remote-store.ts'
import type { Command } from '../../../src/state-machine/commands.ts'
import { unfinishedOperations } from '../../../src/state-machine/long-operations/operations.ts'
import { commandOf } from '../../state-machine/versions-commands.ts'
import { BackupDriver } from './backup-driver.ts'
import { BackupJudge } from './backup-judge.ts'
import { BackupStore } from './backup-store.ts'
import type { ObjectOracle } from './object-oracle.ts'
import { encodeCall } from './object-rules.ts'
import { Random } from './random.ts'
import { SiteLine } from './site-line.ts'
import { SimReader } from './sim-reader.ts'
import type { SimProcess } from './sim-process.ts'
import type { Beside, BesideParts } from './sim-setup.ts'
import type { SimWorld } from './sim-world.ts'

/** Slow, so that much happens beside a backup. */
const ROUND_MS = 150
const KEEP_ONE = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 }
/** Share of the requests. */
const BACKUP_RATE = 0.5
const PRUNE_RATE = 0.8

/** Apart from those of other clients: an exchange is called by its number. */
const NUMBERS_FROM = 1_000_000
const TAKING = [
  'deleteObject',
  'deleteObject',
  'releaseDue',
  'releaseDue',
  'collectChunks',
  'exchangeTenantKey',
  'resealBodies',
] as const

export class Backups {
  readonly #oracle: ObjectOracle
  readonly #random: Random
  readonly #line: SiteLine
  readonly #store = new BackupStore()
  readonly judge = new BackupJudge(this.#store)
  #requests = 0
  #proposals = 0

  constructor(world: SimWorld, oracle: ObjectOracle) {
    this.#oracle = oracle
    this.#random = new Random(world.plan.seed, 'backups')
    this.#line = new SiteLine(world, new Random(world.plan.seed, 'backup line'))
  }

  start(): void {
    this.#line.start()
  }

  /** What an operator asks for next. */
  next(): Command {
    this.#requests += 1
    const [open] = unfinishedOperations(this.#oracle.world).filter(({ kind }) => kind === 'backup')
    const asked = { requestedBy: 'olga', reason: null, tenantId: null, bucket: null, node: null }
    const start = { type: 'startOperation', ...asked, maxBytesPerSecond: null } as const
    const operationId = `made-${this.#requests}`
    if (this.#random.chance(BACKUP_RATE)) {
      const backup = { backupId: operationId, target: 'modelled' }
      return { ...start, operationId, kind: 'backup', backup }
    }
    if (open === undefined || this.#random.chance(PRUNE_RATE))
      return { ...start, operationId, kind: 'backupPrune', prune: { target: 'modelled', keep: KEEP_ONE } }
    return { type: 'setOperationStatus', operationId: open.operationId, action: 'cancel', error: null }
  }

  /** What takes chunks away, while a backup needs them; null: none is under way, or there is nothing to take. */
  garbage(): Command | null {
    const { world, models } = this.#oracle
    const model = models.get('acme')
    if (model === undefined || this.isSettled) return null
    this.#requests += 1
    const random = this.#random
    const step = {
      op: random.pick(TAKING),
      bucket: 'plain',
      key: random.pick(['a', 'b/c']),
      // The newest entry that discarded anything.
      pick: random.pick([0, 8]),
      body: 0,
      more: 0,
    }
    return commandOf(step, world, model, NUMBERS_FROM + this.#requests)
  }

  /** None is under way. */
  get isSettled(): boolean {
    return !unfinishedOperations(this.#oracle.world).some(
      ({ kind }) => kind === 'backup' || kind === 'backupPrune',
    )
  }

  beside({ host, clock, owner, world }: BesideParts): Beside {
    let process: SimProcess | null = null
    return {
      attach: (attached) => {
        process = attached
      },
      begin: () => {
        if (process === null) return
        const { node, machine } = process
        const name = `${host.incarnation}.${host.boot}`
        const rows = () => (machine.isReadable() ? machine.rows : null)
        const driver = new BackupDriver({
          name,
          isJobRunner: () => node.isJobRunner(),
          readBarrier: () => node.readBarrier(),
          reader: new SimReader(rows),
          rows,
          propose: async (command) => {
            this.#proposals += 1
            return decodeReply(await node.propose(encodeCall(`${name}.b${this.#proposals}`, command)))
          },
          store: this.#store,
          travel: (request, effect) =>
            this.#line.travel({ caller: owner, request, mayBeLate: false }, async () => effect()),
        })
        const round = (): void => {
          driver.round().then(
            () => void clock.after(ROUND_MS, round),
            (error: unknown) => {
              if (!(error instanceof Condition || error instanceof SiteFault))
                world.scheduler.violate(`backups of ${host.id} end in ${String((error as Error).stack)}`)
              clock.after(ROUND_MS, round)
            },
          )
        }
        clock.after(ROUND_MS, round)
      },
    }
  }
}
